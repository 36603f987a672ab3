/** Generates tables of the keys of manifests from their schema. */
import type { JsonSchema } from '../src/base/index.ts'
import { manifestSchema } from '../src/manifest/index.ts'
import { ATTRIBUTE_KEYS, rowOf } from '../src/model/index.ts'

type Schemas = Readonly<Record<string, JsonSchema>>

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns the tables, by name. */
export const manifestTables = (schema: JsonSchema = manifestSchema()): Readonly<Record<string, string>> => {
  const definitions = schema.$defs as Schemas

  /** Replaces a `$ref` by its target, merged with the keys next to it. */
  const resolved = (one: JsonSchema): JsonSchema =>
    typeof one.$ref === 'string' ? { ...definitions[one.$ref.slice('#/$defs/'.length)], ...one } : one

  /** For a setting that accepts either a map or a plain value, the schema of the map. */
  const mapOf = (one: JsonSchema): JsonSchema => {
    const { then } = resolved(one)
    return isSchema(then) ? mapOf(then) : resolved(one)
  }
  const propertiesOf = (one: JsonSchema): Schemas => (mapOf(one).properties ?? {}) as Schemas
  const items = (one: JsonSchema | undefined): JsonSchema =>
    mapOf((one?.items ?? one?.additionalProperties) as JsonSchema)

  const typeOf = (one: JsonSchema): string => {
    const { then, else: plain, type, items: entries, additionalProperties, default: fallback, ...rest } = resolved(one)
    if (isSchema(then) && isSchema(plain)) return `${typeOf(plain)} or ${typeOf(then)}`
    const values = 'const' in rest ? [rest.const] : Array.isArray(rest.enum) ? rest.enum : undefined
    if (values !== undefined) return values.length > 8 ? 'number' : values.map((value) => `\`${value}\``).join(', ')
    if (type === 'boolean') return fallback === undefined ? 'boolean' : `boolean, default \`${fallback}\``
    if (type === 'array') return `list of ${pluralOf(typeOf(entries as JsonSchema))}`
    if (type === 'object') return isSchema(additionalProperties) ? `map: name → ${typeOf(additionalProperties)}` : 'map'
    return type === 'string' ? 'string' : 'string, number or boolean'
  }

  const table = (one: JsonSchema): string => {
    const required = (mapOf(one).required ?? []) as readonly string[]
    const rows = Object.entries(propertiesOf(one)).map(([key, property]) => [
      `\`${key}\``,
      `${typeOf(property)}${required.includes(key) ? ', required' : ''}`,
      String(resolved(property).description ?? ''),
    ])
    return render(['key', 'value', 'meaning'], rows)
  }

  const fields = new Map(
    ATTRIBUTE_KEYS.map(rowOf).map((row) => [
      row.path,
      Object.keys(row.fields)
        .map((field) => `\`${field}\``)
        .join(', '),
    ]),
  )
  const { pinnedPrimary = {}, pinnedReplica = {} } = definitions
  const attributes = Object.entries({ ...propertiesOf(pinnedPrimary), ...propertiesOf(pinnedReplica) }).flatMap(
    ([key, property]) => {
      const inner = typeof resolved(property).then === 'object' ? [] : Object.entries(propertiesOf(property))
      return inner.length === 0
        ? [[key, property] as const]
        : inner.map(([name, one]) => [`${key}.${name}`, one] as const)
    },
  )
  const properties = schema.properties as Schemas
  return {
    document: table(schema),
    branch: table(items(properties.branches)),
    rule: table(items(properties.rules)),
    compute: render(
      ['key', 'value', 'API field', 'meaning'],
      attributes.map(([path, one]) => [
        `\`${path}\``,
        typeOf(one),
        path === 'id' ? '`id`' : (fields.get(path) ?? ''),
        String(resolved(one).description ?? ''),
      ]),
    ),
    window: table(definitions.restartWindow ?? {}),
  }
}

const render = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n')

const pluralOf = (type: string): string => (type === 'string' || type === 'map' ? `${type}s` : type)

const escaped = (cell: string): string => cell.replaceAll('|', '\\|')

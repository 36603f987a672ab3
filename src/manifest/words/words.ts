/** The text of diagnostics. Most messages are derived from the schema. */
import { stringify } from 'yaml'
import { defined, didYouMean, type JsonSchema } from '../../base/index.ts'
import { type DiagnosticCode, nearestRange } from '../../model/index.ts'
import type { Refusal } from '../generated/validator.js'

/** The text of a diagnostic. */
export interface Words {
  readonly code: DiagnosticCode
  readonly message: string
  readonly hint?: string
  /** The key to report the problem at, if it is another key of the same map. */
  readonly at?: string
}

export const words = (code: DiagnosticCode, message: string, hint?: string): Words => defined({ code, message, hint })

const quoted = (names: readonly (string | number)[]): readonly string[] => names.map((name) => `\`${name}\``)

/** `a`, `b` or `c`. */
export const list = (names: readonly (string | number)[]): string => {
  const all = quoted(names)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`
}

/** `a`, `b`, `c`: for an enumeration after a colon. */
export const enumeration = (names: readonly string[]): string => quoted(names).join(', ')

/** Names of JSON types, for messages. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
}

/** Names the type of a value, for messages. */
export const nameOf = (value: unknown): string =>
  value === null || value === undefined
    ? 'empty'
    : (TYPE_NAMES[Array.isArray(value) ? 'array' : typeof value] ?? typeof value)

// Messages for validation errors, derived from the schema.

/** @param what subject of the message: a key in backticks, or the kind of document. */
export const genericWords = (refusal: Refusal, value: unknown, what: string): Words => {
  const { keyword, params, parentSchema } = refusal
  if (keyword === 'additionalProperties') return unknownKey(what, String(params.additionalProperty), parentSchema)
  if (value === null) {
    const hint = 'Set a value, or delete the line. Settings that are left out are not managed.'
    return words('E_VALUE', `${what} has no value.`, hint)
  }
  if (keyword === 'minItems') return words('E_VALUE', `${what} must have at least one entry.`)
  if (keyword === 'required') return missingKey(what, String(params.missingProperty), parentSchema, value)
  if (keyword === 'enum' || keyword === 'const') return notOneOf(what, value, parentSchema)
  if (keyword === 'type') return wrongType(what, value, params.type, parentSchema)
  if (BOUNDS.includes(keyword)) return words('E_VALUE', `${what} must be ${boundsOf(parentSchema)}.`)
  return words('E_VALUE', `${what} ${refusal.message ?? 'is not valid'}.`)
}

const BOUNDS: readonly string[] = ['minimum', 'exclusiveMinimum', 'maximum']

/** `above 0 and at most 100`. */
const boundsOf = ({ minimum, exclusiveMinimum, maximum }: JsonSchema): string =>
  [
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ].join(' and ')

const unknownKey = (what: string, key: string, schema: JsonSchema): Words => {
  const known = Object.keys(propertiesOf(schema))
  const message = `${what} cannot contain the key \`${key}\`. Valid keys: ${enumeration(known)}.`
  if (key === '<<') return words('E_UNKNOWN_KEY', message, 'To share attributes, define them under `profiles`.')
  return words('E_UNKNOWN_KEY', message, didYouMean(key, known) ?? UNKNOWN[String(schema.$comment)]?.(key))
}

/** Suggestions for unknown keys that resemble none of the map's keys, by the map's `$comment`. */
const UNKNOWN: Readonly<Record<string, (key: string) => string | undefined>> = {
  E_POSTGRES: (key) =>
    /^[a-z][a-z0-9_.]*$/i.test(key)
      ? `Postgres settings go under \`settings\`: \`postgres: { settings: { ${key}: … } }\`.`
      : undefined,
  E_RULE_COMPUTE: (key) =>
    key === 'id'
      ? 'A rule applies to many branches, but `id` pins one compute. List its branch under `branches` instead.'
      : undefined,
}

const missingKey = (what: string, key: string, schema: JsonSchema, value: unknown): Words => {
  const example = otherEnd(key, value) ?? exampleOf(propertiesOf(schema)[key])
  const hint = example === undefined ? `Add \`${key}\`.` : `Add \`${key}\`, for example \`${key}: ${example}\`.`
  return words('E_REQUIRED', `${what} requires \`${key}\`.`, hint)
}

/** The missing end of an autoscaling range, to fit the one that is given. */
const otherEnd = (key: string, value: unknown): string | undefined => {
  const { min, max } = value as { readonly min?: unknown; readonly max?: unknown }
  if (key === 'max' && typeof min === 'number') return String(nearestRange(min, 2 * min).max)
  return key === 'min' && typeof max === 'number' ? String(nearestRange(max / 2, max).min) : undefined
}

const notOneOf = (what: string, value: unknown, schema: JsonSchema): Words => {
  const allowed = (Array.isArray(schema.enum) ? schema.enum : [schema.const]) as readonly (string | number)[]
  if (typeof value !== typeof allowed[0]) {
    return words('E_VALUE', `${what} must be ${list(allowed)}, not ${nameOf(value)}.`)
  }
  const hint = didYouMean(String(value), allowed.map(String))
  return words('E_VALUE', `${what} must be ${list(allowed)}, not \`${String(value)}\`.`, hint)
}

const wrongType = (what: string, value: unknown, type: unknown, schema: JsonSchema): Words => {
  const message = `${what} must be ${wanted(type)}, not ${nameOf(value)}.`
  if (type === 'number' || type === 'integer') return words('E_VALUE', message, unquoted(value))
  const key = /^`(\w+)`$/.exec(what)?.[1]
  const example = type === 'object' && key !== undefined ? exampleOf(schema) : undefined
  const meant = type === 'boolean' && typeof value === 'string' ? BOOLEANS.get(value.toLowerCase()) : undefined
  if (meant !== undefined) {
    return words('E_VALUE', message, `Write \`${meant}\`: in YAML 1.2, \`${String(value)}\` is a string.`)
  }
  return words('E_VALUE', message, example && `For example, write \`${key}: ${example}\`.`)
}

/** A hint for a number in quotes. */
export const unquoted = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? `Write \`${value}\` without quotes.` : undefined

/** Booleans of YAML 1.1. */
const BOOLEANS = new Map(Object.entries({ yes: true, on: true, y: true, no: false, off: false, n: false }))

const propertiesOf = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>

const wanted = (type: unknown): string =>
  (Array.isArray(type) ? type : [type])
    .map((one) => (one === 'boolean' ? '`true` or `false`' : (TYPE_NAMES[String(one)] ?? String(one))))
    .join(', ')

/** The first example of a schema, as YAML on one line. */
const exampleOf = ({ examples = [] }: JsonSchema = {}): string | undefined => {
  const [example] = examples as readonly unknown[]
  return example === undefined ? undefined : stringify(example, { collectionStyle: 'flow', lineWidth: 0 }).trim()
}

/** Where manifests come from, if there are none. */
export const NO_MANIFESTS_HINT =
  'To write manifests for your live projects, run `espalier init`. If they are elsewhere, pass files, folders or globs.'

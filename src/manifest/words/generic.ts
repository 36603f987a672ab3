/** Messages for validation errors, derived from the schema. */
import { stringify } from 'yaml'
import { didYouMean, type JsonSchema } from '../../base/index.ts'
import type { Refusal } from '../definition/validator.ts'
import { enumeration, list, nameOf, TYPE_NAMES, type Words, words } from './words.ts'

/** @param what subject of the message: a key in backticks, or the kind of document. */
export const genericWords = (refusal: Refusal, value: unknown, what: string): Words => {
  const { keyword, params, parentSchema } = refusal
  if (keyword === 'additionalProperties') return unknownKey(what, String(params.additionalProperty), parentSchema)
  if (value === null) {
    const hint = 'Set a value, or delete the line. Settings that are left out are not managed.'
    return words('E_VALUE', `${what} has no value.`, hint)
  }
  if (keyword === 'minItems') return words('E_VALUE', `${what} must have at least one entry.`)
  if (keyword === 'required') return missingKey(what, String(params.missingProperty), parentSchema)
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

const missingKey = (what: string, key: string, schema: JsonSchema): Words => {
  const example = exampleOf(propertiesOf(schema)[key])
  const hint = example === undefined ? `Add \`${key}\`.` : `Add \`${key}\`, for example \`${key}: ${example}\`.`
  return words('E_REQUIRED', `${what} requires \`${key}\`.`, hint)
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
  const key = /^`(\w+)`$/.exec(what)?.[1]
  const example = type === 'object' && key !== undefined ? exampleOf(schema) : undefined
  const meant = type === 'boolean' && typeof value === 'string' ? BOOLEANS.get(value.toLowerCase()) : undefined
  const message = `${what} must be ${wanted(type)}, not ${nameOf(value)}.`
  if (meant !== undefined) {
    return words('E_VALUE', message, `Write \`${meant}\`: in YAML 1.2, \`${String(value)}\` is a string.`)
  }
  return words('E_VALUE', message, example && `For example, write \`${key}: ${example}\`.`)
}

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

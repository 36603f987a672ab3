/** Messages for validation errors, derived from the schema. */
import { stringify } from 'yaml'
import type { JsonSchema } from '../../base/index.ts'
import type { Refusal } from '../definition/validator.ts'
import { didYouMean, list, nameOf } from './list.ts'
import type { Words } from './words.ts'

/** @param what subject of the message: a key in backticks, or the kind of document. */
export const genericWords = (refusal: Refusal, value: unknown, what: string): Words => {
  const { keyword, params, parentSchema } = refusal
  if (keyword === 'additionalProperties') return unknownKey(what, String(params.additionalProperty), parentSchema)
  if (value === null) {
    return {
      code: 'E_NULL',
      message: `${what} has no value.`,
      hint: 'Set a value, or delete the line: what is left out is not managed.',
    }
  }
  if (keyword === 'minItems') return { code: 'E_VALUE', message: `${what} needs at least one entry.` }
  if (keyword === 'required') return missingKey(what, String(params.missingProperty), parentSchema)
  if (keyword === 'enum' || keyword === 'const') return notOneOf(what, value, parentSchema)
  if (keyword === 'type') return wrongType(what, value, params.type)
  if (BOUNDS.includes(keyword)) return { code: 'E_VALUE', message: `${what} must be ${boundsOf(parentSchema)}.` }
  return { code: 'E_VALUE', message: `${what} ${refusal.message ?? 'is not valid'}.` }
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
  const properties = propertiesOf(schema)
  const known = Object.keys(properties)
  const message = `${what} has no key \`${key}\`; it takes ${list(known)}.`
  const hint = didYouMean(key, known) ?? UNKNOWN[String(schema.$comment)]?.(key)
  return { code: 'E_UNKNOWN_KEY', message, ...(hint === undefined ? {} : { hint }) }
}

/** Suggestion for an unknown key that resembles none of the map's keys, from the map's `$comment`. */
const UNKNOWN: Readonly<Record<string, (key: string) => string | undefined>> = {
  E_POSTGRES: (key) =>
    /^[a-z][a-z0-9_.]*$/i.test(key)
      ? `Postgres settings go under \`settings\`: \`postgres: { settings: { ${key}: … } }\`.`
      : undefined,
  E_RULE_COMPUTE: (key) =>
    key === 'id'
      ? 'A rule is about many branches, and `id` pins one compute: list its branch under `branches`.'
      : undefined,
}

const missingKey = (what: string, key: string, schema: JsonSchema): Words => {
  const [example] = (propertiesOf(schema)[key]?.examples ?? []) as readonly unknown[]
  return {
    code: 'E_REQUIRED',
    message: `${what} needs \`${key}\`.`,
    hint: example === undefined ? `Add \`${key}\`.` : `Add \`${key}\`, for example \`${key}: ${inFlow(example)}\`.`,
  }
}

const notOneOf = (what: string, value: unknown, schema: JsonSchema): Words => {
  const allowed = (Array.isArray(schema.enum) ? schema.enum : [schema.const]) as readonly (string | number)[]
  if (typeof value !== typeof allowed[0]) {
    return { code: 'E_TYPE', message: `${what} must be ${list(allowed)}, not ${nameOf(value)}.` }
  }
  const hint = didYouMean(String(value), allowed.map(String))
  return {
    code: 'E_VALUE',
    message: `${what} cannot be \`${String(value)}\`; it takes ${list(allowed)}.`,
    ...(hint === undefined ? {} : { hint }),
  }
}

const wrongType = (what: string, value: unknown, type: unknown): Words => {
  const meant = type === 'boolean' && typeof value === 'string' ? BOOLEANS[value.toLowerCase()] : undefined
  return {
    code: 'E_TYPE',
    message: `${what} must be ${wanted(type)}, not ${nameOf(value)}.`,
    ...(meant === undefined ? {} : { hint: `Write \`${meant}\`: in YAML 1.2, \`${String(value)}\` is text.` }),
  }
}

/** Booleans of YAML 1.1. */
const BOOLEANS: Readonly<Record<string, boolean>> = { yes: true, on: true, y: true, no: false, off: false, n: false }

const propertiesOf = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>

const TYPES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'text',
  boolean: '`true` or `false`',
  number: 'a number',
}

const wanted = (type: unknown): string =>
  (Array.isArray(type) ? type : [type]).map((one) => TYPES[String(one)] ?? String(one)).join(', ')

const inFlow = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()

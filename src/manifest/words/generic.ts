/** Words for what a schema refuses, read off the schema itself. */
import { closest, distance } from 'fastest-levenshtein'
import { stringify } from 'yaml'
import type { JsonSchema } from '../../base/index.ts'
import type { Refusal } from '../definition/validator.ts'
import { LONGEST_MESSAGE } from '../files/limits.ts'
import { list, nameOf } from './list.ts'
import type { Words } from './words.ts'

/** @param what the value is called: a key in backticks, or what kind of document it is. */
export const genericWords = (refusal: Refusal, value: unknown, what: string): Words => {
  const { keyword, params, parentSchema } = refusal
  if (keyword === 'additionalProperties') return unknownKey(what, String(params.additionalProperty), parentSchema)
  if (value === null) {
    return {
      code: 'E_NULL',
      message: `${what} has no value.`,
      hint: 'Give it one, or delete the key: what is left out is not managed.',
    }
  }
  if (keyword === 'required') return missingKey(what, String(params.missingProperty), parentSchema)
  if (keyword === 'enum' || keyword === 'const') return notOneOf(what, value, parentSchema)
  if (keyword === 'type')
    return { code: 'E_TYPE', message: `${what} must be ${wanted(params.type)}, not ${nameOf(value)}.` }
  return { code: 'E_VALUE', message: `${what} ${refusal.message ?? 'is not valid'}.` }
}

const unknownKey = (what: string, key: string, schema: JsonSchema): Words => {
  const properties = propertiesOf(schema)
  const known = Object.keys(properties)
  const message = `${what} has no key \`${key}\`; it takes ${list(known)}.`
  if (key.length > LONGEST_MESSAGE) return { code: 'E_UNKNOWN_KEY', message }
  const near = closest(key, known)
  // A key that resembles none of them may belong where keys are free.
  const free = known.find((name) => typeof properties[name]?.additionalProperties === 'object')
  const isNear = distance(key.toLowerCase(), near.toLowerCase()) <= Math.max(2, near.length / 3)
  const hint = isNear ? `Did you mean \`${near}\`?` : free === undefined ? undefined : `Put it under \`${free}\`.`
  return { code: 'E_UNKNOWN_KEY', message, ...(hint === undefined ? {} : { hint }) }
}

const missingKey = (what: string, key: string, schema: JsonSchema): Words => {
  const [example] = (propertiesOf(schema)[key]?.examples ?? []) as readonly unknown[]
  return {
    code: 'E_REQUIRED',
    message: `${what} needs \`${key}\`.`,
    hint: example === undefined ? `Add \`${key}\`.` : `Add \`${key}: ${inFlow(example)}\`.`,
  }
}

const notOneOf = (what: string, value: unknown, schema: JsonSchema): Words => {
  const allowed = (Array.isArray(schema.enum) ? schema.enum : [schema.const]) as readonly (string | number)[]
  if (typeof value !== typeof allowed[0]) {
    return { code: 'E_TYPE', message: `${what} must be ${list(allowed)}, not ${nameOf(value)}.` }
  }
  const near = closest(String(value), allowed.map(String))
  return {
    code: 'E_VALUE',
    message: `${what} cannot be \`${String(value)}\`; it takes ${list(allowed)}.`,
    hint: `Did you mean \`${near}\`?`,
  }
}

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

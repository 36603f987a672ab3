/** Compiles the definitions with ajv, at build time. */
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../base/index.ts'
import { documentSchema, SHAREABLE_KEYS, sharedFileSchema } from './manifest.ts'
import { POLICY_SCHEMA } from './policy.ts'
import { SIZE_RANGE_KEYWORD } from './size-range.ts'

/** A compiler with these schemas: `document`, `shared`, `policies`. */
export const createCompiler = (code: Options['code'] = {}): Ajv2020 => {
  // `verbose` adds the schema to each error, because the message is derived from it.
  const ajv = new Ajv2020({ allErrors: true, verbose: true, inlineRefs: false, code, keywords: [SIZE_RANGE_KEYWORD] })
  // No definition uses these keywords, and their bookkeeping would be a third of the code.
  Object.assign(ajv.opts, { unevaluated: false, dynamicRef: false })
  // A schema that is registered separately is compiled only once.
  const addOnce = (id: string, schema: JsonSchema): void => {
    if (ajv.schemas[id] === undefined) ajv.addSchema(compactSchema(schema), id)
  }
  const add = (name: string, { $defs, ...schema }: JsonSchema): void => {
    addOnce(name, schema)
    for (const [id, definition] of Object.entries($defs ?? {})) addOnce(`${DEFINITION}${id}`, definition)
  }
  for (const [name, schema] of [
    ['document', documentSchema()],
    ['shared', sharedFileSchema()],
  ] as const) {
    const properties: Record<string, JsonSchema> = { ...(schema.properties as object) }
    for (const key of SHAREABLE_KEYS) {
      addOnce(`property:${key}`, properties[key] ?? {})
      properties[key] = { $ref: `property:${key}` }
    }
    add(name, { ...schema, properties })
  }
  add('policies', POLICY_SCHEMA)
  return ajv
}

const DEFINITION = 'definition:'

const ANNOTATIONS = ['$schema', '$id', 'title', 'description']

/** The schema as it is compiled: references to registered definitions, and no text that messages do not use. */
const compactSchema = (schema: JsonSchema): JsonSchema =>
  JSON.parse(
    // A property may also be called `title`, but its value is a schema, not a string.
    JSON.stringify(schema, (key, value: unknown) =>
      ANNOTATIONS.includes(key) && typeof value === 'string' ? undefined : value,
    ).replaceAll('"#/$defs/', `"${DEFINITION}`),
  ) as JsonSchema

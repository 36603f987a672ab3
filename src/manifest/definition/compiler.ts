/** Compiles the definitions with ajv: at build time for the built-in size table, at run time for others. */
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../base/index.ts'
import type { SizeTable } from '../../model/index.ts'
import { manifestSchema, sharedSchema } from './manifest.ts'
import { POLICY_SCHEMA } from './policy.ts'
import { TIER_TABLE_SCHEMA } from './tier-table.ts'

/** Names of the validators. */
export const VALIDATOR_NAMES = ['document', 'shared', 'policies', 'tierTable'] as const

export const createCompiler = (table: SizeTable, code: Options['code'] = {}): Ajv2020 => {
  // `verbose` adds the schema to each error, which is needed for its message.
  const ajv = new Ajv2020({ allErrors: true, verbose: true, inlineRefs: false, code })
  // No definition uses these keywords, and their bookkeeping would be a third of the code.
  Object.assign(ajv.opts, { unevaluated: false, dynamicRef: false })
  const schemas: readonly JsonSchema[] = [manifestSchema(table), sharedSchema(table), POLICY_SCHEMA, TIER_TABLE_SCHEMA]
  for (const [index, { $defs, ...schema }] of schemas.entries()) {
    ajv.addSchema(withDefinitionIds(schema), VALIDATOR_NAMES[index])
    // Register definitions as separate schemas, so that each is compiled only once.
    for (const [name, definition] of Object.entries($defs ?? {})) {
      const id = `${DEFINITION}${name}`
      if (ajv.schemas[id] === undefined) ajv.addSchema(withDefinitionIds(definition), id)
    }
  }
  return ajv
}

const DEFINITION = 'definition:'

const withDefinitionIds = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${DEFINITION}`)) as JsonSchema

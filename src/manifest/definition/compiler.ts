/** The definitions, ready to be compiled by ajv: ahead of time for the built-in size table, at run time for another. */
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../base/index.ts'
import type { SizeTable } from '../../model/index.ts'
import { manifestSchema, sharedSchema } from './manifest.ts'
import { POLICY_SCHEMA } from './policy.ts'
import { TIER_TABLE_SCHEMA } from './tier-table.ts'

/** One validator for each, by the name under which the compiler has it. */
export const VALIDATOR_NAMES = ['document', 'shared', 'policies', 'tierTable'] as const

export const createCompiler = (table: SizeTable, code: Options['code'] = {}): Ajv2020 => {
  // `verbose` gives each error the schema that refused, from which its words are read.
  const ajv = new Ajv2020({ allErrors: true, verbose: true, inlineRefs: false, code })
  // Bookkeeping for keywords that no definition uses. It would be a third of the code.
  Object.assign(ajv.opts, { unevaluated: false, dynamicRef: false })
  const schemas: readonly JsonSchema[] = [manifestSchema(table), sharedSchema(table), POLICY_SCHEMA, TIER_TABLE_SCHEMA]
  for (const [index, { $defs, ...schema }] of schemas.entries()) {
    ajv.addSchema(withDefinitionIds(schema), VALIDATOR_NAMES[index])
    // Definitions are schemas of their own here, so that each is compiled once, whatever refers to it.
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

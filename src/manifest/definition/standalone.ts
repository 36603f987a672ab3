/** The schema compiled to code, so that starting up does not have to. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { SizeTable } from '../../model/index.ts'
import { manifestSchema, SHARED_VALIDATOR_SCHEMA } from './manifest.ts'
import { AJV_OPTIONS } from './options.ts'
import { POLICY_SCHEMA } from './policy.ts'
import { TIER_TABLE_SCHEMA } from './tier-table.ts'

/** ajv refers to two of its small helpers by `require`, which an ES module does not have; bundlers want imports. */
const HELPERS = {
  'ajv/dist/runtime/equal': 'ajvEqual',
  'ajv/dist/runtime/ucs2length': 'ajvLength',
} as const

const withImports = (code: string): string => {
  // Some loaders give the module, others what it exports by default.
  const imports = Object.entries(HELPERS).map(
    ([path, name]) =>
      `import ${name}Module from '${path}.js'\nconst ${name} = { default: ${name}Module.default ?? ${name}Module }\n`,
  )
  const linked = Object.entries(HELPERS).reduce(
    (text, [path, name]) => text.replaceAll(`require("${path}")`, name),
    code,
  )
  return `${imports.join('')}${linked}`
}

/** The source of an ES module that exports a validator for each kind of file. */
export const standaloneValidator = (table: SizeTable): string => {
  const ajv = new Ajv2020({ ...AJV_OPTIONS, code: { source: true, esm: true } })
  const schemas = {
    document: manifestSchema(table),
    shared: SHARED_VALIDATOR_SCHEMA,
    policies: POLICY_SCHEMA,
    tierTable: TIER_TABLE_SCHEMA,
  }
  const ids = Object.entries(schemas).map(([name, schema]) => {
    ajv.addSchema(schema, name)
    return [name, name] as const
  })
  const generate = standalone.default ?? standalone
  return `${withImports(generate(ajv, Object.fromEntries(ids)))}\n`
}

/** The validators: compiled at build time for the built-in size table. */
import type { JsonSchema } from '../../base/index.ts'
import { SIZE_TABLE, type SizeTable } from '../../model/index.ts'
import * as shipped from '../generated/validator.js'

/** An error that ajv reports with `verbose`. */
export interface Refusal {
  /** JSON pointer into the document. */
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  /** The invalid key, if the problem is the key itself. */
  readonly propertyName?: string
  readonly schema: unknown
  readonly parentSchema: JsonSchema
  readonly data: unknown
}

export interface Validator {
  (value: unknown): boolean
  errors?: null | readonly Refusal[]
}

export interface Validators {
  readonly document: Validator
  readonly shared: Validator
}

const compiled = new WeakMap<SizeTable, Validators>([[SIZE_TABLE, shipped]])

/** Call before reading manifests with another size table. Loads the compiler on demand, because it is large. */
export const compileValidators = async (table: SizeTable): Promise<void> => {
  if (compiled.has(table)) return
  const { createCompiler } = await import('./compiler.ts')
  const ajv = createCompiler(table, { optimize: false })
  compiled.set(table, {
    document: ajv.getSchema('document') as unknown as Validator,
    shared: ajv.getSchema('shared') as unknown as Validator,
  })
}

export const validatorsOf = (table: SizeTable): Validators => {
  const validators = compiled.get(table)
  if (validators === undefined) throw new Error(`the validators of the size table ${table.version} are not compiled`)
  return validators
}

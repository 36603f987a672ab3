/** The published schema, asked once more: what the reader let pass must fit it, or one of the two is wrong. */
import { createRequire } from 'node:module'
import { SIZE_TABLE, type SizeTable } from '../../model/index.ts'
import shipped from '../generated/validator.js'
import { manifestSchema } from './manifest-schema.ts'

export interface SchemaProblem {
  /** JSON pointer into the document. */
  readonly pointer: string
  readonly message: string
}

interface Validator {
  (value: unknown): boolean
  errors?: null | readonly { readonly instancePath: string; readonly message?: string }[]
}

const compiled = new WeakMap<SizeTable, Validator>()

/** The problem furthest in (those around it only follow from it), or `undefined` where the value fits. */
export const schemaProblem = (value: unknown, table: SizeTable): SchemaProblem | undefined => {
  const validate = table === SIZE_TABLE ? (shipped as Validator) : validatorOf(table)
  if (validate(value)) return undefined
  const errors = validate.errors ?? []
  const depth = ({ instancePath }: { readonly instancePath: string }): number => instancePath.split('/').length
  const [first] = errors.toSorted((a, b) => depth(b) - depth(a))
  return { pointer: first?.instancePath ?? '', message: first?.message ?? 'it does not fit' }
}

/** A table of one's own is rare, so the compiler is loaded only for it. */
const validatorOf = (table: SizeTable): Validator => {
  const known = compiled.get(table)
  if (known !== undefined) return known
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const made = new Ajv2020({ strictTypes: false, strictRequired: false }).compile(manifestSchema(table)) as Validator
  compiled.set(table, made)
  return made
}

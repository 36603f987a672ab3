/** The type of the validators, which are compiled at build time. */
import type { JsonSchema } from '../../base/index.ts'

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

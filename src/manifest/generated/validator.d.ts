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
  readonly parentSchema: JsonSchema
}

export interface Validator {
  (value: unknown): boolean
  errors?: null | readonly Refusal[]
}

export declare const document: Validator
export declare const shared: Validator
export declare const policies: Validator
/** Keys that are allowed both in documents and in shared files. */
export declare const shareableKeys: readonly string[]

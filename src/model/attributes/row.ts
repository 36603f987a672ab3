/** A row of the attribute table. The types of live computes, requests and declarations are derived from it. */
import type { JsonSchema } from '../../base/index.ts'
import type { Impact } from '../impact.ts'
import type { Size } from '../size.ts'

/**
 * A request replaces `settings` as a whole (Neon staff in neondatabase/neon#7628), so it must repeat undeclared parts.
 */
export interface WireSettings {
  readonly pg_settings?: Readonly<Record<string, string>> | undefined
  readonly preload_libraries?:
    | {
        readonly use_defaults?: boolean | undefined
        readonly enabled_libraries?: readonly string[] | undefined
        readonly [other: string]: unknown
      }
    | undefined
  readonly [other: string]: unknown
}

/** The types of the API's fields. `cu` (compute units) fields are in every response; the others may be missing. */
export interface FieldTypes {
  readonly text: string
  readonly flag: boolean
  readonly seconds: number
  readonly cu: number
  readonly settings: WireSettings
}

export type FieldType = keyof FieldTypes

/** The types of an attribute's value. A `map` is merged, compared and shown entry by entry. */
export interface ValueTypes {
  readonly text: string
  readonly flag: boolean
  readonly seconds: number
  readonly size: Size
  readonly list: readonly string[]
  readonly map: Readonly<Record<string, string>>
}

export type ValueType = keyof ValueTypes

/** A size in CU, a scale-to-zero timeout in seconds (0 default, -1 never), a flag, a text, or a list of libraries. */
export type AttributeValue = string | number | boolean | Size | readonly string[]

export type Fields = Readonly<Record<string, FieldType>>

/** Values of API fields. A missing field was not in the response, or is not changed by the request. */
export type Wire<F> = { readonly [N in keyof F]?: FieldTypes[F[N] & FieldType] | undefined }

/** Access to the manifest, for rules that a schema cannot express. */
export interface ManifestPlace {
  /** The source text of an entry: `1.50`, not `1.5`. */
  written(name: string): string | undefined
  report(code: 'E_DURATION', message: string, hint: string): undefined
}

export interface AttributeRow<T extends ValueType = ValueType, F extends Fields = Fields, V = ValueTypes[T]> {
  readonly type: T
  /** Path below a compute in a manifest: `size`, or `pooler.mode` in a group. */
  readonly path: string
  /** Whether the attribute is specific to each compute. If so, it is not allowed in defaults and profiles. */
  readonly isOwn?: true
  /** The API's fields, with their types. */
  readonly fields: F
  /** Schema of the value in a manifest. Its description is also used in the reference. */
  readonly schema: JsonSchema
  /** Why a change has this impact. */
  readonly rule: string
  /** Impact of a change from `before` to `after` on a compute that is not idle. */
  impact(before: V | undefined, after: V): Impact
  /** The value that applies if the API omits the field. */
  readonly absent?: V
  satisfied(desired: V, observed: V | undefined): boolean
  /** Reads a value that matches the schema. Returns `undefined` if it reported a problem. */
  read(value: unknown, place: ManifestPlace): V | undefined
  /** The value as written in a manifest; `undefined` if manifests cannot express it. */
  write(value: V, compute: { readonly size?: Size }): unknown
  /** Whether `import` writes the value. Defaults of new computes are omitted. */
  isImported(value: V, compute: { readonly size?: Size }): boolean
  fromWire(wire: Wire<F>): V | undefined
  /** The request fields that set `desired`. For `settings`, only the part that changes. */
  toWire(desired: V, live: V | undefined): Wire<F>
  /** The value as text, for display. */
  format(value: V): string
}

type OneField<T extends ValueType & FieldType> = Pick<AttributeRow<T, Fields>, 'path' | 'schema' | 'rule' | 'impact'> &
  Partial<AttributeRow<T, Fields>>

/** An attribute that is a single field of the API. By default it has the same value in a manifest. */
export const oneField = <T extends ValueType & FieldType, const N extends string>(
  type: T,
  name: N,
  row: OneField<T>,
): AttributeRow<T, { readonly [F in N]: T }> => ({
  satisfied: (desired, observed) => desired === observed,
  read: (value) => value as ValueTypes[T],
  write: (value) => value,
  isImported: () => true,
  format: String,
  ...row,
  type,
  fields: { [name]: type } as { readonly [F in N]: T },
  fromWire: (wire) => wire[name] as ValueTypes[T] | undefined,
  toWire: (value) => ({ [name]: value }) as unknown as Wire<{ readonly [F in N]: T }>,
})

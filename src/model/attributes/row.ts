/** What a row of the attribute table holds. The types of a live compute, of a request and of a declaration follow from it. */
import type { JsonSchema } from '../../base/index.ts'
import type { Impact } from '../impact.ts'
import type { Size, SizeTable } from '../size.ts'

/** A request replaces `settings` whole (Neon staff in neondatabase/neon#7628), so undeclared parts are sent as they are. */
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

/** The types of the API's fields. `cu`: compute units, in every answer; the others may be missing. */
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

export type Fields = Readonly<Record<string, FieldType>>

/** API fields with their values; a missing one is not shown, or not asked for. */
export type Wire<F> = { readonly [N in keyof F]?: FieldTypes[F[N] & FieldType] | undefined }

/** The value in a manifest, for what a schema cannot express. */
export interface ManifestPlace {
  /** An entry of the value, as it was written: `1.50`, not `1.5`. */
  written(name: string): string | undefined
  report(code: 'E_DURATION_RANGE', message: string, hint: string): undefined
}

export interface AttributeRow<
  T extends ValueType = ValueType,
  F extends Fields = Fields,
  R extends string = string,
  V = ValueTypes[T],
> {
  readonly type: T
  /** Under a compute in a manifest: `size`, or `pooler.mode` for one of a group. */
  readonly path: string
  /** Each compute has its own, so defaults and profiles cannot hold it. */
  readonly isOwn?: true
  /** Its values may be passwords: files that others can read hold a fingerprint only. */
  readonly isSecret?: true
  /** The API's fields, with their types. */
  readonly fields: F
  /** What a manifest may say; its description also is in the reference. */
  schema(table: SizeTable): JsonSchema
  readonly reason: { readonly code: R; readonly words: string }
  /** Why a change has this impact. */
  readonly rule: string
  /** Of a change from `before` to `after` on a compute that is not idle. */
  impact(before: V | undefined, after: V): Impact
  /** What a missing value means, where the API leaves it out. */
  readonly absent?: V
  satisfied(desired: V, observed: V | undefined): boolean
  /** A manifest's value that fits the schema; `undefined` if a problem was reported. */
  read(value: unknown, place: ManifestPlace): V | undefined
  /** The value as a manifest spells it; `undefined` if a manifest cannot hold it. */
  write(value: V, compute: { readonly size?: Size }): unknown
  /** Whether `import` writes the value; it leaves out what a new compute has anyway. */
  isImported(value: V, compute: { readonly size?: Size }): boolean
  fromWire(wire: Wire<F>): V | undefined
  /** The part of a request that asks for `desired`; of `settings`, only what changes. */
  toWire(desired: V, live: V | undefined): Wire<F>
  /** As people read it. */
  format(value: V): string
}

type OneField<T extends ValueType & FieldType, R extends string> = Pick<
  AttributeRow<T, Fields, R>,
  'path' | 'schema' | 'reason' | 'rule' | 'impact'
> &
  Partial<AttributeRow<T, Fields, R>>

/** An attribute that is one field of the API, with the same value in a manifest unless its row says otherwise. */
export const oneField = <T extends ValueType & FieldType, const N extends string, const R extends string>(
  type: T,
  name: N,
  row: OneField<T, R>,
): AttributeRow<T, { readonly [F in N]: T }, R> => ({
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

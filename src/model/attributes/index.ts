/** Types and functions that are derived from the attribute table. */
import type { Impact } from '../impact.ts'
import { mergeSettings } from './postgres.ts'
import type {
  AttributeRow,
  AttributeValue,
  Fields,
  FieldType,
  ValueType,
  ValueTypes,
  Wire,
  WireSettings,
} from './row.ts'
import { ATTRIBUTES } from './table.ts'

export { mergeSettings, RESTART_ONLY_SETTINGS, undeclaredSettings } from './postgres.ts'
export type { AttributeValue, ManifestPlace, WireSettings } from './row.ts'
export { ATTRIBUTE_GROUPS, COMPUTE_NAME_PATTERN } from './table.ts'

type Rows = typeof ATTRIBUTES

export type AttributeKey = keyof Rows

/**
 * Attributes of a compute. In a desired state, a missing one is not managed; in a snapshot, the API did not show it.
 */
export type ComputeAttributes = { readonly [K in AttributeKey]?: ValueTypes[Rows[K]['type']] }

type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

type AllFields = Intersection<Rows[AttributeKey]['fields']>

/** Attributes as fields of the API. */
export type WireAttributes = Wire<AllFields>

/** The live values that a request depends on. */
export interface LiveValues {
  readonly attributes: ComputeAttributes
  /** From the API, including parts that manifests cannot declare. */
  readonly settings?: WireSettings | undefined
}

/** A row without value types, for code that iterates over all rows. */
export type AnyAttributeRow = Omit<
  AttributeRow,
  'impact' | 'satisfied' | 'absent' | 'read' | 'write' | 'isImported' | 'toWire' | 'format'
> & {
  readonly absent?: unknown
  impact(before: unknown, after: unknown): Impact
  satisfied(desired: unknown, observed: unknown): boolean
  read(...args: Parameters<AttributeRow['read']>): unknown
  write(value: unknown, compute: ComputeAttributes): unknown
  isImported(value: unknown, compute: ComputeAttributes): boolean
  toWire(desired: unknown, live: unknown): WireAttributes
  format(value: unknown): string
}

const ROWS = ATTRIBUTES as unknown as Readonly<Record<AttributeKey, AnyAttributeRow>>

export const rowOf = (key: AttributeKey): AnyAttributeRow => ROWS[key]

/** In canonical order. */
export const ATTRIBUTE_KEYS = Object.keys(ATTRIBUTES) as readonly AttributeKey[]

/** Maps each field of the API to the shape of its type. */
export const shapesByField = <S extends Readonly<Record<FieldType, unknown>>>(shapes: S) => {
  const fields: Fields = Object.assign({}, ...ATTRIBUTE_KEYS.map((key) => ROWS[key].fields))
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, shapes[type]])) as {
    [N in keyof AllFields]: S[AllFields[N] & FieldType]
  }
}

/** Maps each attribute to the shape of its type. */
export const shapesByAttribute = <S extends Readonly<Record<ValueType, unknown>>>(shapes: S) =>
  Object.fromEntries(ATTRIBUTE_KEYS.map((key) => [key, shapes[ROWS[key].type]])) as {
    [K in AttributeKey]: S[Rows[K]['type']]
  }

/** All attributes in a response of the API. */
export const attributesFromWire = (wire: WireAttributes): ComputeAttributes => {
  const attributes: Partial<Record<AttributeKey, unknown>> = {}
  // A loop for speed: this runs for every compute.
  for (const key of ATTRIBUTE_KEYS) {
    const value = ROWS[key].fromWire(wire)
    if (value !== undefined) attributes[key] = value
  }
  return attributes as ComputeAttributes
}

/** Keys of attributes whose observed value differs from the desired one. */
export const differingKeys = (desired: ComputeAttributes, observed: ComputeAttributes): readonly AttributeKey[] =>
  ATTRIBUTE_KEYS.filter((key) => {
    const row = ROWS[key]
    return desired[key] !== undefined && !row.satisfied(desired[key], observed[key] ?? row.absent)
  })

/**
 * The request fields that change `live` to `desired` for these keys. `settings` includes `live.settings`.
 */
export const attributesToWire = (
  desired: ComputeAttributes,
  keys: readonly AttributeKey[],
  live: LiveValues = { attributes: {} },
): WireAttributes => {
  const parts = keys.flatMap((key) =>
    desired[key] === undefined ? [] : [ROWS[key].toWire(desired[key], live.attributes[key])],
  )
  const changed = parts.map(({ settings }) => settings).filter((part) => part !== undefined)
  return {
    ...Object.assign({}, ...parts),
    ...(changed.length === 0 ? {} : { settings: changed.reduce(mergeSettings, settingsOf(live)) }),
  }
}

/** The `settings` of a compute, derived from its attributes if the API's field is not known. */
export const settingsOf = ({ settings, attributes }: LiveValues): WireSettings =>
  settings ??
  ATTRIBUTE_KEYS.flatMap((key) => (attributes[key] === undefined ? [] : [ROWS[key].toWire(attributes[key], undefined)]))
    .map(({ settings = {} }) => settings)
    .reduce(mergeSettings, {})

// The manifest paths of attributes. Each entry of a map has a path of its own: `postgres.settings.work_mem`.

/** The values of an attribute by path. */
export const valuesOf = (key: AttributeKey, attributes: ComputeAttributes): ReadonlyMap<string, AttributeValue> => {
  const { path, type } = rowOf(key)
  const value = attributes[key]
  if (value === undefined) return new Map()
  if (type !== 'map') return new Map([[path, value as AttributeValue]])
  return new Map(Object.entries(value).map(([name, one]): [string, AttributeValue] => [`${path}.${name}`, one]))
}

/** A value of {@link valuesOf} as text, for display. */
export const valueText = (key: AttributeKey, value: AttributeValue): string => {
  const { type, format } = rowOf(key)
  return type === 'map' ? String(value) : format(value)
}

/** The keys of a path. The name of an entry is one key, even if it contains dots, as `app.jwt_secret` does. */
export const keysOfPath = (path: string): readonly string[] => {
  const map = ATTRIBUTE_KEYS.map(rowOf).find((row) => row.type === 'map' && path.startsWith(`${row.path}.`))
  return map === undefined ? path.split('.') : [...map.path.split('.'), path.slice(map.path.length + 1)]
}

/** Finds the differences between a declared and a live compute. They are expressed as attributes of the manifest. */
import { compare, defined } from '../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  type AttributeChange,
  type AttributeKey,
  type ComputeAttributes,
  type DesiredCompute,
  keysOfPath,
  rowOf,
  valuesOf,
  valueText,
} from '../model/index.ts'

/** Every attribute that the manifest sets, whether or not the live compute already has the value. */
export const managedKeys = ({ attributes }: DesiredCompute): readonly AttributeKey[] =>
  ATTRIBUTE_KEYS.filter((key) => attributes[key] !== undefined)

export interface AttributeChangeOptions {
  readonly keys: readonly AttributeKey[]
  readonly before: ComputeAttributes
  /** Whether the compute may have connections while it changes. */
  readonly inUse: boolean
}

/** One entry per attribute; maps are compared entry by entry. */
export const attributeChanges = (
  desired: DesiredCompute,
  { keys, before: live, inUse }: AttributeChangeOptions,
): readonly AttributeChange[] =>
  keys.flatMap((key) => {
    const { type, path: attribute, impact, rule } = rowOf(key)
    const values = valuesOf(key, live)
    return [...valuesOf(key, desired.attributes)]
      .filter(([path, after]) => type !== 'map' || values.get(path) !== after)
      .sort(([a], [b]) => compare(a, b))
      .map(([path, after]): AttributeChange => {
        const before = values.get(path)
        return defined({
          path,
          before,
          after,
          beforeText: before === undefined ? undefined : valueText(key, before),
          afterText: valueText(key, after),
          impact: inUse ? impact(live[key], desired.attributes[key]) : ('none' as const),
          rule,
          source: desired.sources[path] ?? desired.sources[attribute],
        })
      })
  })

/** The declaration reduced to the attributes in `paths`; a map keeps only the entries in `paths`. */
export const withOnly = (desired: DesiredCompute, paths: ReadonlySet<string>): DesiredCompute => {
  const kept = managedKeys(desired).flatMap((key): readonly (readonly [AttributeKey, unknown])[] => {
    const values = [...valuesOf(key, desired.attributes)].filter(([path]) => paths.has(path))
    if (values.length === 0) return []
    if (rowOf(key).type !== 'map') return [[key, desired.attributes[key]]]
    return [[key, Object.fromEntries(values.map(([path, value]) => [keysOfPath(path).at(-1), value]))]]
  })
  return { ...desired, attributes: Object.fromEntries(kept) as ComputeAttributes }
}

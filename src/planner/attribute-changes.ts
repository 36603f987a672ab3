/** Finds the differences between a declared and a live compute. They are expressed as attributes of the manifest. */
import { compare, defined } from '../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  type AttributeChange,
  type AttributeKey,
  type AttributeValue,
  type ComputeAttributes,
  type DesiredCompute,
  rowOf,
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
    const row = rowOf(key)
    const entry = (
      path: string,
      before: AttributeValue | undefined,
      after: AttributeValue,
      textOf: (value: AttributeValue) => string,
    ): AttributeChange => {
      return defined({
        path,
        before,
        after,
        beforeText: before === undefined ? undefined : textOf(before),
        afterText: textOf(after),
        impact: inUse ? row.impact(live[key], desired.attributes[key]) : ('none' as const),
        rule: row.rule,
        source: desired.sources[path] ?? desired.sources[row.path],
      })
    }
    if (row.type === 'map') {
      const before = new Map(Object.entries((live[key] ?? {}) as Readonly<Record<string, string>>))
      return Object.entries((desired.attributes[key] ?? {}) as Readonly<Record<string, string>>)
        .filter(([name, value]) => before.get(name) !== value)
        .sort(([a], [b]) => compare(a, b))
        .map(([name, value]) => entry(`${row.path}.${name}`, before.get(name), value, String))
    }
    // Every value except a map is shown as a whole.
    const before = live[key] as AttributeValue | undefined
    const after = desired.attributes[key] as AttributeValue | undefined
    return after === undefined ? [] : [entry(row.path, before, after, row.format)]
  })

/** The declaration reduced to the attributes in `paths`; a map keeps only the entries in `paths`. */
export const withOnly = (desired: DesiredCompute, paths: ReadonlySet<string>): DesiredCompute => {
  const kept = ATTRIBUTE_KEYS.flatMap((key): readonly (readonly [AttributeKey, unknown])[] => {
    const value = desired.attributes[key]
    const { path, type } = rowOf(key)
    if (value === undefined) return []
    if (type !== 'map') return paths.has(path) ? [[key, value]] : []
    const entries = Object.entries(value).filter(([name]) => paths.has(`${path}.${name}`))
    return entries.length === 0 ? [] : [[key, Object.fromEntries(entries)]]
  })
  return { ...desired, attributes: Object.fromEntries(kept) as ComputeAttributes }
}

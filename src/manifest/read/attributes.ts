/** Reads the attributes in a map: defaults, a profile, or a compute. */
import { groupBy } from '../../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  type AttributeKey,
  type ComputeAttributes,
  type DeclaredWindow,
  type ManifestPlace,
  rowOf,
  type Source,
  WEEKDAYS,
} from '../../model/index.ts'
import type { AttributesValue, WindowValue } from '../definition/manifest.ts'
import { timezoneProblem } from '../words/specific.ts'
import type { Tree } from './tree.ts'

/** Attributes and their positions, by manifest path. */
export interface AttributeSet {
  readonly values: ComputeAttributes
  readonly restartWindow?: DeclaredWindow
  readonly sources: Readonly<Record<string, Source>>
}

export const NO_ATTRIBUTES: AttributeSet = { values: {}, sources: {} }

const topOf = (path: string): string => path.split('.', 1)[0] ?? path

/** The attributes under each key of a compute: several if the key is a group. */
const BY_KEY: ReadonlyMap<string, readonly AttributeKey[]> = groupBy(ATTRIBUTE_KEYS, (key) => topOf(rowOf(key).path))

export const readAttributes = (tree: Tree, own: AttributesValue): AttributeSet => {
  const values: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const top of Object.keys(own)) {
    for (const key of BY_KEY.get(top) ?? []) {
      const row = rowOf(key)
      const isInGroup = row.path !== top
      const parent = (isInGroup ? own[top] : own) as Readonly<Record<string, unknown>>
      const name = isInGroup ? row.path.slice(top.length + 1) : top
      const given = parent[name]
      if (given === undefined) continue
      const value = row.read(given, placeOf(tree, parent, name))
      if (value === undefined) continue
      values[key] = value
      sources[row.path] = tree.source(parent, name)
      if (row.type !== 'map') continue
      for (const entry of Object.keys(given as object)) {
        sources[`${row.path}.${entry}`] = tree.source(given as object, entry)
      }
    }
  }
  const window = own.restartWindow === undefined ? undefined : readWindow(tree, own.restartWindow)
  if (window === undefined) return { values, sources }
  return { values, sources: { ...sources, restartWindow: tree.source(own, 'restartWindow') }, restartWindow: window }
}

const placeOf = (tree: Tree, parent: Readonly<Record<string, unknown>>, key: string): ManifestPlace => ({
  written: (name) => tree.written(parent[key] as object, name),
  report: (code, message, hint) => tree.report(code, tree.source(parent, key), message, hint),
})

const readWindow = (tree: Tree, value: WindowValue): DeclaredWindow | undefined => {
  if (typeof value === 'string') return value
  const { days, from, to, timezone } = value
  if (!isTimezone(timezone)) {
    const { code, message, hint } = timezoneProblem(timezone)
    tree.report(code, tree.source(value, 'timezone'), message, hint)
    return undefined
  }
  if (from === to) {
    tree.report(
      'E_WINDOW',
      tree.source(value, 'to'),
      `A restart window from ${from} to ${to} never opens.`,
      'For the whole day, write `from: "00:00"` and `to: "24:00"`. For no window, write `restartWindow: always`.',
    )
    return undefined
  }
  return { days: days === undefined ? WEEKDAYS : WEEKDAYS.filter((day) => days.includes(day)), from, to, timezone }
}

/** Whether the runtime knows the name. The schema already rejects offsets such as `+02:00`. */
const isTimezone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

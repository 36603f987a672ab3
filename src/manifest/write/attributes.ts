/** Writes the attributes of a live compute in a manifest's format. */
import {
  ATTRIBUTE_KEYS,
  type AttributeKey,
  type ComputeAttributes,
  type DeclaredWindow,
  type ObservedCompute,
  rowOf,
  WEEKDAYS,
} from '../../model/index.ts'

/** A manifest's map, in canonical order. */
export type Written = Map<string, unknown>

/** What a new manifest says about a live compute. Omits defaults and values that manifests cannot express. */
export const writtenOf = (attributes: ComputeAttributes): Written =>
  write(attributes, (key) => rowOf(key).isImported(attributes[key], attributes))

/** All attributes that a declaration manages. */
export const declaredOf = (attributes: ComputeAttributes): Written => write(attributes, () => true)

const write = (attributes: ComputeAttributes, isWanted: (key: AttributeKey) => boolean): Written => {
  const written: Written = new Map()
  for (const key of ATTRIBUTE_KEYS) {
    const row = rowOf(key)
    if (attributes[key] === undefined || row.isOwn === true || !isWanted(key)) continue
    const value = row.write(attributes[key], attributes)
    if (value === undefined) continue
    const [top = '', name] = row.path.split('.')
    const group = (written.get(top) as Written | undefined) ?? new Map()
    written.set(top, name === undefined ? value : group.set(name, value))
  }
  return written
}

/** The value at a manifest path: an attribute, or an entry of a map. `undefined` if manifests cannot express it. */
export const writtenAt = (path: string, attributes: ComputeAttributes): unknown => {
  const key = ATTRIBUTE_KEYS.find((one) => path === rowOf(one).path || path.startsWith(`${rowOf(one).path}.`))
  if (key === undefined) return undefined
  const row = rowOf(key)
  const live = attributes[key] ?? row.absent
  if (live === undefined) return undefined
  const value = row.write(live, attributes)
  return path === row.path ? value : (value as Written | undefined)?.get(path.slice(row.path.length + 1))
}

/**
 * The parts of a live compute that manifests cannot express, and that are therefore not managed. Each completes a
 * sentence.
 */
export const leftOutOf = ({ attributes, settings = {} }: ObservedCompute): readonly string[] => {
  const { pg_settings: _declared, preload_libraries: preload, ...others } = settings
  const unwritable = ATTRIBUTE_KEYS.flatMap((key) => {
    const row = rowOf(key)
    const value = attributes[key]
    if (value === undefined || !row.isImported(value, attributes)) return []
    return row.write(value, attributes) === undefined ? [`its \`${row.path}\` of ${row.format(value)}`] : []
  })
  return [
    ...unwritable,
    ...(preload?.use_defaults === true ? ['the default libraries that it preloads'] : []),
    ...Object.keys(others)
      .filter((key) => !isEmpty(others[key]))
      .map((key) => `its settings.${key}`),
  ]
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

export const windowOf = (window: DeclaredWindow): unknown => {
  if (typeof window === 'string') return window
  const { days, from, to, timezone } = window
  const isDaily = days.length === WEEKDAYS.length
  return new Map<string, unknown>([
    ...(isDaily ? [] : [['days', days] as const]),
    ['from', from],
    ['to', to],
    ['timezone', timezone],
  ])
}

/** Merges maps recursively. `above` takes precedence. */
export const laid = (below: Written, above: Written): Written => {
  const result: Written = new Map(below)
  for (const [key, value] of above) {
    const under = result.get(key)
    result.set(key, under instanceof Map && value instanceof Map ? laid(under, value) : value)
  }
  return result
}

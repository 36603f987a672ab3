/** What a manifest says about live branches and their computes. */
import { defined } from '../../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  type AttributeKey,
  type ComputeAttributes,
  type DeclaredWindow,
  isBranchId,
  type ObservedBranch,
  type ObservedCompute,
  rowOf,
  WEEKDAYS,
} from '../../model/index.ts'

/** A manifest's map, in canonical order. */
export type Written = Map<string, unknown>

/** What a new manifest says about a live compute. Omits defaults and values that manifests cannot express. */
const writtenOf = (attributes: ComputeAttributes): Written =>
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
const leftOutOf = ({ attributes, settings = {} }: ObservedCompute): readonly string[] => {
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

/** A branch's computes in a manifest's format. */
export interface BranchShape {
  readonly branch: ObservedBranch
  readonly primary?: Written
  readonly replicas: ReadonlyMap<string, Written>
  /** What manifests cannot express, one sentence each. */
  readonly leftOut: readonly string[]
}

/** @param how.taken replica keys already used for other computes. */
export const shapeOf = (
  branch: ObservedBranch,
  computes: readonly ObservedCompute[],
  { pin, taken }: { readonly pin: boolean; readonly taken: ReadonlySet<string> },
): BranchShape => {
  const own = computes.filter(({ branchId }) => branchId === branch.id)
  const replicas = new Map<string, Written>()
  const leftOut: string[] = []
  let primary: Written | undefined
  for (const compute of own) {
    const { name } = compute.attributes
    const namesakes = own.filter((other) => other !== compute && other.attributes.name === name)
    const title = `${compute.type === 'read_write' ? 'primary' : 'replica'} ${compute.id} on ${branch.name}`
    const unsaid = [...leftOutOf(compute)]
    const id = pin || namesakes.some(({ type }) => type === compute.type) ? [['id', compute.id] as const] : []
    if (compute.type === 'read_write') {
      // Names must be unique within a branch. Replicas need their names as keys, so the primary loses its name.
      const isTaken = taken.has(name ?? '') || namesakes.some(({ type }) => type === 'read_only')
      if (name !== undefined && isTaken) unsaid.push(`its name ${name}, which a replica there also has`)
      const named = name === undefined || isTaken ? [] : [['name', name] as const]
      primary = new Map<string, unknown>([...id, ...named, ...writtenOf(compute.attributes)])
    } else if (name === undefined) {
      leftOut.push(`${title} has no name, but a declared replica needs one`)
      continue
    } else if (replicas.has(name) || taken.has(name)) {
      leftOut.push(`${title} has the same name as another replica there: ${name}`)
      continue
    } else replicas.set(name, new Map([...id, ...writtenOf(compute.attributes)]))
    if (unsaid.length > 0) leftOut.push(`${title}: ${unsaid.join(', ')}`)
  }
  return { branch, replicas, leftOut, ...defined({ primary }) }
}

/** How a manifest refers to a branch: by name, or by id if the name looks like an id. */
export const refOf = ({ id, name }: ObservedBranch): string => (isBranchId(name) ? id : name)

export const bodyOf = ({ primary, replicas }: BranchShape): Written => {
  const body: Written = new Map()
  if (primary !== undefined) body.set('primary', primary)
  if (replicas.size > 0) body.set('replicas', new Map(replicas))
  return body
}

export const computesOf = ({ primary, replicas }: BranchShape): readonly Written[] => [
  ...(primary === undefined ? [] : [primary]),
  ...replicas.values(),
]

/** A text that is the same for equal values. */
export const textOf = (value: unknown): string => JSON.stringify(plain(value))

const plain = (value: unknown): unknown =>
  value instanceof Map ? [...value].map(([key, one]) => [key, plain(one)]) : value

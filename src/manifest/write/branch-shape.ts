/** What a manifest says about a live branch. */
import { defined } from '../../base/index.ts'
import type { ObservedBranch, ObservedCompute } from '../../model/index.ts'
import { leftOutOf, type Written, writtenOf } from './attributes.ts'

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
export const refOf = ({ id, name }: ObservedBranch): string => (name.startsWith('br-') ? id : name)

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

/** Which live compute each declared one is. */
import { groupBy } from '../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  type ComputeAttributes,
  type DesiredCompute,
  type Diagnostic,
  differingKeys,
  type Impact,
  isAbsence,
  isIdle,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  rowOf,
  SIZE_TABLE,
  type SizeTable,
  worstImpact,
} from '../model/index.ts'
import { assign } from './assign.ts'
import { problem, warning } from './diagnostics.ts'
import { canBecome } from './feasible.ts'
import type { ResolvedBranch } from './resolve.ts'
import { compare } from './sort.ts'

/** One declared compute and the live one that it claims; without one it is to be created. */
export interface Claim {
  readonly branch: ObservedBranch
  readonly type: 'read_write' | 'read_only'
  readonly desired: DesiredCompute
  readonly observed?: ObservedCompute
}

export interface Matched {
  readonly claims: readonly Claim[]
  /** Claimed by no declaration, sorted by id. */
  readonly unclaimed: readonly ObservedCompute[]
  /** Ids of unclaimed computes that fit a declaration as well as the one chosen: too like it to be deleted unasked. */
  readonly ambiguous: ReadonlyMap<string, string>
  readonly diagnostics: readonly Diagnostic[]
}

interface Slot {
  readonly resolved: ResolvedBranch
  readonly type: Claim['type']
  readonly desired: DesiredCompute
}

export const match = (
  project: ObservedProject,
  branches: readonly ResolvedBranch[],
  pinAliases: Readonly<Record<string, string>>,
  table: SizeTable = SIZE_TABLE,
): Matched => {
  const diagnostics: Diagnostic[] = []
  const ambiguous = new Map<string, string>()
  const byId = new Map(project.computes.map((compute) => [compute.id, compute]))
  const claimedBy = new Map<string, Slot>()
  const claimOf = new Map<Slot, ObservedCompute>()
  const cost = (slot: Slot, compute: ObservedCompute): number => costOf(slot, compute, table)
  const slotsOn = new Map(branches.map((resolved) => [resolved.branch.id, slotsOf(resolved)]))
  const slots = [...slotsOn.values()].flat()

  const claim = (slot: Slot, compute: ObservedCompute): void => {
    claimedBy.set(compute.id, slot)
    claimOf.set(slot, compute)
  }

  for (const slot of slots) {
    const pin = slot.desired.id
    if (pin === undefined) continue
    const compute = byId.get(pinAliases[pin] ?? pin)
    const rival = compute && claimedBy.get(compute.id)
    if (compute === undefined) {
      diagnostics.push(
        problem(
          'E_PIN_UNKNOWN',
          `Project \`${project.id}\` has no compute \`${pin}\`.`,
          'A deleted compute never comes back under its id, and an apply that was cut short while replacing it ends here as well: correct the pin, or remove it to have a compute created.',
          slot.desired.sources.id ?? slot.desired.source,
        ),
      )
    } else if (rival !== undefined) {
      const { file, line } = rival.desired.source
      diagnostics.push(
        problem(
          'E_TWO_PINS',
          `Compute \`${pin}\` is pinned twice, here and at ${file}:${line}.`,
          'Keep one of the two.',
          slot.desired.sources.id ?? slot.desired.source,
        ),
      )
    } else {
      claim(slot, compute)
    }
  }

  const onBranch = groupByBranch(project.computes)
  for (const resolved of branches) {
    const free = (type: Claim['type']): ObservedCompute[] =>
      (onBranch.get(resolved.branch.id) ?? []).filter((compute) => compute.type === type && !claimedBy.has(compute.id))
    const open = (slotsOn.get(resolved.branch.id) ?? []).filter(({ desired }) => desired.id === undefined)
    for (const slot of open) {
      const [compute] = slot.type === 'read_write' ? free('read_write') : []
      if (compute !== undefined) claim(slot, compute)
    }
    claimByName(open, free('read_only'), { claim, ambiguous, cost })
    adopt(
      resolved,
      open.filter((slot) => slot.type === 'read_only' && !claimOf.has(slot)),
      free('read_only'),
      { claim, ambiguous, diagnostics, cost },
    )
  }

  return {
    claims: slots.map((slot) => {
      const observed = claimOf.get(slot)
      return {
        branch: slot.resolved.branch,
        type: slot.type,
        desired: slot.desired,
        ...(observed === undefined ? {} : { observed }),
      }
    }),
    unclaimed: project.computes.filter(({ id }) => !claimedBy.has(id)).sort((a, b) => compare(a.id, b.id)),
    ambiguous,
    diagnostics,
  }
}

/** Primary first, then replicas by key. */
const slotsOf = (resolved: ResolvedBranch): readonly Slot[] => {
  const { primary, replicas } = resolved.shape
  const slots: Slot[] = []
  if (primary !== undefined && !isAbsence(primary)) slots.push({ resolved, type: 'read_write', desired: primary })
  const sorted = [...replicas].sort((a, b) => compare(a.key ?? '', b.key ?? ''))
  for (const replica of sorted) slots.push({ resolved, type: 'read_only', desired: replica })
  return slots
}

/** What matching fills in as it goes. */
interface Found {
  readonly claim: (slot: Slot, compute: ObservedCompute) => void
  readonly ambiguous: Map<string, string>
  readonly diagnostics: Diagnostic[]
  readonly cost: (slot: Slot, compute: ObservedCompute) => number
}

/** The API does not keep names unique: of several with the declared name the least disruptive is taken. */
const claimByName = (
  open: readonly Slot[],
  free: readonly ObservedCompute[],
  { claim, ambiguous, cost }: Pick<Found, 'claim' | 'ambiguous' | 'cost'>,
): void => {
  const byName = new Map<string, ObservedCompute[]>()
  for (const compute of free) {
    const name = compute.attributes.name
    if (name === undefined) continue
    const namesakes = byName.get(name)
    if (namesakes === undefined) byName.set(name, [compute])
    else namesakes.push(compute)
  }
  for (const slot of open) {
    if (slot.type !== 'read_only') continue
    const namesakes = byName.get(slot.desired.key ?? '') ?? []
    const [best, ...rest] = [...namesakes].sort((a, b) => cost(slot, a) - cost(slot, b) || compare(a.id, b.id))
    if (best === undefined) continue
    claim(slot, best)
    for (const other of rest) {
      ambiguous.set(
        other.id,
        `it has the name of the declared replica \`${slot.desired.key}\`, which ${best.id} has as well`,
      )
    }
  }
}

/**
 * Replicas that are left on both sides. A nameless live one is adopted and named. One with a name is somebody's: it is
 * renamed only where `prune` would delete it otherwise.
 */
const adopt = (
  resolved: ResolvedBranch,
  open: readonly Slot[],
  free: readonly ObservedCompute[],
  found: Found,
): void => {
  const candidates = free
    .filter(({ id, attributes }) => (attributes.name === undefined || resolved.prune) && !found.ambiguous.has(id))
    .sort((a, b) => compare(a.id, b.id))
  if (open.length === 0 || candidates.length === 0) return
  const chosen = assign(open, candidates, {
    cost: found.cost,
    likeRow: ({ desired }) => likeness(desired.attributes),
    likeColumn: likenessOf,
  })
  // As many as can be are paired, even those that do not fit: such a slot gets a new compute.
  const fitting = [...chosen].filter(([slot, compute]) => found.cost(slot, compute) < INFEASIBLE)
  const taken = new Set(fitting.map(([, compute]) => compute))
  const left = groupBy(
    candidates.filter((compute) => !taken.has(compute)),
    likenessOf,
  )
  for (const [slot, compute] of fitting) {
    found.claim(slot, compute)
    found.diagnostics.push(
      warning(
        'W_ADOPTED',
        `Replica \`${slot.desired.key}\` of branch \`${resolved.branch.name}\` is taken to be ${compute.id}, which ${
          compute.attributes.name === undefined ? 'has no name' : `is named \`${compute.attributes.name}\``
        }.`,
        `Pin it with \`id: ${compute.id}\` if that is right, or name the right compute.`,
        slot.desired.source,
      ),
    )
    for (const others of left.values()) {
      const [other] = others
      if (other === undefined || found.cost(slot, other) !== found.cost(slot, compute)) continue
      for (const { id } of others) {
        found.ambiguous.set(id, `it fits the declared replica \`${slot.desired.key}\` as well as ${compute.id} does`)
      }
    }
  }
}

/** Beyond what any number of computes on a branch adds up to in the cost below it. */
const COST: Readonly<Record<Impact, number>> = {
  none: 0,
  'may-restart': 1e4,
  restart: 1e9,
  disconnect: 1e9,
  move: 1e9,
  replace: 1e9,
  delete: 1e9,
}

/** Beyond all restarts of a branch; so many of them as are assigned exactly still add up without loss. */
const INFEASIBLE = 1e13

/**
 * How much a live compute would have to change: what it cannot become weighs most, then restarts, then what may restart,
 * then how much differs.
 */
const costOf = (slot: Slot, compute: ObservedCompute, table: SizeTable): number => {
  const desired = slot.desired.attributes
  const keys = differingKeys(desired, compute.attributes)
  const base = keys.length + (canBecome(desired, compute.attributes, table) ? 0 : INFEASIBLE)
  if (isIdle(compute)) return base
  const impacts = keys.map((key) => rowOf(key).impact(compute.attributes[key], desired[key]))
  return base + COST[worstImpact(impacts)]
}

/** Equal for computes that cost the same to become whatever is declared: all but the name, which no leftover fits. */
const likeness = (attributes: ComputeAttributes): string =>
  JSON.stringify(
    ATTRIBUTE_KEYS.filter((key) => key !== 'name').map((key) => {
      const value = key === 'postgresSettings' ? Object.entries(attributes[key] ?? {}).sort() : attributes[key]
      return value ?? null
    }),
  )

const likenessOf = (compute: ObservedCompute): string => `${isIdle(compute)} ${likeness(compute.attributes)}`

const groupByBranch = (computes: readonly ObservedCompute[]): ReadonlyMap<string, readonly ObservedCompute[]> =>
  groupBy(
    [...computes].sort((a, b) => compare(a.id, b.id)),
    ({ branchId }) => branchId,
  )

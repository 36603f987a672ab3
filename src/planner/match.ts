/** Which live compute each declared one is. */
import { compare, groupBy } from '../base/index.ts'
import {
  type ComputeType,
  type DesiredCompute,
  type Diagnostic,
  differingKeys,
  IMPACTS,
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
import { problem, warning } from './diagnostics.ts'
import { canBecome } from './feasible.ts'
import type { ResolvedBranch } from './resolve.ts'

/** One declared compute and the live one that it claims; without one it is to be created. */
export interface Claim {
  readonly branch: ObservedBranch
  readonly type: ComputeType
  readonly desired: DesiredCompute
  /** Where it is declared: `BRANCH_ID/primary` or `BRANCH_ID/replica/KEY`. */
  readonly slot: string
  readonly observed?: ObservedCompute
}

export interface Matched {
  readonly claims: readonly Claim[]
  /** Claimed by no declaration, sorted by id. */
  readonly unclaimed: readonly ObservedCompute[]
  /** By id of an unclaimed compute that fits a declaration as well as the chosen one does: why prune must not delete it. */
  readonly ambiguous: ReadonlyMap<string, string>
  readonly diagnostics: readonly Diagnostic[]
}

export interface MatchOptions {
  /** Id of a compute that was replaced to the id of its successor. */
  readonly pinAliases?: Readonly<Record<string, string>>
  readonly sizeTable?: SizeTable
}

type Slot = Omit<Claim, 'observed'>

/** No compute may be pinned twice: the manifest's reader refuses that. */
export const match = (
  { id: project, computes }: ObservedProject,
  branches: readonly ResolvedBranch[],
  { pinAliases = {}, sizeTable = SIZE_TABLE }: MatchOptions = {},
): Matched => {
  const diagnostics: Diagnostic[] = []
  const ambiguous = new Map<string, string>()
  const free = new Map([...computes].sort((a, b) => compare(a.id, b.id)).map((compute) => [compute.id, compute]))
  const claimed = new Map<Slot, ObservedCompute>()
  const claim = (slot: Slot, compute: ObservedCompute): void => {
    free.delete(compute.id)
    claimed.set(slot, compute)
  }
  const declared = branches.map((resolved) => ({ ...resolved, slots: slotsOf(resolved) }))
  const slots = declared.flatMap((branch) => branch.slots)

  for (const slot of slots) {
    const { id: pin, sources, source } = slot.desired
    if (pin === undefined) continue
    const compute = free.get(pinAliases[pin] ?? pin)
    if (compute !== undefined) claim(slot, compute)
    else {
      diagnostics.push(
        problem(
          'E_PIN_UNKNOWN',
          `Project \`${project}\` has no compute \`${pin}\`.`,
          'Correct the pin, or remove it to have a compute created. A deleted compute never comes back under its id; an apply that was interrupted while replacing it leads here too.',
          sources.id ?? source,
        ),
      )
    }
  }

  /** Of several with the name the one with the least to change is taken. */
  const claimByName = (open: readonly Slot[], replicas: readonly ObservedCompute[], name: 'key' | 'renamedFrom') => {
    const named = groupBy(replicas, ({ attributes }) => attributes.name)
    const namesakes = ({ desired }: Slot) => (desired[name] === undefined ? [] : (named.get(desired[name]) ?? []))
    for (const { slot, compute } of pairsOf(open, namesakes, sizeTable)) {
      const chosen = claimed.get(slot)
      if (chosen === undefined) claim(slot, compute)
      else ambiguous.set(compute.id, `${chosen.id} has the name of the declared replica \`${slot.desired.key}\` too`)
    }
  }

  /** What is left on both sides, the pair with the least to change first. */
  const adopt = (open: readonly Slot[], replicas: readonly ObservedCompute[]): void => {
    const pairs = pairsOf(open, () => replicas, sizeTable).filter(({ cost }) => cost < INFEASIBLE)
    const costs = new Map<Slot, number>()
    for (const { slot, compute, cost } of pairs) {
      if (claimed.has(slot) || !free.has(compute.id)) continue
      claim(slot, compute)
      costs.set(slot, cost)
      diagnostics.push(adopted(slot, compute))
    }
    for (const { slot, compute, cost } of pairs) {
      if (!free.has(compute.id) || costs.get(slot) !== cost) continue
      const { id } = claimed.get(slot) ?? {}
      ambiguous.set(compute.id, `it fits the declared replica \`${slot.desired.key}\` as well as ${id} does`)
    }
  }

  const freeOn = groupBy([...free.values()], ({ branchId, type }) => `${branchId} ${type}`)
  for (const { branch, slots: own, prune } of declared) {
    const open = own.filter((slot) => !claimed.has(slot) && slot.desired.id === undefined)
    const [first] = open
    const [primary] = freeOn.get(`${branch.id} read_write`) ?? []
    if (first?.type === 'read_write' && primary !== undefined) claim(first, primary)
    const openReplicas = () => open.filter((slot) => slot.type === 'read_only' && !claimed.has(slot))
    const replicas = () =>
      (freeOn.get(`${branch.id} read_only`) ?? []).filter(({ id }) => free.has(id) && !ambiguous.has(id))
    claimByName(openReplicas(), replicas(), 'key')
    claimByName(openReplicas(), replicas(), 'renamedFrom')
    // Somebody chose a name that is not declared: such a replica is renamed only where `prune` would delete it.
    const adoptable = replicas().filter(({ attributes: { name } }) => name === undefined || prune)
    adopt(openReplicas(), adoptable)
  }

  return {
    claims: slots.map((slot) => {
      const observed = claimed.get(slot)
      return observed === undefined ? slot : { ...slot, observed }
    }),
    unclaimed: [...free.values()],
    ambiguous,
    diagnostics,
  }
}

/** Primary first, then replicas by key. */
const slotsOf = ({ branch, shape: { primary, replicas } }: ResolvedBranch): readonly Slot[] => {
  const slots: Slot[] = [...replicas]
    .sort((a, b) => compare(a.key ?? '', b.key ?? ''))
    .map((desired) => ({ branch, type: 'read_only', desired, slot: `${branch.id}/replica/${desired.key}` }))
  if (primary === undefined || isAbsence(primary)) return slots
  return [{ branch, type: 'read_write', desired: primary, slot: `${branch.id}/primary` }, ...slots]
}

interface Pair {
  readonly slot: Slot
  readonly compute: ObservedCompute
  readonly cost: number
}

/** Cheapest first, then active computes, since an idle one costs nothing anywhere; ties stay in the order given. */
const pairsOf = (
  slots: readonly Slot[],
  candidates: (slot: Slot) => readonly ObservedCompute[],
  table: SizeTable,
): readonly Pair[] =>
  slots
    .flatMap((slot) =>
      candidates(slot).map((compute) => ({ slot, compute, cost: costOf(slot.desired, compute, table) })),
    )
    .sort((a, b) => a.cost - b.cost || Number(isIdle(a.compute)) - Number(isIdle(b.compute)))

/** More than any difference that a call can remove. */
const INFEASIBLE = 1_000

/** The worst impact counts most, then how many attributes differ. Nobody is interrupted on an idle compute. */
const costOf = ({ attributes }: DesiredCompute, live: ObservedCompute, table: SizeTable): number => {
  if (!canBecome(attributes, live.attributes, table)) return INFEASIBLE
  const keys = differingKeys(attributes, live.attributes)
  if (isIdle(live)) return keys.length
  const impacts = keys.map((key) => rowOf(key).impact(live.attributes[key], attributes[key]))
  return IMPACTS.indexOf(worstImpact(impacts)) * 100 + keys.length
}

const adopted = ({ desired, branch }: Slot, { id, attributes }: ObservedCompute): Diagnostic =>
  warning(
    'W_ADOPTED',
    `Replica \`${desired.key}\` of branch \`${branch.name}\` is taken to be ${id}, which ${
      attributes.name === undefined ? 'has no name' : `is named \`${attributes.name}\``
    }.`,
    `Pin it with \`id: ${id}\` if that is right, or name the right compute.`,
    desired.source,
  )

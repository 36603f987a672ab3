/** Matches declared computes to live ones. */
import { compare, groupBy } from '../base/index.ts'
import {
  type ComputeAttributes,
  type ComputeType,
  canScaleToZero,
  type DesiredAbsence,
  type DesiredCompute,
  type DesiredShape,
  type Diagnostic,
  differingKeys,
  IMPACTS,
  isAbsence,
  isIdle,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  problem,
  rowOf,
  SCALE_TO_ZERO_NEVER,
  warning,
  worstImpact,
} from '../model/index.ts'
import type { ResolvedBranch } from './resolve.ts'

/** A declared compute and the live compute that it claims. If it claims none, the compute is created. */
export interface Claim {
  readonly branch: ObservedBranch
  readonly type: ComputeType
  readonly desired: DesiredCompute
  /** Position of the declaration: `BRANCH_ID/primary` or `BRANCH_ID/replica/KEY`. */
  readonly slot: string
  readonly observed?: ObservedCompute
}

export interface Matched {
  readonly claims: readonly Claim[]
  /** Live computes that no declaration claims, sorted by id. */
  readonly unclaimed: readonly ObservedCompute[]
  /**
   * Unclaimed computes that match a declaration as well as the compute it claims. Maps the id of each to the reason why
   * `prune` must not delete it.
   */
  readonly ambiguous: ReadonlyMap<string, string>
  readonly diagnostics: readonly Diagnostic[]
}

export interface MatchOptions {
  /** Maps the id of a replaced compute to its successor's. */
  readonly pinAliases?: Readonly<Record<string, string>> | undefined
}

type Slot = Omit<Claim, 'observed'>

const PIN_HINT =
  'Correct the pin, or remove it to create a compute. A deleted compute never returns under its id. An apply that was interrupted during a replacement also causes this.'

/** Assumes that no compute is pinned twice and no replica is renamed twice, which the manifest reader rejects. */
export const match = (
  { id: project, computes }: ObservedProject,
  branches: readonly ResolvedBranch[],
  { pinAliases = {} }: MatchOptions = {},
): Matched => {
  const diagnostics: Diagnostic[] = []
  const ambiguous = new Map<string, string>()
  const free = new Map([...computes].sort((a, b) => compare(a.id, b.id)).map((compute) => [compute.id, compute]))
  const claimed = new Map<Slot, ObservedCompute>()
  const claim = (slot: Slot, compute: ObservedCompute): void => {
    free.delete(compute.id)
    claimed.set(slot, compute)
  }
  const declared = branches.map((resolved) => ({ resolved, own: slotsOf(resolved) }))
  const slots = declared.flatMap(({ own }) => own)

  for (const slot of slots) {
    const { id: pin, sources, source } = slot.desired
    if (pin === undefined) continue
    const compute = free.get(pinAliases[pin] ?? pin)
    if (compute !== undefined) claim(slot, compute)
    else {
      const message = `Project \`${project}\` has no compute \`${pin}\`.`
      diagnostics.push(problem('E_PIN_UNKNOWN', message, PIN_HINT, sources.id ?? source))
    }
  }

  /** Among computes with the same name, claims the one that needs the fewest changes. */
  const claimByName = (open: readonly Slot[], replicas: readonly ObservedCompute[], name: 'key' | 'renamedFrom') => {
    if (open.length === 0 || replicas.length === 0) return
    const named = groupBy(replicas, ({ attributes }) => attributes.name)
    const namesakes = ({ desired }: Slot) => (desired[name] === undefined ? [] : (named.get(desired[name]) ?? []))
    for (const { slot, compute } of pairsOf(open, namesakes)) {
      const chosen = claimed.get(slot)
      if (chosen === undefined) claim(slot, compute)
      else ambiguous.set(compute.id, `${chosen.id} also has the name of the declared replica \`${slot.desired.key}\``)
    }
  }

  /** Pairs the remaining declarations with the remaining computes. Pairs that need the fewest changes come first. */
  const adopt = (open: readonly Slot[], replicas: readonly ObservedCompute[]): void => {
    const pairs = pairsOf(open, () => replicas).filter(({ cost }) => cost < INFEASIBLE)
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
      ambiguous.set(compute.id, `it matches the declared replica \`${slot.desired.key}\` as well as ${id} does`)
    }
  }

  const freeOn = (wanted: ComputeType) =>
    groupBy(
      [...free.values()].filter(({ type }) => type === wanted),
      ({ branchId }) => branchId,
    )
  const [primariesOn, replicasOn] = [freeOn('read_write'), freeOn('read_only')]
  for (const { resolved, own } of declared) {
    const { branch, shape, prune } = resolved
    const open = own.filter((slot) => !claimed.has(slot) && slot.desired.id === undefined)
    const [first] = open
    const [primary] = primariesOn.get(branch.id) ?? []
    if (first?.type === 'read_write' && primary !== undefined) claim(first, primary)
    const openReplicas = () => open.filter((slot) => slot.type === 'read_only' && !claimed.has(slot))
    const replicas = () => (replicasOn.get(branch.id) ?? []).filter(({ id }) => free.has(id) && !ambiguous.has(id))
    claimByName(openReplicas(), replicas(), 'key')
    claimByName(openReplicas(), replicas(), 'renamedFrom')
    // A replica with an undeclared name was named deliberately, so it is renamed only where `prune` would delete it.
    const adoptable = replicas().filter(
      (live) => live.attributes.name === undefined || (prune && absenceOf(live, shape) === undefined),
    )
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

/** The declaration that the live compute must not exist. */
export const absenceOf = (
  { type, attributes: { name } }: ObservedCompute,
  { primary, absentReplicas = [] }: DesiredShape,
): DesiredAbsence | undefined => {
  if (type === 'read_only') return absentReplicas.find(({ key }) => key === name)
  return primary !== undefined && isAbsence(primary) ? primary : undefined
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

/** Lowest cost first, then active computes; ties keep the given order. */
const pairsOf = (slots: readonly Slot[], candidates: (slot: Slot) => readonly ObservedCompute[]): readonly Pair[] =>
  slots
    .flatMap((slot) => candidates(slot).map((compute) => ({ slot, compute, cost: costOf(slot.desired, compute) })))
    .sort((a, b) => a.cost - b.cost || Number(isIdle(a.compute)) - Number(isIdle(b.compute)))

/** Higher than the cost of any difference that an API call can resolve. */
const INFEASIBLE = 1_000

/** The highest impact counts first, then the number of differences. On an idle compute, only the number counts. */
const costOf = ({ attributes }: DesiredCompute, live: ObservedCompute): number => {
  if (!canBecome(attributes, live.attributes)) return INFEASIBLE
  const keys = differingKeys(attributes, live.attributes)
  if (isIdle(live)) return keys.length
  const impacts = keys.map((key) => rowOf(key).impact(live.attributes[key], attributes[key]))
  return IMPACTS.indexOf(worstImpact(impacts)) * 100 + keys.length
}

const adopted = ({ desired, branch }: Slot, { id, attributes: { name } }: ObservedCompute): Diagnostic => {
  const live = name === undefined ? 'has no name' : `is named \`${name}\``
  const message = `Replica \`${desired.key}\` of branch \`${branch.name}\` is matched to ${id}, which ${live}.`
  const hint = `If this is correct, pin it with \`id: ${id}\`. Otherwise pin the right compute.`
  return warning('W_ADOPTED', message, hint, desired.source)
}

/** The service does not allow a compute above 16 CU to scale to zero, so no change may lead to one. */
export const canBecome = (desired: ComputeAttributes, live: ComputeAttributes): boolean => {
  const size = desired.size ?? live.size
  const scaleToZero = desired.scaleToZero ?? live.scaleToZero
  if (size === undefined || canScaleToZero(size) || scaleToZero === SCALE_TO_ZERO_NEVER) return true
  const changed = differingKeys(desired, live)
  return !changed.includes('size') && !changed.includes('scaleToZero')
}

/** From claims to changes: what differs for each compute, and which calls would make it equal, not ordered yet. */
import {
  type AttributeKey,
  type Capacity,
  type Change,
  type ChangeKind,
  differingKeys,
  type Impact,
  isIdle,
  maxConnections,
  type ObservedBranch,
  type ObservedCompute,
  type PlannedCompute,
  type Reason,
  ramGb,
  rowOf,
  type Size,
  type SizeTable,
  type Source,
  worstImpact,
} from '../model/index.ts'
import { attributeChanges, managedKeys } from './attribute-changes.ts'
import type { Claim } from './match.ts'
import {
  createStep,
  type DraftContext,
  deleteStep,
  livePlanned,
  MOVE_RULE,
  patchStep,
  plannedCompute,
  type StepDraft,
} from './steps.ts'

/** A change with its steps, which say nothing yet of other changes. */
export interface Draft {
  readonly change: Change
  readonly steps: readonly StepDraft[]
}

/** The change that a declaration asks for, or `undefined` where nothing differs. */
export const draftClaim = (claim: Claim, context: DraftContext): Draft | undefined => {
  if (claim.observed === undefined) return draftCreate(claim, context)
  if (claim.observed.type !== claim.type) return draftReplace(claim, claim.observed, context)
  const moved = claim.observed.branchId !== claim.branch.id
  const keys = differingKeys(claim.desired.attributes, claim.observed.attributes)
  return moved || keys.length > 0 ? draftUpdate(claim, claim.observed, keys, moved, context) : undefined
}

const draftCreate = (claim: Claim, context: DraftContext): Draft => {
  const id = changeId(claim, context)
  const compute = plannedCompute(claim)
  const change: Change = {
    ...base(claim, 'create', id, compute, context),
    attributes: attributeChanges(claim.desired, managedKeys(claim.desired), {}, false),
    impact: 'none',
    reasons: ['NOT_OBSERVED'],
    ...capacity('after', claim.desired.attributes.size, context.sizeTable),
  }
  return { change, steps: [createStep(claim, `${id}#1`, change, 'NOT_OBSERVED', context)] }
}

const draftReplace = (claim: Claim, live: ObservedCompute, context: DraftContext): Draft => {
  const id = changeId(claim, context)
  const change: Change = {
    ...base(claim, 'replace', id, plannedCompute(claim, live), context),
    attributes: attributeChanges(claim.desired, managedKeys(claim.desired), live.attributes, false),
    impact: 'replace',
    reasons: ['TYPE_DIFFERS'],
    ...capacity('before', live.attributes.size, context.sizeTable),
    ...capacity('after', claim.desired.attributes.size, context.sizeTable),
  }
  const remove = deleteStep(live, `${id}#1`, change, 'TYPE_DIFFERS', context)
  const create = createStep(claim, `${id}#2`, change, 'TYPE_DIFFERS', context, live.settings)
  return {
    change,
    steps: [
      { ...remove, step: { ...remove.step, impact: 'replace', consents: ['replace'] } },
      { ...create, follows: remove.step.id },
    ],
  }
}

const draftUpdate = (
  claim: Claim,
  live: ObservedCompute,
  keys: readonly AttributeKey[],
  moved: boolean,
  context: DraftContext,
): Draft => {
  const id = changeId(claim, context)
  const attributes = attributeChanges(claim.desired, keys, live.attributes, !isIdle(live))
  // The move first: it is the main reason, and the first consent to be asked for.
  const impacts = [...(moved ? (['move'] as const) : []), ...attributes.map((one) => one.impact)]
  const impact = worstImpact(impacts)
  const impactIfAwake = (key: AttributeKey): Impact =>
    rowOf(key).impact(live.attributes[key], claim.desired.attributes[key])
  const awake = worstImpact([impact, ...keys.map(impactIfAwake)])
  const unlessIdle = awake === impact ? {} : { unlessIdle: awake }
  const reasons = [
    ...new Set<Reason>([...(moved ? (['PIN_ELSEWHERE'] as const) : []), ...attributes.map((one) => one.reason)]),
  ]
  const change: Change = {
    ...base(claim, moved ? 'move' : 'update', id, plannedCompute(claim, live), context),
    ...(moved ? { from: context.branchName(live.branchId) } : {}),
    attributes,
    impact,
    ...unlessIdle,
    reasons,
    ...capacity('before', live.attributes.size, context.sizeTable),
    ...capacity('after', claim.desired.attributes.size ?? live.attributes.size, context.sizeTable),
  }
  const telling = moved ? undefined : keys.find((key) => impactIfAwake(key) === awake)
  const rule = telling === undefined ? MOVE_RULE : rowOf(telling).rule
  const step = patchStep(claim, live, { keys, moved, impacts, rule }, change, context)
  return { change, steps: [step] }
}

/** A compute that is to go, because the manifest says that there is none or because nothing claims it. */
export const draftDelete = (
  live: ObservedCompute,
  branch: ObservedBranch,
  reason: 'DECLARED_ABSENT' | 'PRUNED',
  source: Source | undefined,
  context: DraftContext,
): Draft => {
  const id = `${context.project}/${branch.id}/${live.id}`
  const change: Change = {
    id,
    kind: 'delete',
    project: context.project,
    branch: { id: branch.id, name: branch.name },
    compute: livePlanned(live),
    attributes: [],
    impact: 'delete',
    reasons: [reason],
    ...capacity('before', live.attributes.size, context.sizeTable),
    ...(source === undefined ? {} : { source }),
  }
  return { change, steps: [deleteStep(live, `${id}#1`, change, reason, context)] }
}

const base = (claim: Claim, kind: ChangeKind, id: string, compute: PlannedCompute, context: DraftContext) => ({
  id,
  kind,
  project: context.project,
  branch: { id: claim.branch.id, name: claim.branch.name },
  compute,
  source: claim.desired.source,
})

const changeId = (claim: Claim, { project }: DraftContext): string =>
  `${project}/${claim.branch.id}/${claim.type === 'read_write' ? 'primary' : `replica/${claim.desired.key}`}`

const capacityOf = (size: Size, table: SizeTable): Capacity => ({
  size,
  ramGb: ramGb(size.max),
  maxConnections: maxConnections(size, table),
})

const capacity = <K extends 'before' | 'after'>(
  key: K,
  size: Size | undefined,
  table: SizeTable,
): { [P in K]?: Capacity } => (size === undefined ? {} : { [key]: capacityOf(size, table) }) as { [P in K]?: Capacity }

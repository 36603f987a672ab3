/** Turns each claim into a change: its differences from the live state, and the calls that resolve them, unordered. */
import { defined } from '../base/index.ts'
import {
  type AttributeKey,
  type Capacity,
  type Change,
  type ChangeKind,
  differingKeys,
  effectsOf,
  type Impact,
  isIdle,
  maxConnections,
  type ObservedCompute,
  type Reason,
  ramGb,
  rowOf,
  type Size,
  settingsAfter,
  settingsOfCompute,
  worstImpact,
} from '../model/index.ts'
import { attributeChanges, managedKeys } from './attribute-changes.ts'
import type { Departure } from './declarations.ts'
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

/** A change with its steps, built without regard to other changes. */
export interface Draft {
  readonly change: Change
  readonly steps: readonly StepDraft[]
  /** The slot of the claim. Absent if no declaration claims the compute. */
  readonly slot?: string
}

/** @param why phrased as the end of a sentence. */
export const refuse = (draft: Draft, why: string | undefined): Draft =>
  why === undefined || draft.change.refused !== undefined
    ? draft
    : {
        ...draft,
        change: { ...draft.change, refused: why },
        steps: draft.steps.map((one) => ({ ...one, step: { ...one.step, refused: why } })),
      }

/** The change that a declaration requires; `undefined` if nothing differs. */
export const draftClaim = (claim: Claim, context: DraftContext): Draft | undefined => {
  const { observed: live, desired, slot } = claim
  if (live === undefined) return { ...draftNew(claim, context), slot }
  if (live.type !== claim.type) return { ...withEffects(draftNew(claim, context), live, context), slot }
  const keys = differingKeys(desired.attributes, live.attributes)
  const moved = live.branchId !== claim.branch.id
  if (!moved && keys.length === 0) return undefined
  return { ...withEffects(draftPatch(claim, live, keys, context), live, context), slot }
}

const withEffects = ({ change, steps }: Draft, live: ObservedCompute, context: DraftContext): Draft => {
  const isOn = (test: (branch: string) => boolean): boolean => test(live.branchId) || test(change.branch.id)
  const effects = effectsOf({
    change,
    before: settingsOfCompute(live.attributes),
    after: settingsAfter(change, live, context.defaults),
    isImportant: isOn(context.isDefault) || isOn(context.isProtected),
    isDefaultPrimary: live.type === 'read_write' && context.isDefault(live.branchId),
  })
  return { steps, change: { ...change, effects } }
}

/** Creates a compute. A live one of another type is deleted first. */
const draftNew = (claim: Claim, context: DraftContext): Draft => {
  const { desired, observed: live } = claim
  const isNew = live === undefined
  const change: Change = {
    ...changeOf(claim, isNew ? 'create' : 'replace', context),
    attributes: attributeChanges(desired, {
      keys: managedKeys(desired),
      before: live?.attributes ?? {},
      inUse: false,
    }),
    impact: isNew ? 'none' : 'replace',
    reasons: [isNew ? 'NOT_OBSERVED' : 'TYPE_DIFFERS'],
    ...capacities({ before: live?.attributes.size, after: desired.attributes.size }),
  }
  if (isNew) return { change, steps: [createStep(claim, change)] }
  const deletion = deleteStep(live, change, context.branchName(live.branchId), 'replace')
  return { change, steps: [deletion, createStep(claim, change, deletion)] }
}

const draftPatch = (
  claim: Claim,
  live: ObservedCompute,
  keys: readonly AttributeKey[],
  context: DraftContext,
): Draft => {
  const { desired, branch } = claim
  const moved = live.branchId !== branch.id
  const attributes = attributeChanges(desired, { keys, before: live.attributes, inUse: !isIdle(live) })
  // The move comes first: it is the main reason, and the first consent to request.
  const impacts: readonly Impact[] = [...(moved ? ['move' as const] : []), ...attributes.map((one) => one.impact)]
  const reasons: readonly Reason[] = [
    ...(moved ? ['PIN_ELSEWHERE' as const] : []),
    ...(attributes.length > 0 ? ['VALUE_DIFFERS' as const] : []),
  ]
  const impact = worstImpact(impacts)
  const impactIfAwake = (key: AttributeKey): Impact => rowOf(key).impact(live.attributes[key], desired.attributes[key])
  const awake = worstImpact([impact, ...keys.map(impactIfAwake)])
  const change: Change = {
    ...changeOf(claim, moved ? 'move' : 'update', context),
    ...(moved ? { from: context.branchName(live.branchId) } : {}),
    attributes,
    impact,
    ...(awake === impact ? {} : { unlessIdle: awake }),
    reasons,
    ...capacities({ before: live.attributes.size, after: desired.attributes.size ?? live.attributes.size }),
  }
  const decisive = moved ? undefined : keys.find((key) => impactIfAwake(key) === awake)
  const rule = decisive === undefined ? MOVE_RULE : rowOf(decisive).rule
  return { change, steps: [patchStep(claim, live, change, { keys, impacts, rule })] }
}

/** Deletes a compute that the manifest declares absent, or that no declaration claims. */
export const draftDelete = (
  { live, reason, resolved: { branch }, source }: Departure,
  context: DraftContext,
): Draft => {
  const { project } = context
  const change: Change = {
    id: `${project}/${branch.id}/${live.id}`,
    kind: 'delete',
    project,
    branch: { id: branch.id, name: branch.name },
    compute: livePlanned(live),
    attributes: [],
    effects: [],
    impact: 'delete',
    reasons: [reason],
    ...capacities({ before: live.attributes.size }),
    ...defined({ source }),
  }
  return withEffects({ change, steps: [deleteStep(live, change, change.branch, 'delete')] }, live, context)
}

const changeOf = (claim: Claim, kind: ChangeKind, { project }: DraftContext) => ({
  id: `${project}/${claim.slot}`,
  kind,
  project,
  branch: { id: claim.branch.id, name: claim.branch.name },
  compute: plannedCompute(claim, claim.observed),
  effects: [],
  source: claim.desired.source,
})

export const capacityOf = (size: Size): Capacity => ({
  size,
  ramGb: ramGb(size.max),
  maxConnections: maxConnections(size),
})

const capacities = ({
  before,
  after,
}: {
  readonly before?: Size | undefined
  readonly after?: Size | undefined
}): Pick<Change, 'before' | 'after'> => ({
  ...(before && { before: capacityOf(before) }),
  ...(after && { after: capacityOf(after) }),
})

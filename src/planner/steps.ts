/** Builds the API calls that make the changes. They contain only declared values; `apply` adds live settings. */
import { defined } from '../base/index.ts'
import {
  type AttributeKey,
  apiPath,
  attributesToWire,
  type BranchName,
  type Change,
  CONSENT_OF,
  type ComputeAttributes,
  type Consent,
  type Impact,
  isIdle,
  type ObservedCompute,
  type ObservedProject,
  type PlannedCompute,
  type Step,
  type StepWithSlots,
  slotsOfStep,
  type UnmanagedCompute,
} from '../model/index.ts'
import { managedKeys } from './attribute-changes.ts'
import type { Claim } from './match.ts'

/** A step, not yet ordered. */
export interface StepDraft extends StepWithSlots<Omit<Step, 'after'>> {
  /** Id of a step of the same change that must run first. */
  readonly follows?: string
}

export interface DraftContext {
  readonly project: string
  readonly branchName: (id: string) => BranchName
  /** Defaults for new computes. */
  readonly defaults: ComputeAttributes | undefined
  isDefault(branch: string): boolean
  /** Whether the service or a manifest protects the branch. */
  isProtected(branch: string): boolean
}

export const branchNamer = ({ branches }: ObservedProject): DraftContext['branchName'] => {
  const names = new Map(branches.map(({ id, name }) => [id, name]))
  return (id) => ({ id, name: names.get(id) ?? id })
}

export const MOVE_RULE = 'a moved compute keeps its id and host, but serves the data of the other branch'
const DELETE_RULE = 'a deleted compute cannot be restored: a new one has different connection details'
const CREATE_RULE = 'creating a compute interrupts no connections'

type Parts = Pick<Step, 'kind' | 'request' | 'rule' | 'impact' | 'unlessIdle' | 'consents' | 'actions'>

/** @param position the step's position within its change, counted from 1. */
const draftOf = (change: Change, position: number, { kind, request, rule, ...rest }: Parts): StepDraft => {
  const step: StepDraft['step'] = {
    id: `${change.id}#${position}`,
    change: change.id,
    kind,
    project: change.project,
    branch: change.branch,
    compute: change.compute,
    request,
    reason: change.reasons[0] ?? 'NOT_OBSERVED',
    rule,
    ...defined({ source: change.source }),
    ...rest,
  }
  return { step, ...slotsOfStep(step, change.from) }
}

/** @param deletion the deletion of the compute that the new one replaces. */
export const createStep = ({ branch, type, desired }: Claim, change: Change, deletion?: StepDraft): StepDraft => ({
  ...draftOf({ ...change, compute: plannedCompute({ type, desired }) }, deletion === undefined ? 1 : 2, {
    kind: 'create',
    request: {
      method: 'POST',
      path: apiPath(change.project, 'endpoints'),
      body: { endpoint: { branch_id: branch.id, type, ...attributesToWire(desired.attributes, managedKeys(desired)) } },
    },
    rule: CREATE_RULE,
    impact: 'none',
    consents: [],
    actions: ['start_compute'],
  }),
  ...(deletion && { follows: deletion.step.id }),
})

/** Deletes a compute that is no longer wanted, or that is replaced by one with a new host. */
export const deleteStep = (
  live: ObservedCompute,
  change: Change,
  branch: BranchName,
  impact: 'delete' | 'replace',
): StepDraft =>
  draftOf({ ...change, branch, compute: livePlanned(live) }, 1, {
    kind: 'delete',
    request: { method: 'DELETE', path: apiPath(change.project, 'endpoints', live.id) },
    rule: DELETE_RULE,
    impact,
    consents: consentsOf([impact]),
    actions: isIdle(live) ? [] : ['suspend_compute'],
  })

/** One call for all differences, including the branch, so that the compute restarts once. */
export const patchStep = (
  { branch, desired }: Claim,
  live: ObservedCompute,
  change: Change,
  differs: { readonly keys: readonly AttributeKey[]; readonly impacts: readonly Impact[]; readonly rule: string },
): StepDraft => {
  const { keys, impacts, rule } = differs
  const moved = branch.id !== live.branchId
  const attributes = attributesToWire(desired.attributes, keys, { attributes: live.attributes, settings: {} })
  return draftOf(change, 1, {
    kind: moved ? 'move' : 'update',
    request: {
      method: 'PATCH',
      path: apiPath(change.project, 'endpoints', live.id),
      body: { endpoint: { ...(moved ? { branch_id: branch.id } : {}), ...attributes } },
    },
    rule,
    impact: change.impact,
    ...defined({ unlessIdle: change.unlessIdle }),
    consents: consentsOf(impacts),
    actions: keys.length > 0 ? ['apply_config'] : [],
  })
}

/** A move to the empty `branch`, followed by the move to the actual target. */
export const parkingSteps = (
  step: StepDraft['step'],
  branch: BranchName,
): readonly [out: StepDraft['step'], back: StepDraft['step']] => [
  {
    ...step,
    branch,
    kind: 'move',
    request: { ...step.request, body: { endpoint: { branch_id: branch.id } } },
    impact: 'move',
    reason: 'PARKED',
    rule: MOVE_RULE,
    actions: [],
  },
  { ...step, id: `${step.change}#2` },
]

/** A declared compute, as plans show it. */
export const plannedCompute = (
  { type, desired }: Pick<Claim, 'type' | 'desired'>,
  live?: ObservedCompute,
): PlannedCompute => {
  const name = desired.key ?? desired.attributes.name ?? live?.attributes.name
  return { type, ...defined({ name, id: live?.id, host: live?.host, state: live?.state }) }
}

/** A live compute, as plans show it. */
export const livePlanned = ({ type, attributes: { name }, id, host, state }: ObservedCompute): PlannedCompute => ({
  type,
  ...defined({ name }),
  id,
  host,
  state,
})

export const unmanagedCompute = (
  { project, branchName }: Pick<DraftContext, 'project' | 'branchName'>,
  live: ObservedCompute,
): UnmanagedCompute => ({
  project,
  branch: branchName(live.branchId),
  compute: livePlanned(live),
  ...defined({ size: live.attributes.size, disabled: live.attributes.disabled === true ? (true as const) : undefined }),
})

/** In the order of `impacts`, without duplicates. */
const consentsOf = (impacts: readonly Impact[]): readonly Consent[] => [
  ...new Set(impacts.map((impact) => CONSENT_OF[impact]).filter((consent) => consent !== undefined)),
]

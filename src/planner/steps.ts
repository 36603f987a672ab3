/** The calls that carry changes out, each as it will be sent. */
import {
  type AttributeKey,
  apiPath,
  attributesToWire,
  type BranchName,
  type Change,
  CONSENT_OF,
  type Consent,
  type Impact,
  isIdle,
  type ObservedCompute,
  type PlannedCompute,
  type Reason,
  type SizeTable,
  type Step,
  type StepRequest,
  type UnmanagedCompute,
  type WireSettings,
} from '../model/index.ts'
import { managedKeys } from './attribute-changes.ts'
import type { Claim } from './match.ts'

/** A step before it is ordered; `frees` and `fills` are the branches whose primary place it empties or takes. */
export interface StepDraft {
  readonly step: Omit<Step, 'after'>
  readonly frees?: string
  readonly fills?: string
  /** Id of the step of the same change that must come first. */
  readonly follows?: string
}

export interface DraftContext {
  readonly project: string
  readonly sizeTable: SizeTable
  readonly branchName: (id: string) => BranchName
}

export const MOVE_RULE =
  'spec 4.5: a branch change keeps the compute and its host; the data behind it is the other branch’s'
const DELETE_RULE = 'spec 3.2: delete removes the compute; rule 5: a later one has other connection details'
const CREATE_RULE = 'spec 4.3: a new compute interrupts no one'

export const createStep = (
  claim: Claim,
  id: string,
  change: Change,
  reason: Reason,
  context: DraftContext,
  /** Of the compute that it replaces: what nobody declares goes along. */
  settings?: WireSettings,
): StepDraft => ({
  step: {
    ...stepBase(
      { ...change, compute: plannedCompute(claim) },
      id,
      'create',
      {
        method: 'POST',
        path: apiPath(context.project, 'endpoints'),
        body: {
          endpoint: {
            branch_id: claim.branch.id,
            type: claim.type,
            ...(isEmptySettings(settings) ? {} : { settings }),
            ...attributesToWire(claim.desired.attributes, managedKeys(claim.desired), { attributes: {}, settings }),
          },
        },
      },
      reason,
      CREATE_RULE,
    ),
    impact: 'none',
    consents: [],
    actions: ['start_compute'],
  },
  ...(claim.type === 'read_write' ? { fills: claim.branch.id } : {}),
})

const isEmptySettings = (settings: WireSettings = {}): boolean =>
  Object.values(settings).every((part) => typeof part === 'object' && part !== null && Object.keys(part).length === 0)

export const deleteStep = (
  live: ObservedCompute,
  id: string,
  change: Change,
  reason: Reason,
  context: DraftContext,
): StepDraft => ({
  step: {
    ...stepBase(
      { ...change, branch: context.branchName(live.branchId), compute: livePlanned(live) },
      id,
      'delete',
      { method: 'DELETE', path: apiPath(context.project, 'endpoints', live.id) },
      reason,
      DELETE_RULE,
    ),
    impact: 'delete',
    consents: ['delete'],
    actions: isIdle(live) ? [] : ['suspend_compute'],
  },
  ...(live.type === 'read_write' ? { frees: live.branchId } : {}),
})

/** One call for all that differs, the branch included, so that the compute restarts once. */
export const patchStep = (
  { branch, type, desired }: Claim,
  live: ObservedCompute,
  differs: {
    readonly keys: readonly AttributeKey[]
    readonly moved: boolean
    readonly impacts: readonly Impact[]
    readonly rule: string
  },
  change: Change,
  context: DraftContext,
): StepDraft => {
  const { keys, moved, impacts, rule } = differs
  const request: StepRequest = {
    method: 'PATCH',
    path: apiPath(context.project, 'endpoints', live.id),
    body: {
      endpoint: {
        ...(moved ? { branch_id: branch.id } : {}),
        ...attributesToWire(desired.attributes, keys, live),
      },
    },
  }
  const [reason = 'SIZE_DIFFERS'] = change.reasons
  return {
    step: {
      ...stepBase(change, `${change.id}#1`, moved ? 'move' : 'update', request, reason, rule),
      impact: change.impact,
      ...(change.unlessIdle === undefined ? {} : { unlessIdle: change.unlessIdle }),
      consents: consentsOf(impacts),
      actions: keys.length > 0 ? ['apply_config'] : [],
    },
    ...(moved && type === 'read_write' ? { frees: live.branchId, fills: branch.id } : {}),
  }
}

/** A move to the empty `branch` of a compute that a later step moves on. */
export const parkingStep = (
  step: Omit<Step, 'after'>,
  branch: BranchName,
  consents: readonly Consent[],
): Omit<Step, 'after'> => ({
  ...step,
  branch,
  kind: 'move',
  request: { ...step.request, body: { endpoint: { branch_id: branch.id } } },
  impact: 'move',
  consents,
  reason: 'PARKED',
  rule: MOVE_RULE,
  actions: [],
})

const stepBase = (
  change: Change,
  id: string,
  kind: Step['kind'],
  request: StepRequest,
  reason: Reason,
  rule: string,
) => ({
  id,
  change: change.id,
  kind,
  project: change.project,
  branch: change.branch,
  compute: change.compute,
  request,
  reason,
  rule,
  ...(change.source === undefined ? {} : { source: change.source }),
})

/** A declared compute as plans show it. */
export const plannedCompute = (claim: Claim, live?: ObservedCompute): PlannedCompute => {
  const name = claim.desired.key ?? claim.desired.attributes.name ?? live?.attributes.name
  return {
    type: claim.type,
    ...(name === undefined ? {} : { name }),
    ...(live === undefined ? {} : { id: live.id, host: live.host, state: live.state }),
  }
}

/** A live compute as plans show it. */
export const livePlanned = (live: ObservedCompute): PlannedCompute => ({
  type: live.type,
  ...(live.attributes.name === undefined ? {} : { name: live.attributes.name }),
  id: live.id,
  host: live.host,
  state: live.state,
})

export const unmanagedCompute = (project: string, branch: BranchName, live: ObservedCompute): UnmanagedCompute => ({
  project,
  branch,
  compute: livePlanned(live),
  ...(live.attributes.size === undefined ? {} : { size: live.attributes.size }),
})

/** In the order of the impacts, each class once. */
const consentsOf = (impacts: readonly Impact[]): readonly Consent[] => [
  ...new Set(impacts.map((impact) => CONSENT_OF[impact]).filter((consent) => consent !== undefined)),
]

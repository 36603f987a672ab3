/** From claims to changes: what differs for each compute, and which calls would make it equal, not ordered yet. */
import {
  type AttributeChange,
  type AttributeKey,
  attributesToWire,
  type BranchName,
  type Capacity,
  type Change,
  type ChangeKind,
  type ComputeAttributes,
  type Consent,
  type DesiredCompute,
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
  type Step,
  type StepRequest,
  worstImpact,
} from '../model/index.ts'
import type { Claim } from './match.ts'

/** A change with its steps; `frees` and `fills` are the branches whose primary place a step empties or takes. */
export interface Draft {
  readonly change: Change
  readonly steps: readonly StepDraft[]
}

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

const CONSENT_OF: Readonly<Record<Impact, Consent | undefined>> = {
  none: undefined,
  'may-restart': 'restart',
  restart: 'restart',
  disconnect: 'disconnect',
  reconnect: 'move',
  'new-host': 'replace',
  gone: 'delete',
}

const MOVE_RULE = 'spec 4.5: a branch change keeps the compute and its host; the data behind it is the other branch’s'
const DELETE_RULE = 'spec 3.2: delete removes the compute; rule 5: a later one has other connection details'
const CREATE_RULE = 'spec 4.3: a new compute interrupts no one'

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
    attributes: attributeChanges(claim.desired, presentKeys(claim.desired), undefined),
    impact: 'none',
    reasons: ['NOT_OBSERVED'],
    ...capacity('after', claim.desired.attributes.size, context.sizeTable),
  }
  return { change, steps: [createStep(claim, `${id}#1`, change, 'NOT_OBSERVED', CREATE_RULE, context)] }
}

const draftReplace = (claim: Claim, live: ObservedCompute, context: DraftContext): Draft => {
  const id = changeId(claim, context)
  const change: Change = {
    ...base(claim, 'replace', id, plannedCompute(claim, live), context),
    attributes: attributeChanges(claim.desired, presentKeys(claim.desired), live.attributes),
    impact: 'new-host',
    reasons: ['TYPE_DIFFERS'],
    ...capacity('before', live.attributes.size, context.sizeTable),
    ...capacity('after', claim.desired.attributes.size, context.sizeTable),
  }
  const remove = deleteStep(live, `${id}#1`, change, 'TYPE_DIFFERS', context)
  const create = createStep(claim, `${id}#2`, change, 'TYPE_DIFFERS', CREATE_RULE, context)
  return {
    change,
    steps: [
      { ...remove, step: { ...remove.step, impact: 'new-host', consents: ['replace'] } },
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
  const attributes = attributeChanges(claim.desired, keys, live)
  const interrupting = attributes.map(({ impact }) => impact)
  const impact = worstImpact(moved ? [...interrupting, 'reconnect'] : interrupting)
  const awake = worstImpact([
    ...(moved ? (['reconnect'] as const) : []),
    ...keys.map((key) => rowOf(key).impact(live.attributes[key], claim.desired.attributes[key])),
  ])
  const unlessIdle = awake === impact ? {} : { unlessIdle: awake }
  const reasons = [
    ...new Set<Reason>([...(moved ? (['PIN_ELSEWHERE'] as const) : []), ...attributes.map((a) => a.reason)]),
  ]
  const rule = moved ? MOVE_RULE : (worstOf(attributes)?.rule ?? '')
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
  const request: StepRequest = {
    method: 'PATCH',
    path: endpointPath(context.project, live.id),
    body: {
      endpoint: {
        ...(moved ? { branch_id: claim.branch.id } : {}),
        ...attributesToWire(claim.desired.attributes, keys, live.attributes),
      },
    },
  }
  const step: StepDraft = {
    step: {
      ...stepBase(change, `${id}#1`, moved ? 'move' : 'update', request, reasons[0] ?? 'SIZE_DIFFERS', rule),
      impact,
      ...unlessIdle,
      consents: consentsOf(moved ? [...interrupting, 'reconnect'] : interrupting),
      actions: keys.length > 0 ? ['apply_config'] : [],
    },
    ...(moved && claim.type === 'read_write' ? { frees: live.branchId, fills: claim.branch.id } : {}),
  }
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
    impact: 'gone',
    reasons: [reason],
    ...capacity('before', live.attributes.size, context.sizeTable),
    ...(source === undefined ? {} : { source }),
  }
  return { change, steps: [deleteStep(live, `${id}#1`, change, reason, context)] }
}

const createStep = (
  claim: Claim,
  id: string,
  change: Change,
  reason: Reason,
  rule: string,
  context: DraftContext,
): StepDraft => ({
  step: {
    ...stepBase(
      { ...change, compute: plannedCompute(claim) },
      id,
      'create',
      {
        method: 'POST',
        path: `/projects/${context.project}/endpoints`,
        body: {
          endpoint: {
            branch_id: claim.branch.id,
            type: claim.type,
            ...attributesToWire(claim.desired.attributes, presentKeys(claim.desired)),
          },
        },
      },
      reason,
      rule,
    ),
    impact: 'none',
    consents: [],
    actions: ['start_compute'],
  },
  ...(claim.type === 'read_write' ? { fills: claim.branch.id } : {}),
})

const deleteStep = (
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
      { method: 'DELETE', path: endpointPath(context.project, live.id) },
      reason,
      DELETE_RULE,
    ),
    impact: 'gone',
    consents: ['delete'],
    actions: isIdle(live) ? [] : ['suspend_compute'],
  },
  ...(live.type === 'read_write' ? { frees: live.branchId } : {}),
})

/** A move to `branch` of a compute that a later step moves on. */
export const parkingStep = (step: Omit<Step, 'after'>, branch: BranchName): Omit<Step, 'after'> => ({
  ...step,
  branch,
  kind: 'move',
  request: { ...step.request, body: { endpoint: { branch_id: branch.id } } },
  impact: 'reconnect',
  consents: ['move'],
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

const endpointPath = (project: string, id: string): string => `/projects/${project}/endpoints/${id}`

const plannedCompute = (claim: Claim, live?: ObservedCompute): PlannedCompute => {
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

const presentKeys = (desired: DesiredCompute): readonly AttributeKey[] => differingKeys(desired.attributes, {})

const consentsOf = (impacts: readonly Impact[]): readonly Consent[] => [
  ...new Set(impacts.map((impact) => CONSENT_OF[impact]).filter((consent) => consent !== undefined)),
]

const worstOf = (attributes: readonly AttributeChange[]): AttributeChange | undefined => {
  const worst = worstImpact(attributes.map(({ impact }) => impact))
  return attributes.find(({ impact }) => impact === worst)
}

export const capacityOf = (size: Size, table: SizeTable): Capacity => ({
  size,
  ramGb: ramGb(size.max),
  maxConnections: maxConnections(size, table),
})

const capacity = <K extends 'before' | 'after'>(
  key: K,
  size: Size | undefined,
  table: SizeTable,
): { [P in K]?: Capacity } => (size === undefined ? {} : { [key]: capacityOf(size, table) }) as { [P in K]?: Capacity }

/** One entry an attribute, and one a setting: a map is compared entry by entry. */
const attributeChanges = (
  desired: DesiredCompute,
  keys: readonly AttributeKey[],
  live: ObservedCompute | ComputeAttributes | undefined,
): readonly AttributeChange[] => {
  const observed = live !== undefined && 'attributes' in live ? live.attributes : (live ?? {})
  const idle = live === undefined || !('attributes' in live) || isIdle(live)
  return keys.flatMap((key) => {
    const row = rowOf(key)
    const entry = (path: string, before: string | undefined, after: string): AttributeChange => {
      const source = desired.sources[path] ?? desired.sources[row.path]
      return {
        path,
        ...(before === undefined ? {} : { before }),
        after,
        impact: idle ? 'none' : row.impact(observed[key], desired.attributes[key]),
        reason: row.reason,
        rule: row.rule,
        ...(source === undefined ? {} : { source }),
      }
    }
    if (key === 'postgresSettings') {
      const before = observed.postgresSettings ?? {}
      return Object.entries(desired.attributes.postgresSettings ?? {})
        .filter(([name, value]) => before[name] !== value)
        .map(([name, value]) => entry(`${row.path}.${name}`, before[name], value))
    }
    const before = observed[key]
    return [entry(row.path, before === undefined ? undefined : row.format(before), row.format(desired.attributes[key]))]
  })
}

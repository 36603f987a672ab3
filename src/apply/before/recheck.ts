import {
  computeTitle,
  type Moved,
  mergeSettings,
  type ObservedBranch,
  type ObservedCompute,
  type Step,
  type StepRequest,
  settingsOf,
  undeclaredSettings,
} from '../../model/index.ts'
import { type RunContext, readUntil } from '../context.ts'
import { compare, type Endpoint, movedForDelete, unmetBy } from './compare.ts'
import { findInPlace, findOther, type Search } from './find-in-place.ts'

export type Recheck =
  /** Nothing has changed since the plan. `live` is the compute that the request changes. A create has none. */
  | { readonly kind: 'send'; readonly body: StepRequest['body']; readonly live?: ObservedCompute }
  /** Already in effect, through a request of this step whose response was lost or through another client. */
  | { readonly kind: 'in-effect'; readonly compute?: ObservedCompute }
  | MovedRecheck

interface MovedRecheck {
  readonly kind: 'moved'
  readonly moved: readonly Moved[]
  /** The ids of the computes that have changed. */
  readonly ids: readonly string[]
}

/** The new state of a compute that no longer exists. */
export const DELETED = 'deleted'

/** If something seems to have changed, it is read again after these delays. */
const CONFIRM_DELAYS_MS = [250, 1_000]

/** What is known about the effects that this step's own requests may have had. */
export interface Trail extends Search {
  /** Whether a response was lost. If so, a compute found where this step creates one is probably its own. */
  readonly isLost: boolean
}

export const recheck = (step: Step, context: RunContext, trail: Trail): Promise<Recheck> =>
  readUntil(
    () => recheckOnce(step, context, trail),
    (found) => !isDoubtful(step, found, trail),
    CONFIRM_DELAYS_MS,
    context,
  )

type Reading = Pick<RunContext, 'api' | 'expected' | 'clock' | 'abort'>

/** `name old → new`. */
export const movedWords = ({ what, before, after }: Moved): string =>
  after === DELETED ? 'it was deleted' : `${what} ${before} → ${after}`

/** What has changed about a compute and its branch, for a request that is not a step of a plan. Empty if nothing has. */
export const movedCompute = (project: string, id: string, context: Reading): Promise<readonly Moved[]> =>
  readUntil(
    () => movedComputeOnce(project, id, context),
    (moved) => moved.length === 0,
    CONFIRM_DELAYS_MS,
    context,
  )

const movedComputeOnce = async (project: string, id: string, context: Reading): Promise<readonly Moved[]> => {
  const subject = await subjectOf({ project, compute: { id } }, context)
  if (subject.kind === 'moved') return subject.moved
  if (subject.kind === 'gone') return [{ what: 'compute', before: id, after: DELETED }]
  const { before, live } = subject
  const moved = movedForDelete(before, live, false)
  return moved.length > 0 ? named(moved, context) : movedBranches(project, [live.branchId], context)
}

/** Whether a stale read may explain the result. A compute that this step has asked to delete is expected to be gone. */
const isDoubtful = ({ kind }: Step, found: Recheck, { isLost }: Trail): boolean =>
  found.kind === 'moved' || (kind === 'delete' && found.kind === 'in-effect' && !isLost)

const recheckOnce = async (step: Step, context: RunContext, trail: Trail): Promise<Recheck> => {
  const found = await recheckComputes(step, context, trail)
  if (found.kind !== 'send' || found.live === undefined || !reliesOnBranches(step)) return found
  // Read last, right before the request, because nothing else makes the service refuse to act on a renamed branch.
  const { branchId } = found.live
  const target = (context.successorOf(step) ?? step).request.body?.endpoint.branch_id ?? branchId
  const moved = await movedBranches(step.project, [branchId, target], context)
  return moved.length === 0 ? found : { kind: 'moved', moved, ids: [found.live.id] }
}

const recheckComputes = (step: Step, context: RunContext, trail: Trail): Promise<Recheck> => {
  switch (step.kind) {
    case 'create':
      return recheckCreate(step, context, trail)
    case 'delete':
      return recheckDelete(step, context, trail)
    case 'update':
    case 'move':
      return recheckChange(step, context)
  }
}

/** Whether the step is only right for a branch with this name, protection and default flag. */
const reliesOnBranches = ({ kind, request }: Step): boolean =>
  kind === 'delete' || kind === 'move' || request.body?.endpoint.disabled === true

/** What has changed about the branch of the compute, and about the one that the compute or its successor will be on. */
const movedBranches = async (
  project: string,
  ids: readonly string[],
  { api, expected, abort }: Reading,
): Promise<readonly Moved[]> => {
  const live = new Map((await api.listBranches(project, { signal: abort })).map((branch) => [branch.id, branch]))
  return [...new Set(ids)].flatMap((id) => {
    const before = expected.branch(id)
    return before === undefined ? [] : movedBranch(before, live.get(id))
  })
}

const movedBranch = (before: ObservedBranch, live: ObservedBranch | undefined): readonly Moved[] => {
  const { id, name } = before
  if (live === undefined) return [{ what: `branch ${name}`, before: id, after: 'none' }]
  const yesNo = (flag: boolean): string => (flag ? 'yes' : 'no')
  return [
    { what: 'branch name', before: name, after: live.name },
    { what: `${name} is protected:`, before: yesNo(before.isProtected), after: yesNo(live.isProtected) },
    { what: `${name} is the default branch:`, before: yesNo(before.isDefault), after: yesNo(live.isDefault) },
  ].filter((one) => one.before !== one.after)
}

const recheckCreate = async (step: Step, context: RunContext, trail: Trail): Promise<Recheck> => {
  const found = await findInPlace(step, context, trail)
  const request = completeCreate(step, context)
  if (found === undefined) return { kind: 'send', body: request.body }
  if (trail.isLost || unmetBy(found, request, undefined).length === 0) return { kind: 'in-effect', compute: found }
  return taken(step, found)
}

/** The request of a create. A compute that replaces another one keeps the settings of that one which are not declared. */
export const completeCreate = (step: Step, { expected, predecessorOf }: RunContext): StepRequest => {
  const endpoint: Endpoint = step.request.body?.endpoint ?? {}
  const replaced = expected.of(predecessorOf(step)?.compute.id ?? '')
  if (replaced === undefined || replaced.kind === 'made') return step.request
  const kept = undeclaredSettings(settingsOf(replaced.compute), endpoint.settings)
  if (kept === undefined) return step.request
  const settings = mergeSettings(settingsOf(replaced.compute), endpoint.settings ?? {})
  return { ...step.request, body: { endpoint: { ...endpoint, settings } } }
}

const taken = (step: Step, { id, type, attributes: { name } }: ObservedCompute): Recheck => {
  const what = `${computeTitle({ type, name })} on ${step.branch.name}`
  return { kind: 'moved', moved: [{ what, before: 'none', after: id }], ids: [id] }
}

const recheckDelete = async (step: Step, context: RunContext, trail: Trail): Promise<Recheck> => {
  const successor = context.successorOf(step)
  const [subject, place] = await Promise.all([
    subjectOf(step, context),
    successor === undefined ? undefined : findInPlace(successor, context, trail),
  ])
  if (subject.kind === 'moved') return subject
  if (subject.kind === 'gone') return { kind: 'in-effect' }
  const { before, live } = subject
  const moved = movedForDelete(before, live, successor !== undefined)
  if (moved.length > 0) return { kind: 'moved', moved: named(moved, context), ids: [live.id] }
  // The compute must not be deleted if its successor cannot be created.
  if (successor !== undefined && place !== undefined && place.id !== live.id) return taken(successor, place)
  return { kind: 'send', body: undefined, live }
}

const recheckChange = async (step: Step, context: RunContext): Promise<Recheck> => {
  const { request, compute } = step
  const fills = request.body?.endpoint.branch_id !== undefined && compute.type === 'read_write'
  const [subject, primary] = await Promise.all([
    subjectOf(step, context),
    fills ? findOther(step, compute.id, context) : undefined,
  ])
  if (subject.kind === 'moved') return subject
  const { id = '' } = compute
  if (subject.kind === 'gone') {
    return { kind: 'moved', moved: [{ what: 'compute', before: id, after: DELETED }], ids: [id] }
  }
  const { before, live } = subject
  const comparison = compare(request, before, live)
  if (comparison.kind === 'in-effect') return { kind: 'in-effect', compute: live }
  if (comparison.kind === 'moved') return { kind: 'moved', moved: named(comparison.moved, context), ids: [id] }
  if (primary !== undefined) return taken(step, primary)
  return { kind: 'send', body: comparison.body, live }
}

type Subject =
  | { readonly kind: 'live'; readonly before: ObservedCompute; readonly live: ObservedCompute }
  | { readonly kind: 'gone' }
  | MovedRecheck

/** The compute that a step changes. */
const subjectOf = async (
  { project, compute: { id = '' } }: { readonly project: string; readonly compute: { readonly id?: string } },
  { api, expected, abort }: Reading,
): Promise<Subject> => {
  const before = expected.before(id)
  if (before === undefined) {
    const moved = [{ what: 'compute', before: 'not in the snapshot of the plan', after: id }]
    return { kind: 'moved', moved, ids: [id] }
  }
  const live = await api.getCompute(project, id, { signal: abort })
  return live === undefined ? { kind: 'gone' } : { kind: 'live', before, live }
}

/** Replaces the ids of branches with their names. */
const named = (moved: readonly Moved[], { expected }: Pick<RunContext, 'expected'>): readonly Moved[] => {
  const nameOf = (id: string): string => expected.branch(id)?.name ?? id
  return moved.map((one) =>
    one.what === 'branch' ? { ...one, before: nameOf(one.before), after: nameOf(one.after) } : one,
  )
}

/** Runs one step: sends the request, waits for its operations, and checks the result. */
import { ApiError, optionalRead } from '../../api/index.ts'
import { compare, defined, EspalierError } from '../../base/index.ts'
import {
  endedWell,
  type FailureReason,
  type Observation,
  type ObservedCompute,
  type OperationProgress,
  repairOf,
  type Step,
  type StepOutcome,
  type StepStatus,
} from '../../model/index.ts'
import { type Evidence, isAtRest, observe } from '../after/observe.ts'
import { type Unmet, unmetBy } from '../before/compare.ts'
import { findInPlace, findOther } from '../before/find-in-place.ts'
import { completeCreate, movedWords } from '../before/recheck.ts'
import { scheduledStep } from '../before/restart-windows.ts'
import { type RunContext, readUntil } from '../context.ts'
import { toProgress, waitForOperations } from '../wait/operations.ts'
import { startedBy } from '../wait/started-operations.ts'
import { type Sending, type Sent, sendStep } from './send-step.ts'

/** Reads may be stale for a while after an operation has ended. */
const EFFECT_DELAYS_MS = [250, 1_000, 3_000]

/** The state of a running step, which is reported if it fails. */
interface Progress extends Sending {
  computeId: string | undefined
  operations: readonly OperationProgress[]
  accepted: boolean
  /** What shows the effect on connections, once the operations have ended. */
  evidence?: Evidence
}

export const runStep = async (step: Step, context: RunContext): Promise<StepOutcome> => {
  const began = context.clock.now()
  const progress: Progress = { sent: false, computeId: undefined, operations: [], lost: 0, accepted: false }
  const observation = (): Observation | undefined => {
    const { predicted, evidence } = progress
    if (predicted === undefined) return undefined
    return { predicted, ...(evidence === undefined ? { observed: 'unknown' } : observe(evidence)) }
  }
  const end = (status: StepStatus, reason?: FailureReason, message?: string): StepOutcome =>
    defined({
      step: step.id,
      status,
      reason,
      message,
      operations: progress.operations,
      computeId: progress.computeId,
      observation: observation(),
      durationMs: context.clock.now() - began,
    })
  try {
    const sent = await sendStep(step, context, progress)
    switch (sent.kind) {
      case 'stale':
        return { ...end('stale'), ...(await staleStep(step, sent, progress.lost > 0, context)) }
      case 'outside-window':
        return { ...scheduledStep(step, sent.opening), durationMs: context.clock.now() - began }
      case 'not-consented':
        return end(
          'not-allowed',
          'not-consented',
          `Not allowed without --allow ${sent.consent}: ${step.compute.id} was idle when the plan was made, and is in use now.`,
        )
      case 'answered':
      case 'found':
        return await complete(step, sent, context, progress, end)
    }
  } catch (error) {
    if (context.abort?.aborted === true) {
      return end('failed', 'interrupted', 'Interrupted while it was running. To continue, run `espalier apply` again.')
    }
    if (error instanceof ApiError) {
      const sentences = [`${error.message}.`, fateOf(error, progress), error.hint]
      const ended = end('failed', reasonOf(error), sentences.filter(Boolean).join(' '))
      // That a read was rejected does not mean that the request was.
      const isOfRead = error.method === 'GET' || error.code === 'E_READ_BACK'
      return defined({ ...ended, httpStatus: progress.sent && isOfRead ? undefined : error.status })
    }
    // The step ends because the journal cannot be written. A request that was already sent may still take effect.
    if (!(error instanceof EspalierError) || !progress.sent) throw error
    return end(
      'failed',
      'interrupted',
      `${error.message} The request may have taken effect: run \`espalier apply\` again.`,
    )
  }
}

/** Completes a step whose request was accepted: waits for its operations and checks the result. */
const complete = async (
  step: Step,
  sent: Extract<Sent, { kind: 'answered' | 'found' }>,
  context: RunContext,
  progress: Progress,
  end: (status: StepStatus, reason?: FailureReason, message?: string) => StepOutcome,
): Promise<StepOutcome> => {
  const { expected, api } = context
  progress.accepted = sent.kind === 'answered' || sent.lostAt !== undefined
  const started = await startedBy(step, sent, context)
  progress.computeId = started.computeId
  progress.operations = started.operations.map(toProgress)
  expected.started(started.operations)
  if (step.kind === 'create' && started.computeId !== undefined) expected.made(started.computeId)
  const waited = await waitForOperations(
    started.operations,
    {
      api,
      clock: context.clock,
      project: step.project,
      timeoutMs: context.operationTimeoutMs,
      timings: context.timings,
      signal: context.abort,
      onProgress: (operation) => context.record({ type: 'operation', step: step.id, operation }),
    },
    () => read(started.computeId, step, context),
  )
  progress.operations = waited.operations
  if (!waited.ok) {
    const live = await optionalRead(read(started.computeId, step, context))
    const bad = waited.operations.filter((operation) => !endedWell(operation))
    const [repair] = live === undefined ? [] : bad.flatMap(({ action }) => repairOf(live, action) ?? [])
    const isOver = waited.reason === 'operation-failed'
    return { ...end('failed', waited.reason, waited.message), ...(isOver && defined({ repair })) }
  }
  const { verified } = waited
  // The read is concurrent with the list of operations, so the compute may have been changing still.
  const isFinal = verified !== undefined && (verified.value === undefined || isAtRest(verified.value))
  const isProven = isFinal && unmet(step, verified.value, context).length === 0
  const { live: after, missing } = isProven
    ? { live: verified.value, missing: [] }
    : await effect(step, started.computeId, context)
  if (missing.length > 0) return end('failed', 'not-effective', notEffective(missing, progress))
  const twin = step.kind === 'create' ? await findTwin(step, started.computeId, context, progress) : undefined
  const own = twin && (await read(started.computeId, step, context))
  if (twin !== undefined && own !== undefined)
    return end('failed', 'apply-failed', createdTwice(step, own, twin, progress))
  expected.done(step)
  if (!progress.accepted) delete progress.predicted
  else if (step.kind !== 'delete') {
    const lost = progress.lost > 0 ? 'sent again' : sent.kind === 'found' ? 'yes' : 'no'
    const { before } = progress
    const own = started.operations.map(({ id }) => id)
    const updateDueAt = expected.updateDue(step.project, context.clock)
    progress.evidence = { before, after, own, listed: waited.listed ?? started.listed, lost, updateDue: updateDueAt }
  }
  return progress.accepted ? end('done') : end('done', undefined, alreadyDone(step, started.computeId))
}

const alreadyDone = ({ kind }: Step, id: string | undefined): string => {
  if (kind === 'delete') return 'Nothing was sent: the compute was already deleted.'
  return kind === 'create'
    ? `Nothing was sent: ${id} already exists, as declared.`
    : 'Nothing was sent: the compute is already as declared.'
}

/** Another compute in the place of the created one. Only a lost request can have made one that is not listed yet. */
const findTwin = (
  step: Step,
  id: string | undefined,
  context: RunContext,
  { lost }: Progress,
): Promise<ObservedCompute | undefined> =>
  lost > 0 ? findInPlace(step, context, { others: new Set() }) : findOther(step, id, context)

/** Every run that sees both computes names the same one, so that not both are deleted. */
const createdTwice = ({ project }: Step, own: ObservedCompute, twin: ObservedCompute, { lost }: Progress): string => {
  const [older, newer] = compareCreated(own, twin) < 0 ? [own, twin] : [twin, own]
  const cause =
    lost > 0
      ? 'The request whose response was lost took effect after all'
      : 'Another client created the same compute at the same time'
  return `${cause}: both ${older.id} and ${newer.id} exist. Neither was deleted. If ${newer.id}, the newer one, is not in use, run \`espalier compute delete ${newer.id} --project ${project}\`, then \`espalier apply\` again. On a protected branch, remove the protection first.`
}

const compareCreated = (one: ObservedCompute, other: ObservedCompute): number =>
  compare(one.createdAt ?? '', other.createdAt ?? '') || compare(one.id, other.id)

/** The message if a change is not in effect. The account's plan may limit sizes and scale to zero. */
const notEffective = (missing: readonly Unmet[], { accepted }: Progress): string => {
  const isLimit = missing.some(({ path, got }) => got !== undefined && (path === 'size' || path === 'scaleToZero'))
  const words = missing.map((one) => one.words).join('; ')
  if (!accepted) return `Nothing was sent, because the change seemed to be in effect already, but it is not: ${words}.`
  return `The control API accepted the request, but the change did not take effect: ${words}.${isLimit ? " The account's plan may not allow it." : ''}`
}

const reasonOf = ({ status }: ApiError): FailureReason => {
  if (status === 401 || status === 403) return 'auth'
  if (status === 423) return 'project-busy'
  if (status === 429) return 'rate-limited'
  return 'apply-failed'
}

/** What is known about the effect of a failed step. */
const fateOf = ({ code }: ApiError, { accepted, lost }: Progress): string | undefined => {
  if (code === 'E_READ_BACK') return undefined
  if (accepted) return 'The request was accepted, but its result could not be read.'
  if (lost > 0)
    return `The request was sent ${lost === 1 ? 'once' : `${lost} times`}, and the project does not show its effect.`
  return 'Nothing was changed by this step.'
}

const read = async (
  id: string | undefined,
  { project }: Step,
  { api, abort }: RunContext,
): Promise<ObservedCompute | undefined> =>
  id === undefined ? undefined : api.getCompute(project, id, { signal: abort })

/** Reads the compute, and the requested values that it does not show even after several reads. */
const effect = (step: Step, computeId: string | undefined, context: RunContext) =>
  readUntil(
    async () => {
      const live = await read(computeId, step, context)
      return { live, missing: unmet(step, live, context) }
    },
    ({ missing }) => missing.length === 0,
    EFFECT_DELAYS_MS,
    context,
  )

const unmet = (step: Step, live: ObservedCompute | undefined, context: RunContext): readonly Unmet[] => {
  const because = (words: string): readonly Unmet[] => [{ path: 'compute', got: undefined, words }]
  if (step.kind === 'delete') {
    return live === undefined ? [] : because('the compute still exists')
  }
  if (live !== undefined) {
    const missing = unmetBy(live, step.request, context.expected.before(step.compute.id))
    if (missing.length > 0 || step.kind !== 'create') return missing
    // The values that the new compute keeps from the old one may be secret.
    const kept = unmetBy(live, completeCreate(step, context), undefined)
    return kept.length === 0 ? [] : because('settings that are not declared were not kept')
  }
  return because(step.kind === 'create' ? 'the branch has no such compute' : 'the compute no longer exists')
}

// The outcome of a step that was not sent because something that it relies on has changed.

/** @param wasLost whether the response to an earlier request was lost, so the change may be the step's own. */
const staleStep = async (
  step: Step,
  { moved, ids }: Extract<Sent, { kind: 'stale' }>,
  wasLost: boolean,
  context: RunContext,
): Promise<Pick<StepOutcome, 'reason' | 'message' | 'moved' | 'movedBy'>> => {
  const movedBy = await latestOperation(step, ids, context)
  const by =
    movedBy === undefined ? '' : ` Its latest operation is ${movedBy.action} ${movedBy.id} (${movedBy.status}).`
  const fate = wasLost
    ? 'A request of this step was sent before, but its response was lost.'
    : 'Nothing was changed by this step.'
  return defined({
    reason: 'changed-meanwhile',
    message: `${step.compute.id ?? step.branch.name} has changed since the plan was made: ${moved.map(movedWords).join('; ')}.${by} ${fate}`,
    moved,
    movedBy,
  } as const)
}

/** The latest operation that another client started on one of these computes. Used only to explain the outcome. */
const latestOperation = async (
  { project }: Step,
  ids: readonly string[],
  { api, expected, abort }: RunContext,
): Promise<OperationProgress | undefined> => {
  try {
    const { operations } = await api.listOperations(project, { limit: 20 }, { signal: abort })
    const latest = operations.find((one) => ids.includes(one.endpointId ?? '') && !expected.isOwn(one))
    return latest === undefined ? undefined : toProgress(latest)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

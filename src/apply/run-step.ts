/** One step: the call, its operations, and a look at what came of it. */
import { ApiError, type Mutation, type Operation, type WriteApi } from '../api/index.ts'
import {
  type ApplyEvent,
  type Clock,
  EspalierError,
  type FailureReason,
  type ObservedCompute,
  type OperationProgress,
  type Step,
  type StepOutcome,
  type StepStatus,
} from '../model/index.ts'
import { lookForCreated, type Search, twinOf } from './lost-create.ts'
import { isUnfinished, toProgress, waitForOperations } from './operations.ts'
import type { Timings } from './timings.ts'
import { notInEffect } from './verify.ts'

/** An event without its time. */
export type Happening = ApplyEvent extends infer Event
  ? Event extends ApplyEvent
    ? Omit<Event, 'time'>
    : never
  : never

export interface StepContext {
  readonly api: WriteApi
  readonly clock: Clock
  readonly operationTimeoutMs: number
  /** What was live before the run, and what the run made (`undefined`): a lost create made none of these. */
  readonly known: Map<string, ObservedCompute | undefined>
  readonly timings: Timings
  readonly abort: AbortSignal | undefined
  /** For what is about to be done: rejects where it cannot be recorded, and then it is not done. */
  readonly emit: (event: Happening) => Promise<void>
  /** For what has happened already. */
  readonly record: (event: Happening) => Promise<void>
}

const RESENDS = 3
/** What a lost request did may take a while to show, so it is looked for again and again before another one is sent. */
const READ_BACK_DELAYS_MS = [1_000, 2_000, 4_000]
/** A second update or delete does no harm, a second create makes a second compute: half a minute is the smaller evil. */
const LONG_READ_BACK_DELAYS_MS = [...READ_BACK_DELAYS_MS, 8_000, 15_000]
/** A read may lag behind the operation's end. */
const EFFECT_DELAYS_MS = [250, 1_000, 3_000]

/** What is known of a step while it runs, so that a failure can tell it too. */
interface Progress {
  /** Whether a request went out that may have taken effect. */
  sent: boolean
  computeId: string | undefined
  operations: readonly OperationProgress[]
  /** Requests whose answers were lost, and that did not show to have taken effect. */
  lost: number
  accepted: boolean
}

export const runStep = async (step: Step, context: StepContext): Promise<StepOutcome> => {
  const started = context.clock.now()
  const progress: Progress = { sent: false, computeId: undefined, operations: [], lost: 0, accepted: false }
  const end = (status: StepStatus, reason?: FailureReason, message?: string): StepOutcome => ({
    step: step.id,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    operations: progress.operations,
    ...(progress.computeId === undefined ? {} : { computeId: progress.computeId }),
    durationMs: context.clock.now() - started,
  })
  try {
    const answer = await sendOnce(step, context, progress)
    progress.accepted = true
    progress.computeId = answer.compute?.id ?? step.compute.id
    progress.operations = answer.operations.map(toProgress)
    if (step.kind === 'create' && progress.computeId !== undefined) context.known.set(progress.computeId, undefined)
    const waited = await waitForOperations(answer.operations, {
      api: context.api,
      clock: context.clock,
      project: step.project,
      timeoutMs: context.operationTimeoutMs,
      timings: context.timings,
      signal: context.abort,
      beside: () => current(progress.computeId, step, context),
      onProgress: (operation) => context.record({ type: 'operation', step: step.id, operation }),
    })
    progress.operations = waited.operations
    if (!waited.ok) return end('failed', waited.reason, waited.message)
    const { beside } = waited
    const isProven = beside !== undefined && lacking(step, beside.value).length === 0
    const missing = isProven ? [] : await effect(step, progress.computeId, context)
    if (missing.length === 0) {
      const twin = progress.lost > 0 && step.kind === 'create' ? await twinOf(step, context) : undefined
      return twin === undefined ? end('done') : end('failed', 'apply-failed', madeTwice(step, twin, progress.computeId))
    }
    return end(
      'failed',
      'not-effective',
      `The control API accepted the request, but it is not in effect: ${missing.join('; ')}. The account's plan may not allow it.`,
    )
  } catch (error) {
    if (context.abort?.aborted === true) {
      return end(
        'failed',
        'interrupted',
        'Interrupted while it was under way: run `espalier apply` again to see it through.',
      )
    }
    if (error instanceof ApiError) {
      const sentences = [`${error.message}.`, fateOf(error, progress), error.hint]
      return end('failed', reasonOf(error), sentences.filter(Boolean).join(' '))
    }
    // A record that cannot be kept ends the step; where a request is out, it may have taken effect all the same.
    if (!(error instanceof EspalierError) || !progress.sent) throw error
    return end(
      'failed',
      'interrupted',
      `${error.message} The request may have taken effect: run \`espalier apply\` again.`,
    )
  }
}

const madeTwice = (step: Step, twin: ObservedCompute, computeId: string | undefined): string =>
  `The request whose answer was lost took effect after all: ${twin.id} is there beside ${computeId}, and both are what was asked for. Neither was deleted: find out which one is in use, run \`espalier compute delete ID --project ${step.project}\` for the other, then \`espalier apply\` again.`

const reasonOf = ({ status }: ApiError): FailureReason => {
  if (status === 401 || status === 403) return 'auth'
  if (status === 423) return 'project-busy'
  if (status === 429) return 'rate-limited'
  return 'apply-failed'
}

/** What the step has changed, as far as it is known. */
const fateOf = ({ code }: ApiError, { accepted, lost }: Progress): string | undefined => {
  if (code === 'E_READ_BACK') return undefined
  if (accepted) return 'The request itself was accepted; what came of it could not be read.'
  if (lost > 0)
    return `It was sent and looked for ${lost === 1 ? 'once' : `${lost} times`}: the project shows nothing of it.`
  return 'Nothing was changed by this step.'
}

/** Carries what reading back found out of a call that is thereby not made. */
class Recovered extends Error {
  readonly mutation: Mutation

  constructor(mutation: Mutation) {
    super('recovered')
    this.mutation = mutation
  }
}

/**
 * Sends. Once an answer was lost, what became of the request is read back before every further one, those that follow a
 * wait for a lock included: a create is never repeated blindly.
 */
const sendOnce = async (step: Step, context: StepContext, progress: Progress): Promise<Mutation> => {
  let lostAnswer: ApiError | undefined
  const search: Search = { others: new Set() }
  let sentAt = 0
  const beforeEach = async (attempt: number): Promise<void> => {
    const found = lostAnswer === undefined ? undefined : await readBack(step, context, lostAnswer, search)
    if (found !== undefined) throw new Recovered(found)
    const { method, path } = step.request
    await context.emit({ type: 'call', step: step.id, method, path, attempt })
    progress.sent = true
    sentAt = context.clock.now()
  }
  for (let sends = 0; ; sends += 1) {
    try {
      const answer = await context.api.send(step.request, {
        signal: context.abort,
        onAttempt: (attempt) => beforeEach(sends + attempt),
        onWait: (wait) => context.record({ type: 'wait', step: step.id, ...wait }),
      })
      context.timings.sawRoundTrip(context.clock.now() - sentAt)
      return answer
    } catch (error) {
      if (error instanceof Recovered) return error.mutation
      if (!(error instanceof ApiError)) throw error
      if (step.kind === 'delete' && error.status === 404) return { operations: [] }
      if (!error.ambiguous) {
        // The lost request may be what this one was refused for: a branch has one primary.
        const made = lostAnswer === undefined ? undefined : await readBack(step, context, lostAnswer, search)
        if (made !== undefined) return made
        throw error
      }
      lostAnswer = error
      const message = `looking whether the request took effect, since its answer was lost: ${error.message}`
      for (const delayMs of step.kind === 'create' ? LONG_READ_BACK_DELAYS_MS : READ_BACK_DELAYS_MS) {
        await context.record({ type: 'wait', step: step.id, why: 'reading-back', message, delayMs })
        await context.clock.sleep(delayMs, context.abort)
        const shown = await readBack(step, context, error, search)
        if (shown !== undefined) return shown
      }
      progress.lost += 1
      if (sends >= RESENDS) throw error
    }
  }
}

/**
 * What the lost request did, or `undefined` where it did nothing.
 *
 * @throws {ApiError} that tells of the lost request where it cannot be read.
 */
const readBack = async (
  step: Step,
  context: StepContext,
  lostAnswer: ApiError,
  search: Search,
): Promise<Mutation | undefined> => {
  try {
    return await lookFor(step, context, search)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { method, path } = lostAnswer
    const message = `${lostAnswer.message} Whether it took effect could not be read: ${error.message}`
    throw new ApiError('E_READ_BACK', message, {
      method,
      path,
      ...(error.status === undefined ? {} : { status: error.status }),
    })
  }
}

const lookFor = async (step: Step, context: StepContext, search: Search): Promise<Mutation | undefined> => {
  const compute =
    step.kind === 'create' ? await lookForCreated(step, context, search) : await current(step.compute.id, step, context)
  if (step.kind === 'delete') {
    return compute === undefined ? { operations: await unfinished(step.compute.id, step, context) } : undefined
  }
  if (compute === undefined || (step.kind !== 'create' && notInEffect(step.request, compute).length > 0))
    return undefined
  return { compute, operations: await underWay(compute, step, context) }
}

/** What a change that nobody was told of started. The list may lag behind: then the compute alone tells of it. */
const underWay = async (compute: ObservedCompute, step: Step, context: StepContext): Promise<readonly Operation[]> => {
  let live: ObservedCompute | undefined = compute
  for (const delayMs of LONG_READ_BACK_DELAYS_MS) {
    const operations = await unfinished(compute.id, step, context)
    if (operations.length > 0 || live?.pendingState === undefined) return operations
    await context.clock.sleep(delayMs, context.abort)
    live = await current(compute.id, step, context)
  }
  return []
}

const current = (
  id: string | undefined,
  step: Step,
  { api, abort }: StepContext,
): Promise<ObservedCompute | undefined> =>
  id === undefined ? Promise.resolve(undefined) : api.getCompute(step.project, id, { signal: abort })

const unfinished = async (
  id: string | undefined,
  step: Step,
  { api, abort }: StepContext,
): Promise<readonly Operation[]> => {
  const { operations } = await api.listOperations(step.project, { limit: 100 }, { signal: abort })
  return operations.filter((operation) => operation.endpointId === id && isUnfinished(operation))
}

/** What the request asked for and a fresh read does not show. */
const effect = async (step: Step, computeId: string | undefined, context: StepContext): Promise<readonly string[]> => {
  for (let round = 0; ; round += 1) {
    const missing = lacking(step, await current(computeId, step, context), context.known.get(computeId ?? ''))
    const delay = EFFECT_DELAYS_MS[round]
    if (missing.length === 0 || delay === undefined) return missing
    await context.clock.sleep(delay, context.abort)
  }
}

const lacking = (step: Step, live: ObservedCompute | undefined, before?: ObservedCompute): readonly string[] => {
  if (step.kind === 'delete') return live === undefined ? [] : ['asked for it to be gone, and it is still there']
  return live === undefined ? ['the compute is gone'] : notInEffect(step.request, live, before)
}

/** One step: the call, its operations, and a look at what came of it. */
import { ApiError, type Mutation, type Operation, type WriteApi } from '../api/index.ts'
import type { ApplyEvent, Clock, FailureReason, ObservedCompute, Step, StepOutcome } from '../model/index.ts'
import { isUnfinished, waitForOperations } from './operations.ts'
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
  /** Ids that were live before the run, or that it made: a lost create made none of these. */
  readonly known: Set<string>
  readonly abort: AbortSignal | undefined
  /** For what is about to be done: rejects where it cannot be recorded, and then it is not done. */
  readonly emit: (event: Happening) => Promise<void>
  /** For what has happened already. */
  readonly record: (event: Happening) => Promise<void>
}

const RESENDS = 3
/** A read may lag behind the operation's end. */
const EFFECT_DELAYS_MS = [250, 1_000, 3_000]

export const runStep = async (step: Step, context: StepContext): Promise<StepOutcome> => {
  const started = context.clock.now()
  const end = (
    outcome: Omit<StepOutcome, 'step' | 'durationMs' | 'operations'> & Partial<StepOutcome>,
  ): StepOutcome => ({
    operations: [],
    ...outcome,
    step: step.id,
    durationMs: context.clock.now() - started,
  })
  try {
    const answer = await sendOnce(step, context)
    const computeId = answer.compute?.id ?? step.compute.id
    if (answer.compute !== undefined) context.known.add(answer.compute.id)
    const made = computeId === undefined ? {} : { computeId }
    const waited = await waitForOperations(answer.operations, {
      api: context.api,
      clock: context.clock,
      project: step.project,
      timeoutMs: context.operationTimeoutMs,
      signal: context.abort,
      onProgress: (operation) => context.record({ type: 'operation', step: step.id, operation }),
    })
    if (!waited.ok) return end({ status: 'failed', ...made, ...pick(waited) })
    const missing = await effect(step, computeId, context)
    if (missing.length > 0) {
      return end({
        status: 'failed',
        reason: 'not-effective',
        message: `The control API accepted the request, but it is not in effect: ${missing.join('; ')}. The account's plan may not allow it.`,
        operations: waited.operations,
        ...made,
      })
    }
    return end({ status: 'done', operations: waited.operations, ...made })
  } catch (error) {
    if (context.abort?.aborted === true) {
      return end({
        status: 'failed',
        reason: 'interrupted',
        message: 'Interrupted while it was under way: run `espalier apply` again to see it through.',
      })
    }
    if (!(error instanceof ApiError)) throw error
    return end({
      status: 'failed',
      reason: reasonOf(error),
      message: [error.message, error.hint].filter(Boolean).join(' '),
    })
  }
}

const pick = ({
  reason,
  message,
  operations,
}: Pick<StepOutcome, 'operations'> & { reason: FailureReason; message: string }) => ({
  reason,
  message,
  operations,
})

const reasonOf = ({ status }: ApiError): FailureReason => {
  if (status === 401 || status === 403) return 'auth'
  if (status === 423) return 'project-busy'
  if (status === 429) return 'rate-limited'
  return 'apply-failed'
}

/** Sends, and where no answer came reads back what became of it before it is sent again. */
const sendOnce = async (step: Step, context: StepContext): Promise<Mutation> => {
  for (let resend = 0; ; resend += 1) {
    try {
      return await context.api.send(step.request, {
        signal: context.abort,
        onAttempt: (attempt) =>
          context.emit({
            type: 'call',
            step: step.id,
            method: step.request.method,
            path: step.request.path,
            attempt: resend + attempt,
          }),
        onWait: (wait) => context.record({ type: 'wait', step: step.id, ...wait }),
      })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (step.kind === 'delete' && error.status === 404) return { operations: [] }
      if (!error.ambiguous || resend >= RESENDS) throw error
      await context.record({ type: 'wait', step: step.id, why: 'reading-back', message: error.message, delayMs: 0 })
      const found = await readBack(step, context)
      if (found !== undefined) return found
    }
  }
}

/** What the lost request did, or `undefined` where it did nothing. */
const readBack = async (step: Step, context: StepContext): Promise<Mutation | undefined> => {
  const compute =
    step.kind === 'create' ? await findCreated(step, context) : await current(step.compute.id, step, context)
  if (step.kind === 'delete') {
    return compute === undefined ? { operations: await unfinished(step.compute.id, step, context) } : undefined
  }
  if (compute === undefined || (step.kind !== 'create' && notInEffect(step.request, compute).length > 0))
    return undefined
  return { compute, operations: await unfinished(compute.id, step, context) }
}

/** A compute that was not there before, of the branch, type and name that were asked for. */
const findCreated = async (step: Step, { api, known }: StepContext): Promise<ObservedCompute | undefined> => {
  const asked = step.request.body?.endpoint
  const computes = await api.listComputes(step.project)
  return computes.find(
    (compute) =>
      !known.has(compute.id) &&
      compute.branchId === asked?.branch_id &&
      compute.type === asked.type &&
      compute.attributes.name === asked.name,
  )
}

const current = (
  id: string | undefined,
  step: Step,
  { api, abort }: StepContext,
): Promise<ObservedCompute | undefined> =>
  id === undefined ? Promise.resolve(undefined) : api.getCompute(step.project, id, { signal: abort })

const unfinished = async (id: string | undefined, step: Step, { api }: StepContext): Promise<readonly Operation[]> => {
  const { operations } = await api.listOperations(step.project, { limit: 100 })
  return operations.filter((operation) => operation.endpointId === id && isUnfinished(operation))
}

/** What the request asked for and a fresh read does not show. */
const effect = async (step: Step, computeId: string | undefined, context: StepContext): Promise<readonly string[]> => {
  for (let round = 0; ; round += 1) {
    const missing = lacking(step, await current(computeId, step, context))
    const delay = EFFECT_DELAYS_MS[round]
    if (missing.length === 0 || delay === undefined) return missing
    await context.clock.sleep(delay, context.abort)
  }
}

const lacking = (step: Step, live: ObservedCompute | undefined): readonly string[] => {
  if (step.kind === 'delete') return live === undefined ? [] : ['asked for it to be gone, and it is still there']
  return live === undefined ? ['the compute is gone'] : notInEffect(step.request, live)
}

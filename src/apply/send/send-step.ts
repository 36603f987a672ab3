/**
 * Sends the request of a step, so that it takes effect once. The step is assessed again before each attempt, and
 * whenever a response was lost.
 */
import { ApiError, type Mutation, type Turn } from '../../api/index.ts'
import { defined } from '../../base/index.ts'
import {
  CONSENT_OF,
  type Impact,
  isIdle,
  type Moved,
  type ObservedCompute,
  type Step,
  type StepRequest,
} from '../../model/index.ts'
import type { Opening } from '../../model/window-opening.ts'
import { type Recheck, recheck, type Trail } from '../before/recheck.ts'
import type { RunContext } from '../context.ts'

export type Sent =
  /** The control API has responded to the request sent at `at`, by the service's clock. */
  | { readonly kind: 'answered'; readonly mutation: Mutation; readonly at: number }
  /** The change took effect without a response, through the request sent at `lostAt` or through another client. */
  | { readonly kind: 'found'; readonly compute?: ObservedCompute; readonly lostAt?: number }
  | { readonly kind: 'stale'; readonly moved: readonly Moved[]; readonly ids: readonly string[] }
  | { readonly kind: 'outside-window'; readonly opening: Opening }
  | { readonly kind: 'not-consented'; readonly consent: string }

/** The state of a request that is being sent, which is reported if it fails. */
export interface Sending {
  /** Whether a request that may have taken effect was sent. */
  sent: boolean
  /** The compute right before the last request, and the impact that was predicted for this state. */
  before?: ObservedCompute
  predicted?: Impact
  /** The number of requests whose responses were lost and whose effects have not been seen. */
  lost: number
}

const RESENDS = 3
/** The effect of a lost request may take a while to show. It is read after each of these delays before a repetition. */
const READ_BACK_DELAYS_MS = [1_000, 2_000, 4_000]
/**
 * The delays before a create is repeated, half a minute in total. Repeating an update or a delete does no harm, but
 * repeating a create makes a second compute.
 */
export const LONG_READ_BACK_DELAYS_MS = [...READ_BACK_DELAYS_MS, 8_000, 15_000]
/** The statuses of rejections that may be caused by a change that another client made right before the request. */
const MAY_BE_STALE = new Set([400, 404, 409, 412, 422])

export const sendStep = async (step: Step, context: RunContext, sending: Sending): Promise<Sent> => {
  const others = new Set<string>()
  let lost: { readonly error: ApiError; readonly at: number } | undefined
  let [sentAt, at] = [0, 0]
  let attempts = 0
  let isOverridden = false

  const recheckNow = (): Promise<Recheck> => {
    const trail: Trail = { others, isLost: lost !== undefined }
    return lost === undefined
      ? recheck(step, context, trail)
      : readBack(lost.error, () => recheck(step, context, trail))
  }
  const ended = (found: Exclude<Recheck, { kind: 'send' }>): Sent =>
    found.kind === 'moved'
      ? { ...found, kind: 'stale' }
      : defined({ ...found, kind: 'found', lostAt: lost?.at } as const)
  const before = async (): Promise<Turn<StepRequest['body'], Sent>> => {
    const found = await recheckNow()
    if (found.kind !== 'send') return { instead: ended(found) }
    const blocked = blockedNow(step, found.live, context)
    if (blocked !== undefined && blocked !== 'overridden') return { instead: blocked }
    if (blocked === 'overridden' && !isOverridden) {
      isOverridden = true
      await context.emit({ type: 'window-overridden', step: step.id, windows: step.windows ?? [] })
    }
    attempts += 1
    const { method, path } = step.request
    await context.emit({ type: 'call', step: step.id, method, path, attempt: attempts })
    sending.sent = true
    if (found.live !== undefined) {
      sending.before = found.live
      sending.predicted = impactNow(step, found.live)
    }
    sentAt = context.clock.now()
    at = context.api.serviceTime()
    return { send: found.body }
  }

  /** Assesses the step after a rejection. If the project cannot be read, the rejection is the more useful message. */
  const recheckAfterRefusal = (): Promise<Recheck | undefined> =>
    recheckNow().catch((error) => {
      if (lost === undefined && error instanceof ApiError) return undefined
      throw error
    })

  for (let sends = 0; ; sends += 1) {
    try {
      const answer = await context.api.sendUnless(step.request, before, {
        signal: context.abort,
        onWait: (wait) => context.record({ type: 'wait', step: step.id, ...wait }),
      })
      if ('kind' in answer) return answer
      context.timings.sawRoundTrip(context.clock.now() - sentAt)
      return { kind: 'answered', mutation: answer, at }
    } catch (error) {
      if (!(error instanceof ApiError) || error.method === 'GET') throw error
      if (!error.ambiguous) {
        const seen = MAY_BE_STALE.has(error.status ?? 0) ? await recheckAfterRefusal() : undefined
        if (seen !== undefined && seen.kind !== 'send') return ended(seen)
        if (step.kind === 'delete' && error.status === 404) return { kind: 'found' }
        throw error
      }
      lost = { error, at }
      const message = `checking whether the request took effect, because its response was lost: ${error.message}`
      for (const delayMs of step.kind === 'create' ? LONG_READ_BACK_DELAYS_MS : READ_BACK_DELAYS_MS) {
        await context.record({ type: 'wait', step: step.id, why: 'reading-back', message, delayMs })
        await context.clock.sleep(delayMs, context.abort)
        const shown = await recheckNow()
        if (shown.kind !== 'send') return ended(shown)
      }
      sending.lost += 1
      if (sends >= RESENDS) throw error
    }
  }
}

/**
 * Checks consent and windows for the current state, because a compute that was idle in the plan may be in use now.
 *
 * @returns `overridden` if only `--now` lets the step run.
 */
const blockedNow = (
  step: Step,
  live: ObservedCompute | undefined,
  context: RunContext,
): Sent | 'overridden' | undefined => {
  if (live === undefined) return undefined
  const impact = impactNow(step, live)
  const consent = CONSENT_OF[impact]
  const isWorse = step.unlessIdle !== undefined && !isIdle(live)
  if (isWorse && consent !== undefined && !context.consent.allow.has(consent)) {
    return { kind: 'not-consented', consent }
  }
  // What was planned as disruptive waited for its window, even if the compute is idle now.
  if (impact === 'none' && (step.impact === 'none' || !context.ignoreWindows)) return undefined
  const opening = context.openingOf(step)
  if (opening.isOpen) return undefined
  return context.ignoreWindows ? 'overridden' : { kind: 'outside-window', opening }
}

/** The impact of the step in the current state. If the compute is idle, nobody is connected to it. */
const impactNow = ({ kind, impact, unlessIdle }: Step, live: ObservedCompute): Impact => {
  if (!isIdle(live)) return unlessIdle ?? impact
  return kind === 'update' ? 'none' : impact
}

/** Reads the effect of a lost request. @throws {ApiError} that also describes the lost request, if the read fails. */
const readBack = async <T>(lost: ApiError, read: () => Promise<T>): Promise<T> => {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { summary, method, path, status } = error
    const message = `${lost.message}. Whether it took effect could not be read: ${summary}`
    throw new ApiError('E_READ_BACK', message, defined({ method, path, status }))
  }
}

/** Sends a step's request once. The step is assessed again before each attempt, and whenever a response was lost. */
import { ApiError, type Mutation, type Turn } from '../api/index.ts'
import { defined } from '../base/index.ts'
import {
  CONSENT_OF,
  type Impact,
  isIdle,
  type Moved,
  type ObservedCompute,
  type Step,
  type StepRequest,
} from '../model/index.ts'
import type { Opening } from '../windows/index.ts'
import { type Assessment, assess, type Trail } from './assess.ts'
import type { RunContext } from './context.ts'

export type Sent =
  /** The control API's response. */
  | { readonly kind: 'answered'; readonly mutation: Mutation; readonly at: number }
  /** In effect without a response: through our request sent at `lostAt`, or through another client. */
  | { readonly kind: 'found'; readonly compute?: ObservedCompute; readonly lostAt?: number }
  | { readonly kind: 'stale'; readonly moved: readonly Moved[]; readonly ids: readonly string[] }
  | { readonly kind: 'outside-window'; readonly opening: Opening }
  | { readonly kind: 'not-consented'; readonly consent: string }

/** State while a request is being sent, so that a failure can report it. */
export interface Sending {
  /** Whether a request went out that may have taken effect. */
  sent: boolean
  /** Requests whose responses were lost and whose effects have not shown. */
  lost: number
}

const RESENDS = 3
/** The effect of a lost request may take a while to show, so it is read several times before the request is sent again. */
const READ_BACK_DELAYS_MS = [1_000, 2_000, 4_000]
/** A repeated update or delete does no harm. A repeated create makes a second compute, so it waits half a minute. */
export const LONG_READ_BACK_DELAYS_MS = [...READ_BACK_DELAYS_MS, 8_000, 15_000]
/** Rejections that may be caused by another client's change right before the request. */
const MAY_BE_STALE = new Set([400, 404, 409, 412, 422])

export const sendStep = async (step: Step, context: RunContext, sending: Sending): Promise<Sent> => {
  const others = new Set<string>()
  let lost: { readonly error: ApiError; readonly at: number } | undefined
  let sentAt = 0
  let attempts = 0

  const assessNow = (): Promise<Assessment> => {
    const trail: Trail = { others, isLost: lost !== undefined }
    return lost === undefined ? assess(step, context, trail) : readBack(lost.error, () => assess(step, context, trail))
  }
  const ended = (assessment: Exclude<Assessment, { kind: 'send' }>): Sent =>
    assessment.kind === 'moved'
      ? { ...assessment, kind: 'stale' }
      : defined({ ...assessment, kind: 'found', lostAt: lost?.at } as const)
  const before = async (): Promise<Turn<StepRequest['body'], Sent>> => {
    const assessment = await assessNow()
    if (assessment.kind !== 'send') return { instead: ended(assessment) }
    const blocked = await blockedNow(step, assessment.live, context)
    if (blocked !== undefined) return { instead: blocked }
    attempts += 1
    const { method, path } = step.request
    await context.emit({ type: 'call', step: step.id, method, path, attempt: attempts })
    sending.sent = true
    sentAt = context.clock.now()
    return { send: assessment.body }
  }

  /** If the project cannot be read either, the rejection is the more useful message. */
  const assessAfterRefusal = (): Promise<Assessment | undefined> =>
    assessNow().catch((error) => {
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
      return { kind: 'answered', mutation: answer, at: sentAt }
    } catch (error) {
      if (!(error instanceof ApiError) || error.method === 'GET') throw error
      if (!error.ambiguous) {
        const seen = MAY_BE_STALE.has(error.status ?? 0) ? await assessAfterRefusal() : undefined
        if (seen !== undefined && seen.kind !== 'send') return ended(seen)
        if (step.kind === 'delete' && error.status === 404) return { kind: 'found' }
        throw error
      }
      lost = { error, at: sentAt }
      const message = `checking whether the request took effect, because its response was lost: ${error.message}`
      for (const delayMs of step.kind === 'create' ? LONG_READ_BACK_DELAYS_MS : READ_BACK_DELAYS_MS) {
        await context.record({ type: 'wait', step: step.id, why: 'reading-back', message, delayMs })
        await context.clock.sleep(delayMs, context.abort)
        const shown = await assessNow()
        if (shown.kind !== 'send') return ended(shown)
      }
      sending.lost += 1
      if (sends >= RESENDS) throw error
    }
  }
}

/** Checks consent and windows against the current state: a compute that was idle in the plan may be in use now. */
const blockedNow = async (
  step: Step,
  live: ObservedCompute | undefined,
  context: RunContext,
): Promise<Sent | undefined> => {
  if (live === undefined) return undefined
  const impact = impactNow(step, live)
  const consent = CONSENT_OF[impact]
  const isWorse = step.unlessIdle !== undefined && !isIdle(live)
  if (isWorse && consent !== undefined && !context.consent.allow.has(consent)) {
    return { kind: 'not-consented', consent }
  }
  if (impact === 'none') return undefined
  const opening = context.openingOf(step)
  if (opening.isOpen) return undefined
  if (!context.ignoreWindows) return { kind: 'outside-window', opening }
  // If the plan already says that the step interrupts, the override was recorded before the step started.
  if (isWorse && step.impact === 'none') {
    await context.emit({ type: 'window-overridden', step: step.id, windows: step.windows ?? [] })
  }
  return undefined
}

/** The impact in the current state: nobody is connected to an idle compute. */
const impactNow = ({ kind, impact, unlessIdle }: Step, live: ObservedCompute): Impact => {
  if (!isIdle(live)) return unlessIdle ?? impact
  return kind === 'update' ? 'none' : impact
}

/** @throws {ApiError} that names the lost request, if the read fails. */
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

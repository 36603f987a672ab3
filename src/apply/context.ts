/** The context that all steps of a run share. */
import type { WriteApi } from '../api/index.ts'
import type { Clock } from '../base/index.ts'
import type { ApplyEvent, Consent, FailureReason, Step, StepOutcome } from '../model/index.ts'
import type { Opening } from '../model/window-opening.ts'
import type { ExpectedState } from './before/expected-state.ts'
import type { Timings } from './wait/timings.ts'

/** An event to which the time has not been added yet. */
export type UntimedEvent = ApplyEvent extends infer Event
  ? Event extends ApplyEvent
    ? Omit<Event, 'time'>
    : never
  : never

export interface Consents {
  readonly allow: ReadonlySet<Consent>
}

export interface RunContext {
  readonly api: WriteApi
  readonly clock: Clock
  readonly operationTimeoutMs: number
  readonly consent: Consents
  readonly expected: ExpectedState
  readonly timings: Timings
  readonly abort: AbortSignal | undefined
  /** Given the delete step of a replacement, returns its create step. */
  readonly successorOf: (step: Step) => Step | undefined
  /** Given the create step of a replacement, returns its delete step. */
  readonly predecessorOf: (step: Step) => Step | undefined
  /** Whether a step's restart windows are open. A step without windows counts as open. */
  readonly openingOf: (step: Step) => Opening
  readonly ignoreWindows: boolean
  /** Records an event before the action that it announces. If that fails, it rejects, and the action is not taken. */
  readonly emit: (event: UntimedEvent) => Promise<void>
  /** Records an event that has already happened. Never rejects. */
  readonly record: (event: UntimedEvent) => Promise<void>
}

/** Reads again after each of these delays until `isFinal`, because a read may be stale. Returns the last result. */
export const readUntil = async <T>(
  read: () => Promise<T>,
  isFinal: (found: T) => boolean,
  delaysMs: readonly number[],
  { clock, abort }: Pick<RunContext, 'clock' | 'abort'>,
): Promise<T> => {
  for (let round = 0; ; round += 1) {
    const found = await read()
    const delayMs = delaysMs[round]
    if (isFinal(found) || delayMs === undefined) return found
    await clock.sleep(delayMs, abort)
  }
}

/** Returns the outcome of a step that was not started. */
export const notStarted = (
  { id }: Step,
  status: 'skipped' | 'not-allowed' | 'scheduled',
  reason: FailureReason,
  message: string,
): StepOutcome => ({ step: id, status, reason, message, operations: [], durationMs: 0 })

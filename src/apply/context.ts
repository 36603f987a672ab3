/** Shared by all steps of a run. */
import type { WriteApi } from '../api/index.ts'
import type { ApplyEvent, Clock, Consent, FailureReason, Step, StepOutcome } from '../model/index.ts'
import type { Opening } from '../windows/index.ts'
import type { Knowledge } from './knowledge.ts'
import type { Timings } from './timings.ts'

/** An event without its time. */
export type UntimedEvent = ApplyEvent extends infer Event
  ? Event extends ApplyEvent
    ? Omit<Event, 'time'>
    : never
  : never

export interface ConsentPolicy {
  readonly allow: ReadonlySet<Consent>
}

export interface RunContext {
  readonly api: WriteApi
  readonly clock: Clock
  readonly operationTimeoutMs: number
  readonly consent: ConsentPolicy
  readonly knowledge: Knowledge
  readonly timings: Timings
  readonly abort: AbortSignal | undefined
  /** The create step of a replacement, given its delete step. */
  readonly successorOf: (step: Step) => Step | undefined
  /** Whether a step's restart windows are open. A step without windows counts as open. */
  readonly openingOf: (step: Step) => Opening
  readonly ignoreWindows: boolean
  /** Called before an action. Rejects if the event cannot be recorded, so that the action is not taken. */
  readonly emit: (event: UntimedEvent) => Promise<void>
  /** Called after something has happened. Never rejects. */
  readonly record: (event: UntimedEvent) => Promise<void>
}

/** The outcome of a step that was not started. */
export const notStarted = (
  { id }: Step,
  status: 'skipped' | 'not-allowed' | 'scheduled',
  reason: FailureReason,
  message: string,
): StepOutcome => ({ step: id, status, reason, message, operations: [], durationMs: 0 })

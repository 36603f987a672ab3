/** What the steps of one run share. */
import type { WriteApi } from '../api/index.ts'
import type { ApplyEvent, Clock, Step } from '../model/index.ts'
import type { Opening } from '../windows/index.ts'
import type { ConsentPolicy } from './consent.ts'
import type { Knowledge } from './knowledge.ts'
import type { Timings } from './timings.ts'

/** An event without its time. */
export type Happening = ApplyEvent extends infer Event
  ? Event extends ApplyEvent
    ? Omit<Event, 'time'>
    : never
  : never

export interface RunContext {
  readonly api: WriteApi
  readonly clock: Clock
  readonly operationTimeoutMs: number
  readonly consent: ConsentPolicy
  readonly knowledge: Knowledge
  readonly timings: Timings
  readonly abort: AbortSignal | undefined
  /** The create that a delete makes room for, if the two are one replacement. */
  readonly successorOf: (step: Step) => Step | undefined
  /** Whether its restart windows are open; one that is not bound by them always is. */
  readonly openingOf: (step: Step) => Opening
  readonly ignoreWindows: boolean
  /** For what is about to be done: rejects if it cannot be recorded, and then it is not done. */
  readonly emit: (event: Happening) => Promise<void>
  /** For what has happened already. */
  readonly record: (event: Happening) => Promise<void>
}

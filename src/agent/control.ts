/** What the page, API, metrics and commands can see of a running agent and ask of it. Times are in milliseconds since the epoch. */
import { EspalierError } from '../base/index.ts'
import type { AgentView, DifferenceView, Observation, Plan } from '../model/index.ts'
import type { PastApply } from './data-folder.ts'

/** What is reported about a completed round. */
export interface RoundView {
  readonly project: string
  readonly result: 'unchanged' | 'changed' | 'failed'
  readonly durationMs: number
  /** How long after it was due the round started. */
  readonly delayMs: number
  /** What the steps of the round did to connections. */
  readonly observations: readonly Observation[]
}

/** The requests that the page, API and commands can make to a running agent. */
export interface AgentControl {
  view(): AgentView
  /** How long ago the scheduler last checked the clock, in milliseconds. A clock that was set does not change it. */
  readonly idleMs: number
  /** The applies of a project, at most 200, newest first. */
  historyOf(project: string): Promise<readonly PastApply[]>
  /** The last plan of a project, including the differences on hold. `undefined` before the first refresh. */
  planOf(project: string): Plan | undefined
  /**
   * Calls `listener` after each change of the view.
   *
   * @returns a function that unsubscribes.
   */
  watch(listener: () => void): () => void
  /**
   * Calls `listener` after each round.
   *
   * @returns a function that unsubscribes.
   */
  watchRounds(listener: (round: RoundView) => void): () => void
  /**
   * Refreshes the projects now, and clears their back-off, rejections and conflicts.
   *
   * @param accept the commit to accept although the history of the branch was rewritten, or although the restarts that
   *   it causes in these projects exceed the limit of all projects.
   */
  reconcile(projects: readonly string[] | 'all', accept?: string): Promise<void>
  /**
   * Treats the unrecorded differences of a project as introduced by the commit.
   *
   * @param shown the differences as they were shown to whoever adopts them.
   * @throws {EspalierError} `E_USAGE` if the commit or the differences have changed since.
   */
  adopt(project: string, commit: string, shown: readonly ShownDifference[]): Promise<void>
  /** @param until milliseconds since the epoch. */
  suspend(projects: readonly string[] | 'all', until: number, reason: string): Promise<void>
  resume(projects: readonly string[] | 'all'): Promise<void>
  /** Fetches the manifests now, or once 10 s have passed since the last fetch. */
  fetchSoon(): void
}

export type ShownDifference = Pick<DifferenceView, 'compute' | 'path' | 'live' | 'want'>

/** A suspended project is refreshed and reported on, but nothing is applied to it. */
export interface Suspension {
  readonly until: number
  readonly reason: string
}

const LONGEST = 30 * 24 * 60 * 60_000

/** @throws {EspalierError} `E_USAGE` if the reason is empty, or the duration is not between 0 and 30 days. */
export const suspend = (now: number, duration: number, reason: string): Suspension => {
  if (reason.trim() === '') throw new EspalierError('E_USAGE', 'A suspension needs a reason: --reason TEXT.')
  if (!(duration > 0 && duration <= LONGEST)) {
    throw new EspalierError('E_USAGE', 'A suspension must be longer than 0 and at most 30 days.')
  }
  return { until: now + duration, reason }
}

export const isSuspended = (suspension: Suspension | undefined, now: number): boolean =>
  suspension !== undefined && now < suspension.until

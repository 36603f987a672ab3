/** The parts of an agent that its page, API, metrics and events use. */
import type { AgentView, Plan, ProjectView } from '../model/index.ts'

/** What is reported about a completed round. */
export interface RoundView {
  readonly project: string
  readonly result: 'unchanged' | 'changed' | 'failed'
  readonly durationMs: number
  /** How long after it was due the round started. */
  readonly delayMs: number
}

/**
 * Decides which events a project raises. Events that have not been delivered are stored in the project's file. They are
 * written together with the project's record, so that the two stay consistent.
 */
export interface EventKeeper {
  /**
   * Called after each round, before the file is written. Must not have side effects.
   *
   * @param kept what the previous call returned, as JSON.
   */
  afterRound(project: ProjectView, kept: unknown, now: number): unknown
  /** Called once the value that `afterRound` returned is on disk. */
  onKept(project: string): void
}

/** The requests that the page, API and commands can make to a running agent. */
export interface AgentControl {
  view(): AgentView
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
   * The state of the {@link EventKeeper} for each subject, which is a project id, `account/NAME` or
   * `repository/manifests`. The state of a project that is no longer declared is kept until its events are delivered.
   */
  kept(): ReadonlyMap<string, unknown>
  /**
   * Updates the state of one subject, in memory and on disk. Calls for the same subject must not overlap, and
   * `afterRound` must not call this method.
   */
  keep(subject: string, change: (kept: unknown) => unknown): Promise<void>
  /**
   * Refreshes the projects now, and clears their back-off, rejections and conflicts.
   *
   * @param accept the commit to accept although the history of the branch was rewritten.
   */
  reconcile(projects: readonly string[] | 'all', accept?: string): Promise<void>
  /** @param until milliseconds since the epoch. */
  suspend(projects: readonly string[] | 'all', until: number, reason: string): Promise<void>
  resume(projects: readonly string[] | 'all'): Promise<void>
  /** Fetches the manifests now, or once 10 s have passed since the last fetch. */
  fetchSoon(): void
}

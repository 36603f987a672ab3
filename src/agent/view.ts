/** The parts of an agent that its page, API, metrics and events use. */
import type { AgentView, Plan, ProjectView } from '../model/index.ts'

/** A completed round. */
export interface RoundView {
  readonly project: string
  readonly result: 'unchanged' | 'changed' | 'failed'
  readonly durationMs: number
  /** Time between being due and starting. */
  readonly delayMs: number
}

/**
 * Decides which events a project raises. Undelivered events are stored in the project's file, in the same write as its
 * record, so that the two stay consistent.
 */
export interface EventKeeper {
  /**
   * Called after each round, before the file is written. Pure.
   *
   * @param kept its previous return value, as JSON.
   */
  afterRound(project: ProjectView, kept: unknown, now: number): unknown
  /** Called once the return value is on disk. */
  onKept(project: string): void
}

/** The requests that the page, API and commands can make to a running agent. */
export interface AgentControl {
  view(): AgentView
  /** The last plan of a project, including differences on hold; `undefined` before the first refresh. */
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
   * State of the {@link EventKeeper} by subject: a project id, `account/NAME` or `repository/manifests`. The state of a
   * project no longer declared is kept until its events are delivered.
   */
  kept(): ReadonlyMap<string, unknown>
  /** Updates one subject's state, on disk too. Calls for a subject must not overlap, nor happen within `afterRound`. */
  keep(subject: string, change: (kept: unknown) => unknown): Promise<void>
  /**
   * Refreshes now, clearing back-off, rejections and conflicts. `accept`: a commit whose rewritten history is accepted.
   */
  reconcile(projects: readonly string[] | 'all', accept?: string): Promise<void>
  /** @param until milliseconds since the epoch. */
  suspend(projects: readonly string[] | 'all', until: number, reason: string): Promise<void>
  resume(projects: readonly string[] | 'all'): Promise<void>
  /** Fetches now, at most once every 10 s. */
  fetchSoon(): void
}

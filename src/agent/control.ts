/** The parts of an agent that its page, API and metrics use. */
import type { AgentView, Plan } from '../model/index.ts'

/** What is reported about a completed round. */
export interface RoundView {
  readonly project: string
  readonly result: 'unchanged' | 'changed' | 'failed'
  readonly durationMs: number
  /** How long after it was due the round started. */
  readonly delayMs: number
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

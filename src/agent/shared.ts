/** What the projects of an agent share. */
import type { Budgets } from '../apply/index.ts'
import type { OnSignal } from '../base/index.ts'
import type { Clock } from '../model/index.ts'
import type { Accounts } from './accounts.ts'
import type { DataFolder } from './data-folder.ts'
import type { AgentPolicy } from './decide.ts'
import type { DesiredState } from './desired-state.ts'
import type { EventKeeper } from './view.ts'
import type { WakeCause } from './wakes.ts'

export interface Shared {
  readonly clock: Clock
  /** The time of day. */
  readonly now: () => number
  readonly random: () => number
  readonly startedAt: number
  readonly data: DataFolder
  readonly desired: DesiredState
  readonly accounts: Accounts
  readonly policy: AgentPolicy
  readonly budgets: Budgets
  readonly operationTimeoutMs: number
  readonly keeper?: EventKeeper | undefined
  /** SIGTERM, once and twice. */
  readonly onSignal: OnSignal
  /** A file for the journal of an apply. */
  journalFor(project: string, version: string): Promise<string>
  /** Milliseconds, stretched until all projects fit. */
  intervalOf(project: string): number
  isSettled(project: string): boolean
  wake(project: string, at: number, cause: WakeCause): void
  forget(project: string): void
  changed(): void
  isStopping(): boolean
  /** The data folder is another agent's now, or cannot be written. */
  lost(error: unknown): void
}

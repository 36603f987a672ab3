/** What all projects of an agent share. */
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
  /** Current time, milliseconds since the epoch. */
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
  /** SIGTERM, first and second. */
  readonly onSignal: OnSignal
  /** Path of the journal for an apply. */
  journalFor(project: string, version: string): Promise<string>
  /** In milliseconds; stretched until all projects fit. */
  intervalOf(project: string): number
  isSettled(project: string): boolean
  wake(project: string, at: number, cause: WakeCause): void
  forget(project: string): void
  changed(): void
  isStopping(): boolean
  /** Called when another agent holds the data folder, or it cannot be written. */
  lost(error: unknown): void
}

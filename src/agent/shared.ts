/** The options of an agent, and the objects that all of its projects share. */
import type { ApiOptions } from '../api/index.ts'
import type { Budgets } from '../apply/index.ts'
import type { OnSignal } from '../base/index.ts'
import type { Clock } from '../model/index.ts'
import type { DataFolder } from './data-folder.ts'
import type { AgentPolicy } from './decide/table.ts'
import type { WakeCause } from './scheduler.ts'
import type { Accounts, AgentKey } from './source/accounts.ts'
import type { DesiredState } from './source/desired-state.ts'
import type { Source } from './source/source.ts'
import type { Notifier } from './tell/notifier.ts'

export interface AgentOptions {
  readonly source: Source
  readonly data: DataFolder
  readonly keys: readonly AgentKey[]
  readonly api: Omit<ApiOptions, 'apiKey' | 'clients' | 'watch'>
  readonly policy: AgentPolicy
  readonly budgets: Budgets
  /** How often each project is refreshed, in milliseconds. */
  readonly interval: number
  readonly gitInterval: number
  readonly concurrency: number
  readonly operationTimeoutMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly notifier?: Pick<Notifier, 'notify'>
  readonly log?: (line: string) => void
}

export interface Shared extends AgentOptions {
  /** The current time, in milliseconds since the epoch. */
  readonly now: () => number
  readonly startedAt: number
  readonly desired: DesiredState
  readonly accounts: Accounts
  /** Handles the first and the second SIGTERM. */
  readonly onSignal: OnSignal
  /** In milliseconds. Lengthened if refreshing all of the account's projects would otherwise exceed the rate limit. */
  intervalOf(project: string): number
  isSettled(project: string): boolean
  wake(project: string, at: number, cause: WakeCause): void
  forget(project: string): void
  changed(): void
  isStopping(): boolean
  /** Called if another agent has taken over the data folder, or the folder cannot be written. */
  lost(error: unknown): void
}

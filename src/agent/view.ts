/** What the agent shows of itself, in the same words on its page, in its API, metrics and events, and in `agent status`. */
import type { ChangeKind, Impact, Plan } from '../model/index.ts'
import type { Origin } from './record.ts'
import type { Status } from './state.ts'
import type { MissCause } from './wakes.ts'

/** Times are ISO 8601 in UTC. */
export interface AgentView {
  readonly version: string
  readonly startedAt: string
  /** When the scheduler last ran: it does so at least once a minute. */
  readonly tickedAt: string
  readonly source: SourceView
  readonly accounts: readonly AccountView[]
  readonly projects: readonly ProjectView[]
}

/** Where the manifests come from. */
export interface SourceView {
  readonly kind: 'git' | 'folder'
  /** Repository without credentials, or the folder. */
  readonly from: string
  readonly ref?: string
  /** Commit, or digest of the folder, that counts now. */
  readonly version?: string
  readonly committedAt?: string
  /** Last successful fetch or read. */
  readonly fetchedAt?: string
  /** Why the last one failed, or an error of the manifests that no project shows. */
  readonly error?: string
  /** `Failing`: it could not be read. `Invalid`: what was read has errors. */
  readonly errorState?: 'Failing' | 'Invalid'
}

export interface AccountView {
  readonly name: string
  readonly projects: number
  readonly intervalSeconds: number
  /** The interval that was asked for does not fit the account's share of requests. */
  readonly isStretched: boolean
  /** Answers since the start, by HTTP status; `none` counts requests without one. */
  readonly requests: Readonly<Record<string, number>>
}

export interface ProjectView extends Status {
  readonly id: string
  readonly name?: string
  readonly account: string
  /** In addition to state and reason: an error, or a reason that a person gave. */
  readonly message?: string
  readonly since: string
  /** When the state ends by itself, or the next attempt is made. */
  readonly until?: string
  /** Shown next to the state, so that a suspension never hides a difference. */
  readonly sync: 'Synced' | 'OutOfSync' | 'Unknown'
  readonly differences: readonly DifferenceView[]
  readonly scheduledSteps: number
  /** Commit or digest that the project was last planned for. */
  readonly version?: string
  readonly refreshedAt?: string
  /** When the next window opens that scheduled steps wait for. */
  readonly windowOpensAt?: string
  /** The last window that passed without its work being done. */
  readonly missedWindow?: MissedWindowView
  /** Since the start. */
  readonly missedWindows: number
  /** The last apply that did something. */
  readonly lastApply?: ApplyView
  /** Settles it, if a person must: a command to paste. */
  readonly command?: string
}

export interface MissedWindowView {
  readonly opensAt: string
  readonly closesAt: string
  readonly cause: MissCause
}

export interface ApplyView {
  readonly at: string
  readonly version: string
  /** Titles of the steps that were done. */
  readonly done: readonly string[]
  /** How many of them interrupted somebody. */
  readonly interruptions: number
}

export interface DifferenceView extends Status {
  readonly branch: string
  /** Id of the compute, or what it will be: `replica "reporting"`. */
  readonly compute: string
  readonly kind: ChangeKind
  /** Path of the attribute of an update. */
  readonly path?: string
  readonly live: string | null
  readonly want: string | null
  readonly impact: Impact
  readonly origin: Origin
  /** `file:line:col` of the declaration. */
  readonly declaredAt?: string
}

/** One round that ended. */
export interface RoundView {
  readonly project: string
  readonly result: 'unchanged' | 'changed' | 'failed'
  readonly durationMs: number
  /** From the moment at which it was due to its start. */
  readonly delayMs: number
}

/**
 * Which events a project raises. What is still to be delivered is kept in the project's own file, written together with
 * its record, so that neither is ever ahead of the other.
 */
export interface EventKeeper {
  /** After each round, before the file is written. Pure. @param kept what it returned last, as JSON. */
  afterRound(project: ProjectView, kept: unknown, now: number): unknown
  /** Once that is on disk. */
  onKept(project: string): void
}

/** What page, API and commands may ask of a running agent. */
export interface AgentControl {
  view(): AgentView
  /** The last plan of a project, before differences are held back; `undefined` before the first refresh. */
  planOf(project: string): Plan | undefined
  /** Calls `listener` after each change of the view. Returns how to stop that. */
  watch(listener: () => void): () => void
  /** Calls `listener` after each round. Returns how to stop that. */
  watchRounds(listener: (round: RoundView) => void): () => void
  /**
   * What the {@link EventKeeper} keeps, by subject: the id of a project, `account/NAME` or `repository`. That of a project
   * that is no longer declared stays until its events are delivered and it is `undefined`.
   */
  kept(): ReadonlyMap<string, unknown>
  /** Replaces that of one subject, on disk too. Called one at a time for each subject, and never within `afterRound`. */
  keep(subject: string, change: (kept: unknown) => unknown): Promise<void>
  /** Refreshes now; forgets back-off, refusals and conflicts. `accept`: a commit whose rewritten history is accepted. */
  reconcile(projects: readonly string[] | 'all', accept?: string): Promise<void>
  /** @param until milliseconds since the epoch. */
  suspend(projects: readonly string[] | 'all', until: number, reason: string): Promise<void>
  resume(projects: readonly string[] | 'all'): Promise<void>
  /** Fetches now, but no more often than every 10 s. */
  fetchSoon(): void
}

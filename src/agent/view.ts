/** The agent's state as presented on its page, in its API, metrics and events, and by `agent status`. */
import type { ChangeKind, Impact, Plan } from '../model/index.ts'
import type { Origin } from './record.ts'
import type { Status } from './state.ts'
import type { MissCause } from './wakes.ts'

/** Times are ISO 8601 in UTC. */
export interface AgentView {
  readonly version: string
  readonly startedAt: string
  /** When the scheduler last ran; at least once a minute. */
  readonly tickedAt: string
  readonly source: SourceView
  readonly accounts: readonly AccountView[]
  readonly projects: readonly ProjectView[]
}

/** Where the manifests come from. */
export interface SourceView {
  readonly kind: 'git' | 'folder'
  /** Repository URL without credentials, or the folder. */
  readonly from: string
  readonly ref?: string
  /** Current commit, or digest of the folder. */
  readonly version?: string
  readonly committedAt?: string
  /** Last successful fetch or read. */
  readonly fetchedAt?: string
  /** Why the last fetch failed, or a manifest error that belongs to no project. */
  readonly error?: string
  /** `Failing`: the source could not be read. `Invalid`: the manifests have errors. */
  readonly errorState?: 'Failing' | 'Invalid'
}

export interface AccountView {
  readonly name: string
  readonly projects: number
  readonly intervalSeconds: number
  /** The configured interval does not fit the account's request allowance. */
  readonly isStretched: boolean
  /** Responses since start, by HTTP status; `none` counts requests without a response. */
  readonly requests: Readonly<Record<string, number>>
}

export interface ProjectView extends Status {
  readonly id: string
  readonly name?: string
  readonly account: string
  /** An error message, or the reason a user gave. */
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
  /** When the next window opens for the scheduled steps. */
  readonly windowOpensAt?: string
  /** The last window that closed before its work was done. */
  readonly missedWindow?: MissedWindowView
  /** Since the start. */
  readonly missedWindows: number
  /** The last apply that changed something. */
  readonly lastApply?: ApplyView
  /** A command to paste, if a user has to act. */
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
  /** Titles of the completed steps. */
  readonly done: readonly string[]
  /** How many of them disrupted connections. */
  readonly interruptions: number
}

export interface DifferenceView extends Status {
  readonly branch: string
  /** Id of the compute, or its title if it does not exist yet: `replica "reporting"`. */
  readonly compute: string
  readonly kind: ChangeKind
  /** Path of the attribute, for an update. */
  readonly path?: string
  readonly live: string | null
  readonly want: string | null
  readonly impact: Impact
  readonly origin: Origin
  /** `file:line:col` of the declaration. */
  readonly declaredAt?: string
}

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
  /** Called once that is on disk. */
  onKept(project: string): void
}

/** What the page, API and commands can ask of a running agent. */
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
   * State of the {@link EventKeeper} by subject: a project id, `account/NAME` or `repository/manifests`. The state of a project
   * no longer declared is kept until its events are delivered and it is `undefined`.
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

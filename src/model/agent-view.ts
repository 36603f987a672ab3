/** The agent's state, as shown on its web page, in its API, metrics and events, and by `agent status`. */
import type { Released } from './drift.ts'
import type { Impact } from './impact.ts'
import type { ChangeKind, Effect } from './plan.ts'

/** In order of precedence, highest first. */
export const AGENT_STATES = [
  'Suspended',
  'Invalid',
  'Failing',
  'Blocked',
  'Progressing',
  'Scheduled',
  'OutOfSync',
  'Synced',
  'Unknown',
] as const

export type AgentState = (typeof AGENT_STATES)[number]

export type AgentReason =
  | 'HistoryRewritten'
  | 'GitStale'
  | 'PlanError'
  | 'Refused'
  | 'Reported'
  | 'Unrecorded'
  | 'DriftUnconfirmed'
  | 'Drift'
  | 'DriftUnsafe'
  | 'Conflict'
  | 'Policy'
  | 'Protected'
  | 'NotAllowed'
  | 'Wave'
  | 'TooManyRestarts'
  | 'RestartLimit'
  | 'NoCommonWindow'
  | 'Unreachable'
  | 'KeyRefused'

export interface AgentStatus {
  readonly state: AgentState
  readonly reason?: AgentReason | undefined
}

/** The exit code of `agent status`. */
export const agentExitCode = (state: AgentState): 0 | 2 | 3 | 5 => {
  switch (state) {
    case 'Synced':
      return 0
    case 'Scheduled':
      return 5
    case 'OutOfSync':
    case 'Progressing':
    case 'Unknown':
      return 2
    default:
      return 3
  }
}

/** Which of the two changed last: the manifest or the live project. */
export type DifferenceOrigin = 'introduced' | 'drift' | 'unrecorded'

/** Why a window closed before all steps that waited for it were done. */
export type MissCause = 'suspended' | 'agent-down' | 'failed' | 'too-little-time'

/** Times are ISO 8601 in UTC. */
export interface AgentView {
  readonly version: string
  readonly startedAt: string
  /** When the scheduler last ran, which it does at least once a minute. */
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
  readonly ref?: string | undefined
  /** Current commit, or digest of the folder. */
  readonly version?: string | undefined
  readonly committedAt?: string | undefined
  readonly author?: string | undefined
  /** The first line of the commit's message. */
  readonly subject?: string | undefined
  /** Last successful fetch or read. */
  readonly fetchedAt?: string | undefined
  /** Why the last fetch failed, or a manifest error that belongs to no project. */
  readonly error?: string | undefined
  /** `Failing`: the source could not be read. `Invalid`: the manifests have errors. */
  readonly errorState?: 'Failing' | 'Invalid' | undefined
}

export interface AccountView {
  readonly name: string
  readonly projects: number
  readonly intervalSeconds: number
  /** Whether `intervalSeconds` is longer than configured, to stay within the account's rate limit. */
  readonly isStretched: boolean
  /** Responses since start, by HTTP status; `none` counts requests without a response. */
  readonly requests: Readonly<Record<string, number>>
}

export interface ProjectView extends AgentStatus {
  readonly id: string
  readonly name?: string | undefined
  readonly account: string
  /** An error message, or the reason a user gave. */
  readonly message?: string | undefined
  readonly since: string
  /** When the state will end by itself, or when the agent will try again. */
  readonly until?: string | undefined
  /** Whether the project was read less than two intervals ago, and no round has failed to read it since. */
  readonly isFresh: boolean
  /** A commit, or the digest of a folder, that changes the project and has not been planned yet. */
  readonly pending?: string | undefined
  /** The last state before the agent started, until the project is read. */
  readonly was?: (AgentStatus & { readonly since: string }) | undefined
  /** Shown next to the state, because a suspended project can have differences too. */
  readonly sync: 'Synced' | 'OutOfSync' | 'Unknown'
  readonly differences: readonly DifferenceView[]
  /** What the manifests declared before their last change, and no longer declare. Its live values stay. */
  readonly released: readonly Released[]
  readonly scheduledSteps: number
  /** The branches that an unfinished sequence of steps has left without their primary. */
  readonly withoutPrimary?: readonly string[] | undefined
  /** The commit, or the digest of the folder, for which the project was last planned. */
  readonly version?: string | undefined
  readonly refreshedAt?: string | undefined
  /** When the agent last tried in vain to read the project, if it has not read it since. */
  readonly unreadAt?: string | undefined
  /** When the next window opens for the scheduled steps. */
  readonly windowOpensAt?: string | undefined
  /** The last window that closed before all steps that waited for it were done. */
  readonly missedWindow?: MissedWindowView | undefined
  /** Number of windows missed since the agent started. */
  readonly missedWindows: number
  /** The last apply that changed something. */
  readonly lastApply?: ApplyView | undefined
  /** A command for the user to run, if the agent cannot continue without manual intervention. */
  readonly command?: string | undefined
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
  /** How many of the completed steps disrupted connections. */
  readonly interruptions: number
  /** What is different for users since then: `primary on main: temp disk 600 → 20 GiB`. */
  readonly effects: readonly string[]
}

export interface EffectView extends Effect {
  /** In words: `temp disk 600 → 20 GiB`. */
  readonly text: string
}

export interface DifferenceView extends AgentStatus {
  readonly branch: string
  /** Id of the compute, or its title if it does not exist yet: `replica "reporting"`. */
  readonly compute: string
  readonly kind: ChangeKind
  /** Path of the attribute, for an update. */
  readonly path?: string | undefined
  readonly live: string | null
  readonly want: string | null
  readonly impact: Impact
  /** For an idle compute: the impact if it is active by then. */
  readonly unlessIdle?: Impact | undefined
  /** What would be different for the users of the compute. An effect of several attributes is given for the first. */
  readonly effects: readonly EffectView[]
  readonly origin: DifferenceOrigin
  /** `file:line:col` of the declaration. */
  readonly declaredAt?: string | undefined
}

/** The differences that a person has to adopt, or to resolve, before the agent applies anything to their computes. */
export const unrecordedIn = (differences: readonly DifferenceView[]): readonly DifferenceView[] =>
  differences.filter(({ origin }) => origin === 'unrecorded')

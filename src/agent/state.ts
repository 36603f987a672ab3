/** Names of a project's states, on every surface. */

/** In order of precedence. */
export const STATES = [
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

export type State = (typeof STATES)[number]

export type Reason =
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
  | 'Budget'
  | 'Wave'
  | 'TooManyRestarts'
  | 'NoCommonWindow'
  | 'Unreachable'
  | 'KeyRefused'

export interface Status {
  readonly state: State
  readonly reason?: Reason
}

/** @param found statuses of a refreshed project; none means in sync. */
export const worstOf = (found: readonly Status[]): Status =>
  found.reduce<Status>((worst, one) => (STATES.indexOf(one.state) < STATES.indexOf(worst.state) ? one : worst), {
    state: 'Synced',
  })

/** The exit code of `agent status`. */
export const exitCodeOf = (state: State): 0 | 2 | 3 | 5 => {
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

/** When each project is refreshed next, and in which order. Times are in milliseconds since the epoch. */

/** In order of priority. */
export const WAKE_CAUSES = ['window', 'commit', 'reconcile', 'backoff', 'interval'] as const

export type WakeCause = (typeof WAKE_CAUSES)[number]

export interface Wake {
  readonly project: string
  readonly at: number
  readonly cause: WakeCause
}

/** `setTimeout` overflows after 24.8 days, clocks jump and laptops sleep, so the wall clock is checked this often. */
const LONGEST_TIMER = 60_000
const REFRESH_AHEAD = 5 * 60_000

/** The wakes that are due: open windows first, then by cause, then longest overdue. */
export const dueWakes = (wakes: readonly Wake[], now: number): readonly Wake[] =>
  wakes
    .filter(({ at }) => at <= now)
    .sort(
      (a, b) =>
        WAKE_CAUSES.indexOf(a.cause) - WAKE_CAUSES.indexOf(b.cause) ||
        a.at - b.at ||
        (a.project < b.project ? -1 : a.project > b.project ? 1 : 0),
    )

/** How long to sleep: until the next wake, at most a minute. */
export const timerFor = (wakes: readonly Wake[], now: number): number =>
  Math.max(0, Math.min(LONGEST_TIMER, ...wakes.map(({ at }) => at - now)))

/** Refreshes in the minutes before the window opens, spread by `random` (0 to 1), and again when it opens. */
export const windowWakes = (project: string, opensAt: number, now: number, random: number): readonly Wake[] => [
  ...(opensAt - REFRESH_AHEAD > now
    ? [{ project, at: opensAt - REFRESH_AHEAD * random, cause: 'interval' as const }]
    : []),
  { project, at: opensAt, cause: 'window' },
]

export interface OpenedWindow {
  readonly opensAt: number
  readonly closesAt: number
  readonly isWorkDone: boolean
}

export type MissCause = 'suspended' | 'agent-down' | 'failed' | 'too-little-time'

/** Why a window closed without its work done; `undefined` if it is still open or the work is done. */
export const missOf = (
  { opensAt, closesAt, isWorkDone }: OpenedWindow,
  agent: {
    readonly now: number
    readonly runningSince: number
    readonly isSuspended: boolean
    readonly failed: boolean
  },
): MissCause | undefined => {
  if (isWorkDone || agent.now < closesAt) return undefined
  if (agent.isSuspended) return 'suspended'
  if (agent.runningSince >= closesAt) return 'agent-down'
  if (agent.failed) return 'failed'
  return agent.runningSince > opensAt ? 'agent-down' : 'too-little-time'
}

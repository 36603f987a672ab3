/** Decides when projects are due. */
import { compare } from '../../base/index.ts'
import type { ProjectFile } from '../data-folder.ts'
import type { Round } from './round.ts'

/** The reasons for running a project, in order of priority. */
const WAKE_CAUSES = ['window', 'commit', 'reconcile', 'backoff', 'interval'] as const

export type WakeCause = (typeof WAKE_CAUSES)[number]

/** Times are in milliseconds since the epoch. */
export interface Wake {
  readonly project: string
  readonly at: number
  readonly cause: WakeCause
}

/**
 * The wall clock is checked at least this often, because clocks jump, laptops sleep, and `setTimeout` overflows after
 * 24.8 days.
 */
const LONGEST_TIMER = 60_000

/** The wakes that are due, in order of the priority of their causes. Among equals, the longest overdue comes first. */
export const dueWakes = (wakes: readonly Wake[], now: number): readonly Wake[] =>
  wakes
    .filter(({ at }) => at <= now)
    .sort(
      (a, b) =>
        WAKE_CAUSES.indexOf(a.cause) - WAKE_CAUSES.indexOf(b.cause) || a.at - b.at || compare(a.project, b.project),
    )

/** How many milliseconds to sleep until the next wake, but at most a minute. */
export const timerFor = (wakes: readonly Wake[], now: number): number =>
  Math.max(0, Math.min(LONGEST_TIMER, ...wakes.map(({ at }) => at - now)))

const MINUTE = 60_000
const REFRESH_AHEAD = 5 * MINUTE
const JITTER = 0.2

/** Varies the interval at random. @param random a number from 0 to 1. */
export const jittered = (interval: number, random: number): number => interval * (1 - JITTER + 2 * JITTER * random)

/** The delay before a project's first refresh, which spreads the first refreshes of all projects over one interval. */
export const startDelay = (index: number, projects: number, interval: number): number =>
  projects === 0 ? 0 : (index / projects) * interval

/**
 * Wakes for two refreshes: one in the minutes before the window opens, and one when it opens. `random`, a number from 0
 * to 1, spreads the first refreshes of different projects.
 */
export const windowWakes = (opensAt: number, now: number, random: number): readonly Omit<Wake, 'project'>[] => [
  ...(opensAt - REFRESH_AHEAD > now ? [{ at: opensAt - REFRESH_AHEAD * random, cause: 'interval' as const }] : []),
  { at: opensAt, cause: 'window' },
]

/**
 * When a project is refreshed next after a round.
 *
 * @param isDue whether a step remains that could run now.
 */
export const wakesAfterRound = (
  { retryAt, wait }: ProjectFile,
  { verdicts }: Round,
  isDue: boolean,
  { now, interval, random }: { readonly now: number; readonly interval: number; readonly random: () => number },
): readonly Omit<Wake, 'project'>[] => {
  const isUnconfirmed = [...verdicts.values()].some(({ reason }) => reason === 'DriftUnconfirmed')
  return [
    { at: now + jittered(interval, random()), cause: 'interval' },
    ...(retryAt === undefined && !isDue ? [] : [{ at: retryAt ?? now + MINUTE, cause: 'backoff' } as const]),
    ...(isUnconfirmed ? [{ at: now + MINUTE, cause: 'interval' } as const] : []),
    ...(wait === undefined || wait.opensAt <= now ? [] : windowWakes(wait.opensAt, now, random())),
    ...(wait === undefined ? [] : [{ at: wait.closesAt, cause: 'window' } as const]),
  ]
}

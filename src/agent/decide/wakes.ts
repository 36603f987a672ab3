/** Decides when projects are due, and which restart window their steps wait for. */
import { compare } from '../../base/index.ts'
import type { MissCause, Step } from '../../model/index.ts'
import { closingOf, openingOf } from '../../model/window-opening.ts'
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
export const startDelay = (index: number, projects: number, interval: number): number => (index / projects) * interval

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
  { verdicts }: Pick<Round, 'verdicts'>,
  isDue: boolean,
  { now, interval, random }: { readonly now: number; readonly interval: number; readonly random: () => number },
): readonly Omit<Wake, 'project'>[] => {
  // A retry that was due, but that this round could not make, must not be due again at once.
  const isRetried = retryAt !== undefined && retryAt > now
  const isUnconfirmed = [...verdicts.values()].some(({ reason }) => reason === 'DriftUnconfirmed')
  return [
    { at: now + jittered(interval, random()), cause: 'interval' },
    ...(isRetried || isDue ? [{ at: isRetried ? retryAt : now + MINUTE, cause: 'backoff' } as const] : []),
    ...(isUnconfirmed ? [{ at: now + MINUTE, cause: 'interval' } as const] : []),
    ...(wait === undefined || wait.opensAt <= now ? [] : windowWakes(wait.opensAt, now, random())),
    ...(wait === undefined ? [] : [{ at: wait.closesAt, cause: 'window' } as const]),
  ]
}

// Determines the window that a project's steps wait for or run in, and whether it was missed. Has no side effects.

type Wait = NonNullable<ProjectFile['wait']>

interface Times {
  readonly now: number
  readonly runningSince: number
  readonly isSuspended: boolean
  /** Whether the manifests are invalid, or were fetched too long ago. */
  readonly isUnusable: boolean
}

/**
 * The window that the steps wait for or run in, and the window that they missed, if any.
 *
 * @param round the round as it would be if the project were not suspended, and the manifests were valid and fetched just now.
 * @param known the window that they waited for before.
 */
export const afterWindows = (
  round: Round,
  known: Wait | undefined,
  times: Times,
): Pick<ProjectFile, 'wait' | 'missed'> => {
  const steps = windowedSteps(round)
  const missed = missedWindow(known, steps.length > 0, times)
  return { wait: waitOf(steps, missed === undefined ? known : undefined, times.now), missed }
}

/**
 * The steps that run in a window, now or later. They include steps that were tried too often, because these may run in
 * the next window.
 */
const windowedSteps = ({ plan, steps, exhausted }: Pick<Round, 'plan' | 'steps' | 'exhausted'>): readonly Step[] =>
  [...plan.steps.filter(({ id }) => steps.get(id)?.action !== 'skip'), ...exhausted].filter(
    ({ impact, windows = [] }) => impact !== 'none' && windows.length > 0,
  )

/** The window of these steps that is open or opens next. The same window is returned until it has closed. */
const waitOf = (steps: readonly Step[], known: Wait | undefined, now: number): Wait | undefined => {
  const openings = steps.flatMap(({ windows = [] }): readonly Wait[] => {
    const { isOpen, opensAt } = openingOf(windows, now)
    if (!isOpen && opensAt === undefined) return []
    const opens = isOpen ? now : Date.parse(opensAt ?? '')
    return [{ opensAt: opens, closesAt: closingOf(windows, opens), failed: false }]
  })
  const next = openings.sort((a, b) => a.opensAt - b.opensAt)[0]
  const isSame =
    known !== undefined && next !== undefined && known.opensAt <= next.opensAt && next.opensAt < known.closesAt
  return isSame ? { ...known, closesAt: next.opensAt <= now ? next.closesAt : known.closesAt } : next
}

/**
 * The window that closed before its work was done, and the cause. `undefined` if the window is still open or the work
 * is done.
 */
export const missedWindow = (known: Wait | undefined, isWorkLeft: boolean, agent: Times): ProjectFile['missed'] => {
  if (known === undefined || !isWorkLeft || agent.now < known.closesAt) return undefined
  return {
    opensAt: new Date(known.opensAt).toISOString(),
    closesAt: new Date(known.closesAt).toISOString(),
    cause: causeOf(known, agent),
  }
}

const causeOf = ({ opensAt, closesAt, failed }: Wait, { runningSince, isSuspended, isUnusable }: Times): MissCause => {
  if (isSuspended) return 'suspended'
  if (runningSince >= closesAt) return 'agent-down'
  if (failed || isUnusable) return 'failed'
  return runningSince > opensAt ? 'agent-down' : 'too-little-time'
}

/** Decides when projects are due, and runs them. Several run concurrently, but never two rounds of the same project. */
import { type Clock, compare } from '../base/index.ts'
import type { ProjectFile } from './data-folder.ts'
import type { Round } from './decide/round.ts'

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

export interface Scheduler {
  /** Adds a wake. If the project already has a wake with the same cause, the earlier of the two times is kept. */
  wake(project: string, at: number, cause: WakeCause): void
  /** Drops all wakes of the project. */
  forget(project: string): void
  /** When the scheduler last checked the clock, in milliseconds since the epoch. */
  tickedAt(): number
  /** Runs until `stop` is called, and then waits for running work to complete. */
  run(): Promise<void>
  stop(): void
}

export interface SchedulerOptions {
  readonly clock: Clock
  /** The current time, in milliseconds since the epoch. */
  readonly now: () => number
  readonly concurrency: number
  /** Must not reject. @param dueAt when the wake that started the work was due. */
  readonly work: (project: string, cause: WakeCause, dueAt: number) => Promise<void>
}

export const createScheduler = ({ clock, now, concurrency, work }: SchedulerOptions): Scheduler => {
  const wakes = new Map<string, Wake>()
  const running = new Map<string, Promise<void>>()
  let tickedAt = now()
  let isStopped = false
  let alarm = new AbortController()
  let alarmAt = Number.NEGATIVE_INFINITY
  const ring = (): void => alarm.abort()

  const start = ({ project, cause, at }: Wake): void => {
    for (const [key, wake] of wakes) if (wake.project === project && wake.at <= now()) wakes.delete(key)
    const done = work(project, cause, at).finally(() => {
      running.delete(project)
      ring()
    })
    running.set(project, done)
  }
  return {
    wake: (project, at, cause) => {
      const key = `${project} ${cause}`
      const known = wakes.get(key)
      if (known !== undefined && known.at <= at) return
      wakes.set(key, { project, at, cause })
      if (at < alarmAt) ring()
    },
    forget: (project) => {
      for (const [key, wake] of wakes) if (wake.project === project) wakes.delete(key)
    },
    tickedAt: () => tickedAt,
    run: async () => {
      while (!isStopped) {
        if (alarm.signal.aborted) alarm = new AbortController()
        tickedAt = now()
        for (const wake of dueWakes([...wakes.values()], now())) {
          if (running.size >= concurrency) break
          if (!running.has(wake.project)) start(wake)
        }
        const idle = [...wakes.values()].filter(({ project }) => !running.has(project))
        // If more projects are due than may run concurrently, the others start when a running one ends.
        const next = running.size >= concurrency ? [] : idle
        const ms = timerFor(next, now())
        alarmAt = now() + ms
        await clock.sleep(ms, alarm.signal).catch(() => undefined)
      }
      await Promise.all(running.values())
    },
    stop: () => {
      isStopped = true
      ring()
    },
  }
}

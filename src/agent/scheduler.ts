/** Runs projects when they are due. Several projects run concurrently, but never two rounds of the same project. */
import { compare } from '../base/index.ts'
import type { Clock } from '../model/index.ts'

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

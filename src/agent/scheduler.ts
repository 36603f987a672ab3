/** Runs projects when they are due. Several run concurrently, but never two rounds of the same project. */
import type { Clock } from '../base/index.ts'
import { dueWakes, timerFor, type Wake, type WakeCause } from './decide/wakes.ts'

/** Smaller corrections of the clock are not jumps. While the computer is asleep, only the clock goes on. */
const JUMP_MS = 60_000

interface SchedulerOptions {
  readonly clock: Clock
  /** The current time, in milliseconds since the epoch. */
  readonly now: () => number
  readonly concurrency: number
  /** Must not reject. @param dueAt when the wake that started the work was due. */
  readonly work: (project: string, cause: WakeCause, dueAt: number) => Promise<void>
}

export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #wakes = new Map<string, Wake>()
  readonly #running = new Map<string, Promise<void>>()
  /** When the scheduler last checked the clock, in milliseconds since the epoch. */
  tickedAt: number
  /** When the clock last jumped, or the scheduler was created. */
  steadySince: number
  #ticked: number
  #isStopped = false
  #alarm = new AbortController()
  #alarmAt = Number.NEGATIVE_INFINITY

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.tickedAt = options.now()
    this.steadySince = this.tickedAt
    this.#ticked = options.clock.now()
  }

  get idleMs(): number {
    return this.#options.clock.now() - this.#ticked
  }

  /** Adds a wake. If the project already has a wake with the same cause, the earlier of the two times is kept. */
  wake(project: string, at: number, cause: WakeCause): void {
    const key = `${project} ${cause}`
    const known = this.#wakes.get(key)
    if (known !== undefined && known.at <= at) return
    this.#wakes.set(key, { project, at, cause })
    if (at < this.#alarmAt) this.#alarm.abort()
  }

  /** Drops the wakes of the project, or only those that are due at `until`. */
  forget(project: string, until = Number.POSITIVE_INFINITY): void {
    for (const [key, wake] of this.#wakes) if (wake.project === project && wake.at <= until) this.#wakes.delete(key)
  }

  /** Runs until `stop` is called, and then waits for running work to complete. */
  async run(): Promise<void> {
    const { clock, now, concurrency } = this.#options
    while (!this.#isStopped) {
      if (this.#alarm.signal.aborted) this.#alarm = new AbortController()
      this.tickedAt = now()
      this.#ticked = clock.now()
      for (const wake of dueWakes([...this.#wakes.values()], now())) {
        if (this.#running.size >= concurrency) break
        if (!this.#running.has(wake.project)) this.#start(wake)
      }
      const idle = [...this.#wakes.values()].filter(({ project }) => !this.#running.has(project))
      // If more projects are due than may run concurrently, the others start when a running one ends.
      const ms = timerFor(this.#running.size >= concurrency ? [] : idle, now())
      this.#alarmAt = now() + ms
      await clock.sleep(ms, this.#alarm.signal).catch(() => undefined)
      const jump = now() - this.tickedAt - this.idleMs
      if (Math.abs(jump) > JUMP_MS) this.#follow(jump)
    }
    await Promise.all(this.#running.values())
  }

  stop(): void {
    this.#isStopped = true
    this.#alarm.abort()
  }

  /** If the clock was set back, only windows are due when it says so: everything else was to happen after some time. */
  #follow(jump: number): void {
    this.steadySince = this.#options.now()
    for (const [key, wake] of this.#wakes)
      if (jump < 0 && wake.cause !== 'window') this.#wakes.set(key, { ...wake, at: wake.at + jump })
  }

  #start({ project, cause, at }: Wake): void {
    const { now, work } = this.#options
    this.forget(project, now())
    const done = work(project, cause, at).finally(() => {
      this.#running.delete(project)
      this.#alarm.abort()
    })
    this.#running.set(project, done)
  }
}

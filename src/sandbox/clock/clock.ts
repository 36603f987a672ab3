/** The sandbox's own time: everything in its world happens on it. Milliseconds since the epoch. */
export interface SandboxClock {
  now(): number
  /** What it showed at a moment of the machine, as `performance.now()` counts them. */
  when(moment: number): number
  /** Runs `task` once at `time`, or soon if that has passed. Returns a function that cancels it. */
  at(time: number, task: () => void): () => void
  /** Moves time on; tasks that fall due run in order of their times, those that they set included. */
  advance(ms: number): Promise<void>
  /** Speed relative to the machine's time. 0: stopped until it is moved. */
  scale: number
}

/** One that a test moves. */
export type ManualClock = SandboxClock

/** Node fires timers beyond this at once, so a far one is set in stretches. */
const LONGEST_MS = 2 ** 31 - 1

/** The machine's time from `start` on, run `scale` times as fast. */
export const scaledClock = (scale = 1, start = Date.now()): SandboxClock => new AdjustableClock(scale, start)

/** Stands still until it is moved. */
export const manualClock = (start = Date.UTC(2026, 0, 1)): ManualClock => new AdjustableClock(0, start)

interface Task {
  readonly time: number
  readonly run: () => void
}

/** From this moment of the machine on, time runs so. */
interface Stretch {
  readonly machine: number
  readonly time: number
  readonly scale: number
}

class AdjustableClock implements SandboxClock {
  /** The last one counts now. */
  readonly #stretches: Stretch[]
  /** By time; of equal times the one set first comes first. */
  readonly #tasks: Task[] = []
  #timer: NodeJS.Timeout | undefined
  /** While time is being moved: where it is. */
  #moving: number | undefined

  constructor(scale: number, start: number) {
    // Monotonic: a machine whose time is set back must not take the world back with it.
    this.#stretches = [{ machine: performance.now(), time: start, scale }]
  }

  get scale(): number {
    return this.#current.scale
  }

  set scale(scale: number) {
    this.#begin(this.now(), scale)
  }

  now(): number {
    return this.#moving ?? at(this.#current, performance.now())
  }

  when(moment: number): number {
    const stretch = this.#stretches.findLast(({ machine }) => machine <= moment) ?? this.#stretches[0]
    return stretch === undefined ? this.now() : Math.min(at(stretch, moment), this.now())
  }

  at(time: number, run: () => void): () => void {
    const task = { time, run }
    this.#tasks.splice(this.#placeAfter(time), 0, task)
    if (this.#tasks[0] === task) this.#arm()
    return () => {
      for (let index = this.#placeAfter(time) - 1; this.#tasks[index]?.time === time; index -= 1) {
        if (this.#tasks[index] !== task) continue
        this.#tasks.splice(index, 1)
        if (index === 0) this.#arm()
        return
      }
    }
  }

  async advance(ms: number): Promise<void> {
    const until = this.now() + ms
    this.#runDue(until)
    this.#begin(until, this.scale)
  }

  get #current(): Stretch {
    const last = this.#stretches.at(-1)
    if (last === undefined) throw new Error('a clock without time')
    return last
  }

  #begin(time: number, scale: number): void {
    this.#stretches.push({ machine: performance.now(), time, scale })
    // Nobody asks for what was hours ago.
    if (this.#stretches.length > 1_000) this.#stretches.splice(0, 500)
    this.#arm()
  }

  /** Index of the first task later than `time`. */
  #placeAfter(time: number): number {
    let [low, high] = [0, this.#tasks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#tasks[middle]?.time ?? 0) <= time) low = middle + 1
      else high = middle
    }
    return low
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const next = this.#tasks[0]
    if (next === undefined || this.scale === 0) return
    const wait = Math.max(0, (next.time - this.now()) / this.scale)
    this.#timer = setTimeout(
      () => {
        this.#runDue(this.now())
        this.#arm()
      },
      Math.min(Math.ceil(wait), LONGEST_MS),
    )
  }

  #runDue(until: number): void {
    for (let task = this.#tasks[0]; task !== undefined && task.time <= until; task = this.#tasks[0]) {
      this.#tasks.shift()
      this.#moving = Math.max(this.now(), task.time)
      try {
        task.run()
      } finally {
        this.#moving = undefined
      }
    }
  }
}

const at = ({ machine, time, scale }: Stretch, moment: number): number => time + (moment - machine) * scale

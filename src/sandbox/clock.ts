/** The sandbox's clock, in milliseconds since the epoch. All times in the sandbox are measured with it. */
export interface Clock {
  now(): number
  /** Moves the clock forward. Everything that becomes due has happened, in order, when the promise resolves. */
  advance(ms: number): Promise<void>
  /** The speed relative to real time. If it is 0, only `advance` moves the clock. */
  scale: number
}

export interface SandboxClock extends Clock {
  /** The time that the clock had when `performance.now()` returned `moment`. */
  when(moment: number): number
  /** Runs `task` once at `time`, or soon if `time` has already passed. Returns a function that cancels the task. */
  at(time: number, task: () => void): () => void
}

/** The longest timeout that Node supports. Tasks that are due later need several timers. */
const LONGEST_MS = 2 ** 31 - 1

/** A clock that starts at `start` and runs `scale` times as fast as real time. */
export const scaledClock = (scale = 1, start = Date.now()): SandboxClock => new AdjustableClock(scale, start)

/** A clock that moves only when `advance` is called. */
export const manualClock = (start = Date.UTC(2026, 0, 1)): SandboxClock => new AdjustableClock(0, start)

interface Task {
  readonly time: number
  readonly run: () => void
}

/** When `performance.now()` was `machine`, the clock was at `time`. Since then, it has run at the speed `scale`. */
interface Segment {
  readonly machine: number
  readonly time: number
  readonly scale: number
}

class AdjustableClock implements SandboxClock {
  /** All segments, oldest first. The last one determines the current time. */
  readonly #segments: Segment[]
  /** Sorted by time. Tasks for the same time run in the order in which they were scheduled. */
  readonly #tasks: Task[] = []
  #timer: NodeJS.Timeout | undefined
  /** The current time while `#runDue` runs tasks. */
  #moving: number | undefined

  constructor(scale: number, start: number) {
    // Use a monotonic clock, so that the sandbox's time does not go back when the machine's time is set back.
    this.#segments = [{ machine: performance.now(), time: start, scale }]
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
    const segment = this.#segments.findLast(({ machine }) => machine <= moment) ?? this.#segments[0]
    return segment === undefined ? this.now() : Math.min(at(segment, moment), this.now())
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

  get #current(): Segment {
    const last = this.#segments.at(-1)
    if (last === undefined) throw new Error('a clock without time')
    return last
  }

  #begin(time: number, scale: number): void {
    this.#segments.push({ machine: performance.now(), time, scale })
    // Enough history for `when`.
    if (this.#segments.length > 1_000) this.#segments.splice(0, 500)
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

const at = ({ machine, time, scale }: Segment, moment: number): number => time + (moment - machine) * scale

/** How long operations take, as far as a run knows: from the projects' past, and from what it has seen end. */
import { operationMs } from '../api/index.ts'
import type { Observed } from '../model/index.ts'

interface Timed {
  readonly action: string
  readonly status: string
  readonly failuresCount: number
  readonly totalDurationMs?: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** The newest that count: a service that became faster or slower is believed after a few steps. */
const KEPT = 20
/** Fewer than these say little of the slowest. */
const ENOUGH = 5
/**
 * The first look comes when nearly all of the like were done, but never much later than the middle one: what waits for
 * the slowest is late for all others.
 */
const NEARLY_ALL = 0.95
const LATER_SHARE = 0.1
const LATER_MS = 200
/** Timers and clocks of both sides are not exact, and a poll that comes a moment too early costs another one. */
const SLACK_MS = 40

/**
 * One run's knowledge. What the run saw itself beats a project's past where the two disagree, a project's own beats what
 * other projects show.
 */
export class Timings {
  readonly #seen = new Map<string, number[]>()
  readonly #past = new Map<string, number[]>()
  #roundTripMs: number | undefined
  #isOtherTime = false

  constructor(observed?: Observed) {
    for (const { id, pastOperations } of observed?.projects ?? []) {
      // Newest first, as the API lists them.
      for (const { action, durationMs } of pastOperations ?? []) {
        for (const key of keysOf(id, action)) put(this.#past, key, durationMs, 'first')
      }
    }
  }

  /**
   * Of one that had to be tried again, its time says nothing of the others.
   *
   * @param elapsedMs how long this run has waited for it. A service that shows far more measures something else, as a
   *   sandbox that runs faster than real time does: then its times are of no use.
   */
  learn(project: string, operation: Timed, elapsedMs = Number.POSITIVE_INFINITY): void {
    if (operation.status !== 'finished' || operation.failuresCount > 0) return
    if (operationMs(operation) > 2 * elapsedMs + SLACK_MS) this.#isOtherTime = true
    for (const key of keysOf(project, operation.action)) put(this.#seen, key, operationMs(operation), 'last')
  }

  /** The shortest that a request and its answer have taken; 0 if none is known. */
  get roundTripMs(): number {
    return this.#roundTripMs ?? 0
  }

  sawRoundTrip(ms: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs ?? ms, ms)
  }

  /**
   * After how many milliseconds operations that were just started are probably done: a project's lock runs them one after
   * the other. `undefined` if nothing is known of one of them.
   */
  expectMs(project: string, actions: readonly string[]): number | undefined {
    if (this.#isOtherTime) return undefined
    let total = 0
    for (const action of actions) {
      const times = this.#timesOf(project, action)
      if (times === undefined) return undefined
      total += whenToLook(times)
    }
    return total
  }

  #timesOf(project: string, action: string): readonly number[] | undefined {
    const [own = '', any = ''] = keysOf(project, action)
    return this.#known(own) ?? this.#known(any)
  }

  /** A few operations that resemble the past say less about the slowest than the past does. */
  #known(key: string): readonly number[] | undefined {
    const [seen, past] = [this.#seen.get(key), this.#past.get(key)]
    if (seen === undefined || past === undefined) return seen ?? past
    const [least, most] = [Math.min(...past) - SLACK_MS, Math.max(...past) + SLACK_MS]
    const isLikeIt = seen.every((ms) => ms >= least && ms <= most)
    return isLikeIt ? [...seen, ...past].slice(0, KEPT) : seen
  }
}

const keysOf = (project: string, action: string): readonly [string, string] => [`${project}\n${action}`, `\n${action}`]

const put = (into: Map<string, number[]>, key: string, ms: number, keep: 'first' | 'last'): void => {
  const times = into.get(key) ?? []
  into.set(key, times)
  if (keep === 'first' && times.length >= KEPT) return
  times.push(ms)
  if (times.length > KEPT) times.shift()
}

const whenToLook = (times: readonly number[]): number => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const middle = at(0.5)
  const latest = middle + Math.max(LATER_MS, middle * LATER_SHARE)
  return sorted.length < ENOUGH ? latest : Math.min(at(NEARLY_ALL) + SLACK_MS, latest)
}

/** Expected durations of operations, from past operations and from those of this run. */
import { type Operation, operationMs } from '../api/index.ts'
import type { Observed } from '../model/index.ts'

type Timed = Pick<Operation, 'action' | 'status' | 'failuresCount' | 'totalDurationMs' | 'createdAt' | 'updatedAt'>

/** Only the newest samples count, so that a change in speed takes effect after a few steps. */
const KEPT = 20
/** With fewer samples, the slow end is not reliable. */
const ENOUGH = 5
/**
 * The first read is when nearly all similar operations had ended, but not much later than the median, because waiting
 * for the slowest would delay all others.
 */
const NEARLY_ALL = 0.95
const LATER_SHARE = 0.1
const LATER_MS = 200
/** Timers and clocks are not exact, and a read that is slightly too early costs another one. */
const SLACK_MS = 40

/**
 * If samples disagree, the run's own observations take precedence over past operations, and a project's own durations
 * over those of others.
 */
export class Timings {
  readonly #seen = new Map<string, number[]>()
  readonly #past = new Map<string, number[]>()
  #roundTripMs: number | undefined
  #isOtherClock = false

  constructor(observed?: Observed) {
    for (const { id, pastOperations } of observed?.projects ?? []) {
      // Newest first, as the API lists them.
      for (const { action, durationMs } of pastOperations ?? []) {
        for (const key of keysOf(id, action)) {
          this.#past.set(key, [...(this.#past.get(key) ?? []), durationMs].slice(0, KEPT))
        }
      }
    }
  }

  /**
   * Ignores operations that were retried.
   *
   * @param elapsedMs how long this run has waited for it. If the service reports far more, its clock runs differently, as
   *   in a sandbox that is faster than real time, and its durations are not used.
   */
  learn(project: string, operation: Timed, elapsedMs = Number.POSITIVE_INFINITY): void {
    if (operation.status !== 'finished' || operation.failuresCount > 0) return
    if (operationMs(operation) > 2 * elapsedMs + SLACK_MS) this.#isOtherClock = true
    for (const key of keysOf(project, operation.action)) {
      this.#seen.set(key, [...(this.#seen.get(key) ?? []), operationMs(operation)].slice(-KEPT))
    }
  }

  /** The shortest round trip so far; 0 if none is known. */
  get roundTripMs(): number {
    return this.#roundTripMs ?? 0
  }

  sawRoundTrip(ms: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs ?? ms, ms)
  }

  /**
   * How many milliseconds operations that were just started probably take. They run one after the other, because of the
   * project's lock. `undefined` if one of them is unknown.
   */
  expectMs(project: string, actions: readonly string[]): number | undefined {
    if (this.#isOtherClock) return undefined
    let total = 0
    for (const action of actions) {
      const times = this.#timesOf(project, action)
      if (times === undefined) return undefined
      total += whenToRead(times)
    }
    return total
  }

  #timesOf(project: string, action: string): readonly number[] | undefined {
    const [own = '', any = ''] = keysOf(project, action)
    return this.#known(own) ?? this.#known(any)
  }

  /** Combines new and past samples while the new ones are within the range of the past ones. */
  #known(key: string): readonly number[] | undefined {
    const [seen, past] = [this.#seen.get(key), this.#past.get(key)]
    if (seen === undefined || past === undefined) return seen ?? past
    const [least, most] = [Math.min(...past) - SLACK_MS, Math.max(...past) + SLACK_MS]
    const isSimilar = seen.every((ms) => ms >= least && ms <= most)
    return isSimilar ? [...seen, ...past].slice(0, KEPT) : seen
  }
}

const keysOf = (project: string, action: string): readonly [string, string] => [`${project}\n${action}`, `\n${action}`]

const whenToRead = (times: readonly number[]): number => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const middle = at(0.5)
  const latest = middle + Math.max(LATER_MS, middle * LATER_SHARE)
  return sorted.length < ENOUGH ? latest : Math.min(at(NEARLY_ALL) + SLACK_MS, latest)
}

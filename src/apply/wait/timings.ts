/** Estimates how long operations take, from past operations and from the operations of this run. */
import { type Operation, operationMs } from '../../api/index.ts'
import { chainsIn, type Observed, type Plan, type Step } from '../../model/index.ts'

type Timed = Pick<Operation, 'action' | 'status' | 'failuresCount' | 'totalDurationMs' | 'createdAt' | 'updatedAt'>

/** How long a request with its checks takes at most, as a rule. */
const REQUEST_MS = 10_000

/** Returns a function that estimates how long a chain takes that begins with a step, in milliseconds. 0 if none does. */
export const chainTimes = (plan: Plan, timings: Timings): ((step: Step) => number) => {
  const chains = chainsIn(plan)
  const msOf = ({ project, actions }: Step): number => REQUEST_MS + (timings.expectMs(project, actions) ?? 0)
  return ({ id }) => (chains.get(id) ?? []).reduce((sum, step) => sum + msOf(step), 0)
}

/** How many samples count. Only the newest do, so that the estimate adapts to a change in speed after a few steps. */
const KEPT = 20
/** With fewer samples than this, it is not known how long slow operations take. */
const ENOUGH = 5
/**
 * The first read takes place at a time by which nearly all similar operations had ended, but not much later than the
 * median. Waiting for the slowest operations would delay all others.
 */
const NEARLY_ALL = 0.95
const LATER_SHARE = 0.1
const LATER_MS = 200
/** Added because timers are not exact, and a read that is slightly too early has to be repeated. Every operation pays it. */
const READ_SLACK_MS = 15
/** By how much durations of equal operations may differ. */
const SLACK_MS = 40

/**
 * Holds samples of durations. If they disagree, observations in this run take precedence over past operations, and the
 * durations in a project take precedence over those in other projects.
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
   * Adds a sample. An operation that was retried is ignored.
   *
   * @param elapsedMs how long this run has waited for the operation. If the service reports a much longer duration, its
   *   clock runs differently, as in a sandbox that is faster than real time, and its durations are not used.
   */
  learn(project: string, operation: Timed, elapsedMs = Number.POSITIVE_INFINITY): void {
    if (operation.status !== 'finished' || operation.failuresCount > 0) return
    if (operationMs(operation) > 2 * elapsedMs + SLACK_MS) this.#isOtherClock = true
    for (const key of keysOf(project, operation.action)) {
      this.#seen.set(key, [...(this.#seen.get(key) ?? []), operationMs(operation)].slice(-KEPT))
    }
  }

  /** The shortest round trip so far, or 0 if none is known. */
  get roundTripMs(): number {
    return this.#roundTripMs ?? 0
  }

  sawRoundTrip(ms: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs ?? ms, ms)
  }

  /**
   * How many milliseconds the operations that were just started will probably take. They run one after the other,
   * because they lock the project. `undefined` if the duration of one of them is unknown.
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

  /** Combines new samples with past samples, as long as the new ones are within the range of the past ones. */
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
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
  const middle = at(0.5)
  const latest = middle + Math.max(LATER_MS, middle * LATER_SHARE)
  return sorted.length < ENOUGH ? latest : Math.min(at(NEARLY_ALL) + READ_SLACK_MS, latest)
}

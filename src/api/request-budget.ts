import type { Clock } from '../model/index.ts'

/** The service's public limits: 700 requests a minute an account, bursts of 40 a second a route. */
export const REQUESTS_A_MINUTE = 700
export const REQUESTS_A_SECOND = 40

interface Window {
  readonly size: number
  readonly ms: number
  readonly sent: number[]
}

/**
 * Keeps all that one client sends under the service's limits: never more than `limit` requests in any window.
 * Callers are let through in the order in which they came.
 */
export class RequestBudget {
  readonly #clock: Clock
  readonly #windows: readonly Window[]
  #turn: Promise<void> = Promise.resolve()

  constructor(clock: Clock, perMinute = REQUESTS_A_MINUTE, perSecond = REQUESTS_A_SECOND) {
    this.#clock = clock
    this.#windows = [
      { size: perSecond, ms: 1_000, sent: [] },
      { size: perMinute, ms: 60_000, sent: [] },
    ]
  }

  take(signal?: AbortSignal): Promise<void> {
    const turn = this.#turn.then(() => this.#wait(signal))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #wait(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const now = this.#clock.now()
      const wait = Math.max(0, ...this.#windows.map((window) => untilRoom(window, now)))
      if (wait === 0) {
        for (const window of this.#windows) window.sent.push(now)
        return
      }
      await this.#clock.sleep(wait, signal)
    }
  }
}

const untilRoom = (window: Window, now: number): number => {
  while (window.sent[0] !== undefined && window.sent[0] <= now - window.ms) window.sent.shift()
  const oldest = window.sent[0]
  return window.sent.length < window.size || oldest === undefined ? 0 : oldest + window.ms - now
}

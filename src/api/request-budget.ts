import type { Clock } from '../model/index.ts'

/** The service's public limits: 700 requests a minute an account, bursts of 40 a second a route. */
export const REQUESTS_A_MINUTE = 700
export const REQUESTS_A_SECOND = 40

/** What is left of the account's limit, or of this client's part of it. */
export interface RequestLimit {
  readonly left: number
  readonly aMinute: number
}

interface Window {
  readonly size: number
  readonly ms: number
  readonly sent: number[]
}

/**
 * Keeps all that one client sends under its part of the service's limits, in any window.
 * Callers are let through in the order in which they came.
 */
export class RequestBudget {
  readonly #clock: Clock
  readonly #minute: Window
  readonly #windows: readonly Window[]
  readonly #onUse: (limit: RequestLimit) => void
  #turn: Promise<void> = Promise.resolve()

  /** @param clients how many share the limits, this one among them. */
  constructor(clock: Clock, clients = 1, onUse: (limit: RequestLimit) => void = () => undefined) {
    this.#clock = clock
    this.#onUse = onUse
    const part = (limit: number): number => Math.max(1, Math.floor(limit / clients))
    this.#minute = { size: part(REQUESTS_A_MINUTE), ms: 60_000, sent: [] }
    this.#windows = [{ size: part(REQUESTS_A_SECOND), ms: 1_000, sent: [] }, this.#minute]
  }

  /** Resolves when a request may be sent, which is to be done at once. */
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
        const { size, sent } = this.#minute
        this.#onUse({ left: size - sent.length, aMinute: size })
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

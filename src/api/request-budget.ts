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
  readonly limit: number
  readonly ms: number
  readonly sent: number[]
}

/**
 * Keeps all that one client sends under its part of the service's limits, in any window.
 * Callers are let through in the order in which they came.
 */
export class RequestBudget {
  readonly #clock: Clock
  readonly #clients: () => number
  readonly #minute: Window
  readonly #windows: readonly Window[]
  readonly #onUse: (limit: RequestLimit) => void
  #turn: Promise<void> = Promise.resolve()

  /** @param clients how many share the limits now, this one among them. */
  constructor(clock: Clock, clients: () => number = () => 1, onUse: (limit: RequestLimit) => void = () => undefined) {
    this.#clock = clock
    this.#clients = clients
    this.#onUse = onUse
    this.#minute = { limit: REQUESTS_A_MINUTE, ms: 60_000, sent: [] }
    this.#windows = [{ limit: REQUESTS_A_SECOND, ms: 1_000, sent: [] }, this.#minute]
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
      const part = (limit: number): number => Math.max(1, Math.floor(limit / this.#clients()))
      const wait = Math.max(0, ...this.#windows.map((window) => untilRoom(window, part(window.limit), now)))
      if (wait === 0) {
        for (const window of this.#windows) window.sent.push(now)
        const aMinute = part(this.#minute.limit)
        this.#onUse({ left: Math.max(0, aMinute - this.#minute.sent.length), aMinute })
        return
      }
      await this.#clock.sleep(wait, signal)
    }
  }
}

const untilRoom = (window: Window, size: number, now: number): number => {
  while (window.sent[0] !== undefined && window.sent[0] <= now - window.ms) window.sent.shift()
  // The limit may have shrunk in the meantime.
  const oldest = window.sent[Math.max(0, window.sent.length - size)]
  return window.sent.length < size || oldest === undefined ? 0 : oldest + window.ms - now
}

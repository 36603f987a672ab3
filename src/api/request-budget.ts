import type { Clock } from '../model/index.ts'

/** The service's public rate limits: 700 requests a minute per account, bursts of 40 a second per route. */
export const REQUESTS_A_MINUTE = 700
export const REQUESTS_A_SECOND = 40

/** How much is left of this client's share of the account's limit. */
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
 * Keeps a client below its share of the service's rate limits in any time window. Serves callers in order.
 */
export class RequestBudget {
  readonly #clock: Clock
  readonly #clients: () => number
  readonly #minute: Window
  readonly #windows: readonly Window[]
  readonly #onUse: (limit: RequestLimit) => void
  #turn: Promise<void> = Promise.resolve()

  /** @param clients how many clients currently share the limits, including this one. */
  constructor(
    clock: Clock,
    clients: number | (() => number) = 1,
    onUse: (limit: RequestLimit) => void = () => undefined,
  ) {
    this.#clock = clock
    this.#clients = typeof clients === 'function' ? clients : () => clients
    this.#onUse = onUse
    this.#minute = { limit: REQUESTS_A_MINUTE, ms: 60_000, sent: [] }
    this.#windows = [{ limit: REQUESTS_A_SECOND, ms: 1_000, sent: [] }, this.#minute]
  }

  /** Resolves when a request may be sent. Send it immediately. */
  take(signal?: AbortSignal): Promise<void> {
    const turn = this.#turn.then(() => this.#wait(signal))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #wait(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const now = this.#clock.now()
      const share = (limit: number): number => Math.max(1, Math.floor(limit / this.#clients()))
      const wait = Math.max(0, ...this.#windows.map((window) => msUntilFree(window, share(window.limit), now)))
      if (wait === 0) {
        for (const window of this.#windows) window.sent.push(now)
        const aMinute = share(this.#minute.limit)
        this.#onUse({ left: Math.max(0, aMinute - this.#minute.sent.length), aMinute })
        return
      }
      await this.#clock.sleep(wait, signal)
    }
  }
}

const msUntilFree = (window: Window, size: number, now: number): number => {
  while (window.sent[0] !== undefined && window.sent[0] <= now - window.ms) window.sent.shift()
  // The share may have shrunk in the meantime.
  const oldest = window.sent[Math.max(0, window.sent.length - size)]
  return window.sent.length < size || oldest === undefined ? 0 : oldest + window.ms - now
}

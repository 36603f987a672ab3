import type { Clock } from '../base/index.ts'

/** The service's public rate limits: 700 requests per minute per account, and bursts of 40 per second per route. */
const ACCOUNT = { limit: 700, ms: 60_000 }
const ROUTE = { limit: 40, ms: 1_000 }

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

/** Requests to a route are sent in order; those to other routes do not wait for them. */
interface Route {
  readonly window: Window
  turn: Promise<void>
}

/** Keeps a client within its share of the service's rate limits in any time window. */
export class RequestBudget {
  readonly #clock: Clock
  readonly #clients: () => number
  readonly #account: Window = { ...ACCOUNT, sent: [] }
  readonly #routes = new Map<string, Route>()
  readonly #onUse: (limit: RequestLimit) => void

  /** @param clients how many clients currently share the limits, including this one. */
  constructor(
    clock: Clock,
    clients: number | (() => number) = 1,
    onUse: (limit: RequestLimit) => void = () => undefined,
  ) {
    this.#clock = clock
    this.#clients = typeof clients === 'function' ? clients : () => clients
    this.#onUse = onUse
  }

  /**
   * Resolves when a request may be sent. Send it immediately.
   *
   * @param path of the request, below the API root.
   */
  take(path: string, signal?: AbortSignal): Promise<void> {
    const name = routeOf(path)
    const route = this.#routes.get(name) ?? { window: { ...ROUTE, sent: [] }, turn: Promise.resolve() }
    this.#routes.set(name, route)
    const turn = route.turn.then(() => this.#wait(route.window, signal))
    route.turn = turn.catch(() => undefined)
    return turn
  }

  async #wait(route: Window, signal?: AbortSignal): Promise<void> {
    const windows = [route, this.#account]
    for (;;) {
      const now = this.#clock.now()
      const share = (limit: number): number => Math.max(1, Math.floor(limit / this.#clients()))
      const wait = Math.max(0, ...windows.map((window) => msUntilFree(window, share(window.limit), now)))
      if (wait === 0) {
        for (const window of windows) window.sent.push(now)
        const aMinute = share(this.#account.limit)
        this.#onUse({ left: Math.max(0, aMinute - this.#account.sent.length), aMinute })
        return
      }
      await this.#clock.sleep(wait, signal)
    }
  }
}

/** The path without the ids, which alternate with the names of collections. */
const routeOf = (path: string): string => path.replace(/\?.*/, '').replace(/(\/[^/]+)\/[^/]+/g, '$1/*')

const msUntilFree = (window: Window, size: number, now: number): number => {
  while (window.sent[0] !== undefined && window.sent[0] <= now - window.ms) window.sent.shift()
  // The share may have shrunk in the meantime.
  const oldest = window.sent[Math.max(0, window.sent.length - size)]
  return window.sent.length < size || oldest === undefined ? 0 : oldest + window.ms - now
}

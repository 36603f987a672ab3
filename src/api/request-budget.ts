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
  /** How many slots are held for requests that are about to be sent. */
  held: number
}

/** Requests to a route are sent in order; those to other routes do not wait for them. */
interface Route {
  readonly window: Window
  turn: Promise<unknown>
}

/** Keeps a client within its share of the service's rate limits in any time window. */
export class RequestBudget {
  readonly #clock: Clock
  readonly #clients: () => number
  readonly #account: Window = { ...ACCOUNT, sent: [], held: 0 }
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
    return this.#queue(path, signal, (windows) => this.#count(windows))
  }

  /**
   * Like `take`, for a request that other requests precede. Its slot is held until the returned function is called,
   * which says whether the request is sent now or not at all.
   */
  hold(path: string, signal?: AbortSignal): Promise<(isSent: boolean) => void> {
    return this.#queue(path, signal, (windows) => {
      // The preceding requests need slots too, so the last slot of a share is not held.
      const holding = windows.filter(({ limit, held }) => held + 1 < this.#share(limit))
      for (const window of holding) window.held += 1
      return (isSent) => {
        for (const window of holding) window.held -= 1
        if (isSent) this.#count(windows)
      }
    })
  }

  #queue<T>(path: string, signal: AbortSignal | undefined, use: (windows: readonly Window[]) => T): Promise<T> {
    const name = routeOf(path)
    const route = this.#routes.get(name) ?? { window: { ...ROUTE, sent: [], held: 0 }, turn: Promise.resolve() }
    this.#routes.set(name, route)
    const windows = [route.window, this.#account]
    const turn = route.turn.then(() => this.#wait(windows, signal, use))
    route.turn = turn.catch(() => undefined)
    return turn
  }

  async #wait<T>(
    windows: readonly Window[],
    signal: AbortSignal | undefined,
    use: (windows: readonly Window[]) => T,
  ): Promise<T> {
    for (;;) {
      const now = this.#clock.now()
      const free = (window: Window): number => Math.max(1, this.#share(window.limit) - window.held)
      const wait = Math.max(0, ...windows.map((window) => msUntilFree(window, free(window), now)))
      if (wait === 0) return use(windows)
      await this.#clock.sleep(wait, signal)
    }
  }

  #count(windows: readonly Window[]): void {
    for (const { sent } of windows) sent.push(this.#clock.now())
    const aMinute = this.#share(this.#account.limit)
    this.#onUse({ left: Math.max(0, aMinute - this.#account.sent.length), aMinute })
  }

  #share(limit: number): number {
    return Math.max(1, Math.floor(limit / this.#clients()))
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

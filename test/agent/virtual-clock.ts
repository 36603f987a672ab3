/** A clock that advances only when the test advances it. */
import { setImmediate as settled } from 'node:timers/promises'
import type { Clock } from '../../src/base/index.ts'

interface Sleeper {
  readonly until: number
  wake(): void
}

export class VirtualClock implements Clock {
  #now: number
  readonly #sleepers = new Set<Sleeper>()

  constructor(start: number) {
    this.#now = start
  }
  now(): number {
    return this.#now
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { until: this.#now + ms, wake: resolve }
      const abort = (): void => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason)
      }
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      this.#sleepers.add(sleeper)
    })
  }
  /** Runs due timers in order, including those that they start. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await quiet()
    for (;;) {
      const [next] = [...this.#sleepers].sort((a, b) => a.until - b.until)
      if (next === undefined || next.until > end) break
      this.#sleepers.delete(next)
      this.#now = Math.max(this.#now, next.until)
      next.wake()
      await quiet()
    }
    this.#now = end
  }
}

/** Waits until all pending microtasks and immediates have run. */
export const quiet = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await settled()
}

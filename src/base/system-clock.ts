import { setTimeout as delay } from 'node:timers/promises'

/** Monotonic, in milliseconds. `performance.now()` is equivalent but takes longer to load. */
const uptime = (): number => process.uptime() * 1_000

const start = Date.now() - uptime()

/** Real time. Monotonic: changing the system time does not affect waits. */
export const systemClock = {
  now: (): number => Math.round(start + uptime()),
  date: (): number => Date.now(),
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
    delay(ms, undefined, signal === undefined ? {} : { signal }),
}

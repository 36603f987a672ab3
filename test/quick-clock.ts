/** A clock that runs faster than real time, for waiting on real resources such as a server on loopback. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../src/base/index.ts'

/** `date` returns the real date. */
export const quickClock = (factor = 20): Required<Clock> => {
  const start = Date.now() - performance.now() * factor
  return {
    now: () => Math.round(start + performance.now() * factor),
    date: () => Date.now(),
    sleep: (ms, signal) => delay(ms / factor, undefined, signal === undefined ? {} : { signal }),
  }
}

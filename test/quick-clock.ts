/** Time that runs faster than real time, for waits on something that is itself real, such as a server on loopback. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../src/model/index.ts'

/** The calendar, `date`, is the real one. */
export const quickClock = (factor = 20): Required<Clock> => {
  const start = Date.now() - performance.now() * factor
  return {
    now: () => Math.round(start + performance.now() * factor),
    date: () => Date.now(),
    sleep: (ms, signal) => delay(ms / factor, undefined, signal === undefined ? {} : { signal }),
  }
}

/** A clock that runs faster than real time, for waiting on real resources such as a server on loopback. */
import { type Clock, systemClock } from '../src/base/index.ts'

/** `date` returns the real date. */
export const quickClock = (factor = 20): Required<Clock> => {
  const start = Date.now() - performance.now() * factor
  return {
    now: () => Math.round(start + performance.now() * factor),
    date: () => Date.now(),
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../model/index.ts'

const start = Date.now() - performance.now()

/** Real time from the start of the program on. Setting the machine's clock neither shortens nor prolongs a wait. */
export const systemClock: Clock = {
  now: () => Math.round(start + performance.now()),
  date: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
}

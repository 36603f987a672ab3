import { setTimeout as delay } from 'node:timers/promises'

const start = Date.now() - performance.now()

/** Real time from the start of the program on. Setting the machine's clock neither shortens nor prolongs a wait. */
export const systemClock = {
  now: (): number => Math.round(start + performance.now()),
  date: (): number => Date.now(),
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
    delay(ms, undefined, signal === undefined ? {} : { signal }),
}

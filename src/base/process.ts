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

/** Whether a process is running, even if it belongs to another user. */
export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Calls `handle` for each signal. Returns a function that removes the handler. */
export type OnSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGCONT', handle: () => void) => () => void

/** Signals of this process. */
export const onProcessSignal: OnSignal = (signal, handle) => {
  process.on(signal, handle)
  return () => void process.off(signal, handle)
}

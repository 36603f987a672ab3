/** Looking again and again, until Ctrl-C. */
import { systemClock } from '../api/index.ts'

const CLEAR = '\u001b[H\u001b[2J\u001b[3J'

/** @param look what is done each time; it is seen through when an interrupt comes. */
export const untilInterrupted = async (everyMs: number, look: () => Promise<void>): Promise<void> => {
  const interrupted = new AbortController()
  const stop = (): void => interrupted.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    while (!interrupted.signal.aborted) {
      await look()
      await systemClock.sleep(everyMs, interrupted.signal).catch(() => undefined)
    }
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

/** Puts what follows in the place of what stands on a terminal; elsewhere it stands below. */
export const redraw = (): void => {
  if (process.stdout.isTTY === true) process.stdout.write(CLEAR)
}

/** Looking again and again, until Ctrl-C. */
import type { Io } from './io.ts'

/** Home, and clear from there: what scrolled away stays. */
const CLEAR = '\u001b[H\u001b[J'

/** @param look what is done each time; it is seen through when an interrupt comes. */
export const untilInterrupted = async (
  everyMs: number,
  look: () => Promise<void>,
  { clock, onSignal }: Io,
): Promise<void> => {
  const interrupted = new AbortController()
  const stop = (): void => interrupted.abort()
  const releases = [onSignal('SIGINT', stop), onSignal('SIGTERM', stop)]
  try {
    while (!interrupted.signal.aborted) {
      await look()
      await clock.sleep(everyMs, interrupted.signal).catch(() => undefined)
    }
  } finally {
    for (const release of releases) release()
  }
}

/** Puts what follows in the place of what stands on a terminal; elsewhere it stands below. */
export const redraw = ({ stdout }: Io): void => {
  if (stdout.isTTY === true) stdout.write(CLEAR)
}

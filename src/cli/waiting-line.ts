/** A line on stderr that says what is being waited for, on a terminal only. */
import { BottomLines } from './bottom-lines.ts'
import type { Io } from './io.ts'
import { canRedraw } from './terminal.ts'

const EVERY_MS = 1_000

/**
 * @param textOf the line as it is now; empty: none.
 * @returns what takes it away.
 */
export const waitingLine = (textOf: () => string, io: Io): (() => void) => {
  if (!canRedraw(io.stderr, io.env)) return () => undefined
  const bottom = new BottomLines(io.stderr, io.stdout, io.onSignal)
  const timer = setInterval(() => bottom.draw([textOf()].filter((text) => text !== '')), EVERY_MS)
  return () => {
    clearInterval(timer)
    bottom.close()
  }
}

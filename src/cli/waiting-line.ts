/** On a terminal, shows on stderr what the program is waiting for. */
import { BottomLines } from './bottom-lines.ts'
import type { Io } from './io.ts'
import { canRedraw } from './terminal.ts'

const EVERY_MS = 1_000

/**
 * @param textOf the current text; empty for no line.
 * @returns a function that removes the line.
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

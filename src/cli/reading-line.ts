/** Shows on a terminal how many of the projects have been read. */
import type { OnReading, RequestLimit } from '../api/index.ts'
import { readingLine as lineOf } from '../report/index.ts'
import { waitingLine } from './bottom-lines.ts'
import type { Io } from './io.ts'

export interface ReadingLine {
  /** Shows the line as long as there is something left to read. */
  readonly onReading: OnReading
  readonly onLimit: (limit: RequestLimit) => void
  /** Erases the line. This is called even if reading failed. */
  end(): void
}

export const readingLine = (io: Io): ReadingLine => {
  let limit: RequestLimit | undefined
  let latest: (Parameters<OnReading>[0] & { readonly since: number }) | undefined
  let erase: (() => void) | undefined
  const text = (): string => {
    if (latest === undefined) return ''
    const { since, ...reading } = latest
    const view = { ...reading, elapsedMs: io.clock.now() - since, width: io.stderr.columns ?? 80 }
    return lineOf(limit === undefined ? view : { ...view, limit })
  }
  const end = (): void => {
    erase?.()
    erase = undefined
    latest = undefined
  }
  return {
    onReading: (reading) => {
      if (reading.done >= reading.total) return end()
      latest = { ...reading, since: latest?.what === reading.what ? latest.since : io.clock.now() }
      erase ??= waitingLine(text, io)
    },
    onLimit: (now) => {
      limit = now
    },
    end,
  }
}

/** Keeps lines at the bottom of a terminal. All other output appears above them. */
import stringWidth from 'string-width'
import type { OnReading, RequestLimit } from '../../api/index.ts'
import type { OnSignal } from '../../base/index.ts'
import { readingLine as lineOf } from '../../report/index.ts'
import type { Io, Output } from '../setup/io.ts'
import { canRedraw } from './terminal.ts'

type Stream = Pick<Output, 'write' | 'isTTY' | 'columns' | 'rows'>
type Write = Stream['write']

const up = (rows: number): string => (rows === 0 ? '' : `\u001b[${rows}A`)
const ERASE_BELOW = '\r\u001b[J'

export class BottomLines {
  readonly #out: Stream
  readonly #write: Write
  readonly #restores: (() => void)[]
  #lines: readonly string[] = []
  /** The lines that are on the screen now. */
  #shown: readonly string[] = []
  #redrawing: NodeJS.Immediate | undefined
  /** Whether the last output did not end with a newline. */
  #isLineOpen = false

  /** Intercepts writes to both streams, so that other code can print as usual. */
  constructor(out: Stream, err: Stream, onSignal: OnSignal) {
    this.#out = out
    this.#write = out.write.bind(out)
    this.#restores = [out, err].filter(({ isTTY }) => isTTY).map((stream) => this.#intercept(stream))
    // After Ctrl-Z and `fg`, the shell has printed a prompt, so the lines are drawn again below it.
    const unlisten = onSignal('SIGCONT', () => {
      this.#shown = []
    })
    this.#restores.push(unlisten)
  }

  draw(lines: readonly string[]): void {
    this.#lines = lines
    clearImmediate(this.#redrawing)
    this.#redrawing = undefined
    const gap = this.#isLineOpen ? '\n' : ''
    this.#isLineOpen = false
    const fitting = this.#fitting(lines)
    this.#write(`${this.#erasing()}${gap}${fitting.map((line) => `${line}\n`).join('')}`)
    this.#shown = fitting
  }

  /** Erases the lines and restores the streams. */
  close(): void {
    clearImmediate(this.#redrawing)
    this.#write(this.#erasing())
    this.#shown = []
    this.#lines = []
    for (const restore of this.#restores) restore()
  }

  /** As many lines as fit. The terminal may have become smaller, and lines that scroll off the top cannot be erased. */
  #fitting(lines: readonly string[]): readonly string[] {
    const room = (this.#out.rows ?? 24) - 1
    const fitting: string[] = []
    let used = 0
    for (const line of lines) {
      used += this.#rowsOf(line)
      if (used > room) break
      fitting.push(line)
    }
    return fitting
  }

  /** Counts the rows of wrapped lines, because the terminal may have become narrower since the lines were drawn. */
  #erasing(): string {
    if (this.#shown.length === 0) return ''
    return up(this.#shown.reduce((sum, line) => sum + this.#rowsOf(line), 0)) + ERASE_BELOW
  }

  #rowsOf(line: string): number {
    return Math.max(1, Math.ceil(stringWidth(line) / Math.max(1, this.#out.columns ?? 80)))
  }

  #intercept(stream: Stream): () => void {
    const own = stream.write
    stream.write = ((...args: Parameters<Write>) => {
      if (this.#shown.length > 0) this.#write(this.#erasing())
      this.#shown = []
      const isTaken = own.apply(stream, args)
      this.#isLineOpen = !String(args[0]).endsWith('\n')
      if (this.#isLineOpen) this.#lines = []
      // Output often comes in bursts, so the lines are drawn again only after the last write.
      else if (this.#lines.length > 0) this.#redrawing ??= setImmediate(() => this.draw(this.#lines))
      return isTaken
    }) as Write
    return () => {
      stream.write = own
    }
  }
}

const EVERY_MS = 1_000

/**
 * Shows on stderr what the program is waiting for, if stderr is a terminal.
 *
 * @param textOf returns the current text, or an empty string to show no line.
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

// Shows on a terminal how many of the projects have been read.

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

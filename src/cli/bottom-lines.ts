/** Lines that stay at the bottom of a terminal while everything that is printed meanwhile goes above them. */
import stringWidth from 'string-width'
import type { OnSignal } from '../base/index.ts'
import type { Output } from './io.ts'

type Stream = Pick<Output, 'write' | 'isTTY' | 'columns' | 'rows'>
type Write = Stream['write']

const up = (rows: number): string => (rows === 0 ? '' : `\u001b[${rows}A`)
const ERASE_BELOW = '\r\u001b[J'

export class BottomLines {
  readonly #out: Stream
  readonly #write: Write
  readonly #restores: (() => void)[]
  #lines: readonly string[] = []
  /** Those of them that are on the screen now. */
  #shown: readonly string[] = []
  #redrawing: NodeJS.Immediate | undefined
  /** Whether something was printed whose line has not ended. */
  #isLineOpen = false

  /** Takes over the writing to both streams, so that whoever prints needs not know of the lines. */
  constructor(out: Stream, err: Stream, onSignal: OnSignal) {
    this.#out = out
    this.#write = out.write.bind(out)
    this.#restores = [out, err].filter(({ isTTY }) => isTTY).map((stream) => this.#intercept(stream))
    // Back from Ctrl-Z the lines are where the shell wrote since: they are drawn below that.
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

  /** Erases them, and gives the streams back. */
  close(): void {
    clearImmediate(this.#redrawing)
    this.#write(this.#erasing())
    this.#shown = []
    this.#lines = []
    for (const restore of this.#restores) restore()
  }

  /** What scrolls off the top cannot be erased any more: a terminal may have been made smaller since they were made. */
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

  /** A terminal that was made narrower has wrapped them since they were drawn. */
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
      // Many lines are often printed at once: they are drawn again after the last of them.
      else if (this.#lines.length > 0) this.#redrawing ??= setImmediate(() => this.draw(this.#lines))
      return isTaken
    }) as Write
    return () => {
      stream.write = own
    }
  }
}

/** Lines that stay at the bottom of a terminal while everything that is printed meanwhile goes above them. */
import stringWidth from 'string-width'
import type { OnSignal } from '../base/index.ts'
import type { Output } from './io.ts'

type Stream = Pick<Output, 'write' | 'isTTY' | 'columns'>
type Write = Stream['write']

const up = (rows: number): string => (rows === 0 ? '' : `\u001b[${rows}A`)
const ERASE_BELOW = '\r\u001b[J'

export class BottomLines {
  readonly #out: Stream
  readonly #write: Write
  readonly #restores: (() => void)[]
  #lines: readonly string[] = []
  /** Whether something was printed whose line has not ended. */
  #isLineOpen = false

  /** Takes over the writing to both streams, so that whoever prints needs not know of the lines. */
  constructor(out: Stream, err: Stream, onSignal: OnSignal) {
    this.#out = out
    this.#write = out.write.bind(out)
    this.#restores = [out, err].filter(({ isTTY }) => isTTY).map((stream) => this.#intercept(stream))
    // Back from Ctrl-Z the lines are where the shell wrote since: they are drawn below that.
    const unlisten = onSignal('SIGCONT', () => {
      this.#lines = []
    })
    this.#restores.push(unlisten)
  }

  draw(lines: readonly string[]): void {
    const gap = this.#isLineOpen ? '\n' : ''
    this.#isLineOpen = false
    this.#write(`${this.#erasing()}${gap}${lines.map((line) => `${line}\n`).join('')}`)
    this.#lines = lines
  }

  /** Erases them, and gives the streams back. */
  close(): void {
    this.#write(this.#erasing())
    this.#lines = []
    for (const restore of this.#restores) restore()
  }

  /** A terminal that was made narrower has wrapped them since they were drawn. */
  #erasing(): string {
    if (this.#lines.length === 0) return ''
    const columns = Math.max(1, this.#out.columns ?? 80)
    const rows = this.#lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0)
    return up(rows) + ERASE_BELOW
  }

  #intercept(stream: Stream): () => void {
    const own = stream.write
    stream.write = ((...args: Parameters<Write>) => {
      const lines = this.#lines
      if (lines.length > 0) this.#write(this.#erasing())
      this.#lines = []
      const isTaken = own.apply(stream, args)
      this.#isLineOpen = !String(args[0]).endsWith('\n')
      if (!this.#isLineOpen && lines.length > 0) this.draw(lines)
      return isTaken
    }) as Write
    return () => {
      stream.write = own
    }
  }
}

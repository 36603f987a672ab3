/** What somebody does at a terminal, and what is on its screen meanwhile. */
import { stripVTControlCharacters } from 'node:util'
import { screenOf } from './screen.ts'

export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'

type Act =
  | { readonly type: string | (() => Promise<string>) }
  | { readonly signal: 'SIGINT' | 'SIGTERM' }
  | { readonly resize: readonly [columns: number, rows: number] }

/** Done once `after` is on the screen, below all that was waited for before. */
export type Deed = { readonly after: string } & Act

export interface TerminalRun {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
  readonly deeds?: readonly Deed[]
}

export interface TerminalEnd {
  readonly code: number
  /** All lines on the screen at the end, including those that scrolled away. */
  readonly lines: readonly string[]
  /** The same, as one text in which nothing is wrapped. */
  readonly text: string
  /** Everything that was ever on the screen, without colours. */
  readonly all: string
  /** What never appeared on the screen. */
  readonly missed: readonly string[]
  /** From the last deed, or from the start, until it ended. */
  readonly lastMs: number
}

/** How the program is reached. */
export interface Keyboard {
  type(text: string): void
  signal(signal: 'SIGINT' | 'SIGTERM'): void
  resize(columns: number, rows: number): void
}

export interface Attended {
  /** What the program prints. */
  print(text: string): void
  ended(code: number): Promise<TerminalEnd>
}

/** A screen, and somebody before it. */
export const attend = ({ columns = 80, rows = 24, deeds = [] }: TerminalRun, keyboard: Keyboard): Attended => {
  const screen = screenOf(columns, rows)
  const left = [...deeds]
  let [raw, seen, last] = ['', 0, performance.now()]
  let written: Promise<unknown> = Promise.resolve()

  const act = async (deed: Act): Promise<void> => {
    if ('type' in deed) keyboard.type(typeof deed.type === 'string' ? deed.type : await deed.type())
    else if ('signal' in deed) keyboard.signal(deed.signal)
    else {
      // What was printed before is of the size before.
      await written
      keyboard.resize(...deed.resize)
      screen.resize(...deed.resize)
    }
  }

  return {
    print: (text) => {
      raw += text
      written = screen.write(text)
      for (let [next] = left; next !== undefined; [next] = left) {
        const at = stripVTControlCharacters(raw).indexOf(next.after, seen)
        if (at < 0) return
        seen = at + next.after.length
        left.shift()
        last = performance.now()
        void act(next)
      }
    },
    ended: async (code) => {
      const lastMs = performance.now() - last
      await screen.write('')
      const lines = screen.lines()
      return {
        code,
        lines,
        text: lines.join(' ').replaceAll(/\s+/g, ' '),
        all: stripVTControlCharacters(raw),
        missed: left.map(({ after }) => after),
        lastMs,
      }
    },
  }
}

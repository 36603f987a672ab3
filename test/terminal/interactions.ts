/** Scripted interactions with a terminal, and a record of its screen. */
import { stripVTControlCharacters } from 'node:util'
import { screenOf } from './screen.ts'

export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'

type Input =
  | { readonly type: string | (() => Promise<string>) }
  | { readonly signal: 'SIGINT' | 'SIGTERM' }
  | { readonly resize: readonly [columns: number, rows: number] }

/** Performed once `after` is on the screen, below the text that the previous interaction waited for. */
export type Interaction = { readonly after: string } & Input

export interface TerminalRun {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
  readonly interactions?: readonly Interaction[]
}

export interface TerminalEnd {
  readonly code: number
  /** The lines on the screen at the end, including those that scrolled away. */
  readonly lines: readonly string[]
  /** `lines` as one string without line breaks. */
  readonly text: string
  /** Everything that was printed, without colours. */
  readonly all: string
  /** Texts that interactions waited for and that never appeared. */
  readonly missed: readonly string[]
  /** Time from the last interaction, or else from the start, to the end. */
  readonly lastMs: number
}

/** How input reaches the program. */
export interface Keyboard {
  type(text: string): void
  signal(signal: 'SIGINT' | 'SIGTERM'): void
  resize(columns: number, rows: number): void
}

export interface TerminalRecorder {
  /** Called with everything that the program prints. */
  print(text: string): void
  ended(code: number): Promise<TerminalEnd>
}

export const recordTerminal = (
  { columns = 80, rows = 24, interactions = [] }: TerminalRun,
  keyboard: Keyboard,
): TerminalRecorder => {
  const screen = screenOf(columns, rows)
  const left = [...interactions]
  let [raw, seen, last] = ['', 0, performance.now()]
  let written: Promise<unknown> = Promise.resolve()

  const perform = async (interaction: Input): Promise<void> => {
    if ('type' in interaction)
      keyboard.type(typeof interaction.type === 'string' ? interaction.type : await interaction.type())
    else if ('signal' in interaction) keyboard.signal(interaction.signal)
    else {
      // Earlier output was meant for the previous size.
      await written
      keyboard.resize(...interaction.resize)
      screen.resize(...interaction.resize)
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
        void perform(next)
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

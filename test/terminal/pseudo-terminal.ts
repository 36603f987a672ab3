/** Runs the built program on a pseudo-terminal, where somebody types. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { screenOf } from './screen.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** `script` of util-linux runs a program on a terminal. */
export const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'

/** What somebody does at the terminal once `after` is on it, after all that was waited for before. */
export type Deed = { readonly after: string } & (
  | { readonly type: string | (() => Promise<string>) }
  | { readonly signal: NodeJS.Signals }
  | { readonly resize: readonly [columns: number, rows: number] }
)

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
  /** All lines as they stand when it has ended, those that scrolled away included. */
  readonly lines: readonly string[]
  /** The same, as one text in which nothing is wrapped. */
  readonly text: string
  /** Everything that was ever on the screen, without colours. */
  readonly all: string
  /** What never stood on the screen. */
  readonly missed: readonly string[]
  /** From the last deed, or from the start, until it ended. */
  readonly lastMs: number
}

const typed = async (what: string | (() => Promise<string>)): Promise<string> =>
  typeof what === 'string' ? what : what()

export const runOnTerminal = async ({
  args,
  cwd,
  env = {},
  columns = 80,
  rows = 24,
  deeds = [],
}: TerminalRun): Promise<TerminalEnd> => {
  const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const line = `stty cols ${columns} rows ${rows} && printf '%s\\n' "$$" && exec ${words}`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const screen = screenOf(columns, rows)
  let [raw, seen, last] = ['', 0, performance.now()]
  const left = [...deeds]
  let pid: string | undefined
  const resize = ([wide, tall]: readonly [number, number]): void => {
    execFileSync('stty', ['-F', `/proc/${pid}/fd/0`, 'cols', String(wide), 'rows', String(tall)])
    screen.resize(wide, tall)
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    let chunk = text
    if (pid === undefined) {
      // The first line is the shell's: the process that the program then takes over.
      const end = text.indexOf('\n')
      pid = text.slice(0, end).trim()
      chunk = text.slice(end + 1)
    }
    raw += chunk
    void screen.write(chunk)
    for (let [next] = left; next !== undefined; [next] = left) {
      const at = stripVTControlCharacters(raw).indexOf(next.after, seen)
      if (at < 0) return
      seen = at + next.after.length
      left.shift()
      last = performance.now()
      if ('type' in next) void typed(next.type).then((text) => child.stdin.write(text))
      else if ('signal' in next) process.kill(Number(pid), next.signal)
      else resize(next.resize)
    }
  })
  const [code] = await once(child, 'close')
  const lastMs = performance.now() - last
  await screen.write('')
  const lines = screen.lines()
  return {
    code: code as number,
    lines,
    text: lines.join(' ').replaceAll(/\s+/g, ' '),
    all: stripVTControlCharacters(raw),
    missed: left.map(({ after }) => after),
    lastMs,
  }
}

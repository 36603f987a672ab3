/** Runs the built program on a pseudo-terminal, for tests that need a process and a real terminal. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { recordTerminal, type TerminalEnd, type TerminalRun } from './interactions.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** `script` of util-linux runs a program on a pseudo-terminal. */
export const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

export const runOnTerminal = async (run: TerminalRun): Promise<TerminalEnd> => {
  const { args, cwd, env = {}, columns = 80, rows = 24 } = run
  const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const line = `stty cols ${columns} rows ${rows} && printf '%s\\n' "$$" && exec ${words}`
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // The shell prints its process id before the program replaces it. The line may arrive in pieces.
  let firstLine = ''
  let pid: number | undefined
  const { print, ended } = recordTerminal(run, {
    type: (text) => child.stdin.write(text),
    signal: (signal) => process.kill(Number(pid), signal),
    resize: (wide, tall) =>
      execFileSync('stty', ['-F', `/proc/${pid}/fd/0`, 'cols', String(wide), 'rows', String(tall)]),
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (pid !== undefined) return print(text)
    firstLine += text
    const end = firstLine.indexOf('\n')
    if (end < 0) return
    pid = Number(firstLine.slice(0, end))
    print(firstLine.slice(end + 1))
  })
  const [code] = await once(child, 'close')
  return ended(code as number)
}

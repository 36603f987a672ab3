/** Runs the built program as people do: as a process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  /** Resolves once stdout or stderr holds `text`. */
  says(text: string): Promise<void>
  /** What it printed until now. */
  readonly sofar: Omit<Ended, 'code'>
  readonly ended: Promise<Ended>
}

type Environment = Readonly<Record<string, string>>

/** Nothing of the tester's own environment that the program reads is passed on. */
const environment = (env: Environment): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  TMPDIR: process.env.TMPDIR,
  ...env,
})

/** @param before programs that start it, with their arguments. */
export const start = (
  args: readonly string[],
  env: Environment = {},
  cwd = ROOT,
  before: readonly string[] = [],
): Running => {
  const [program = process.execPath, ...rest] = [...before, process.execPath, MAIN, ...args]
  const child = spawn(program, rest, {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk
      for (const check of waiting) check()
    })
  }
  const ended = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, ...output }))
  return {
    child,
    ended,
    get sofar() {
      return { ...output }
    },
    says: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (!output.stdout.includes(text) && !output.stderr.includes(text)) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        ended.then(
          () => reject(new Error(`it ended without saying ${text}:\n${output.stdout}${output.stderr}`)),
          reject,
        )
        check()
      }),
  }
}

export const espalier = (args: readonly string[], env: Environment = {}, cwd = ROOT): Promise<Ended> =>
  start(args, env, cwd).ended

export interface Served {
  readonly key: string
  readonly env: Environment
  stop(): Promise<number | null>
}

/** `espalier sandbox serve` on a free port. */
export const serve = async (seed: string, timeScale = 50): Promise<Served> => {
  const { child, ended } = start([
    ...['sandbox', 'serve', '--port', '0', '--seed', seed, '--time-scale', String(timeScale)],
    ...['--computes', 'simulated'],
  ])
  const found: Record<string, string> = {}
  if (child.stdout === null) throw new Error('no stdout')
  const lines = createInterface({ input: child.stdout })
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      const [name = '', value = ''] = line.split('  ')
      found[name] ??= value
      if (found.Key !== undefined) resolve()
    })
    ended.then(({ stderr }) => reject(new Error(stderr)), reject)
  })
  const key = found.Key ?? ''
  return {
    key,
    env: { ESPALIER_BASE_URL: found.API ?? '', ESPALIER_API_KEY: key },
    stop: async () => {
      child.kill('SIGTERM')
      return (await ended).code
    },
  }
}

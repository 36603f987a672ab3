/** Runs the program inside the test, or the built program as a process where the process matters. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Ended, type Environment, environment, Output, type Running, startInProcess } from '../in-process.ts'

export type { Ended, Running } from '../in-process.ts'

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface RunningProcess extends Running {
  readonly child: ChildProcess
}

/** @param before a command that runs the program, with its arguments. */
export const startProcess = (
  args: readonly string[],
  env: Environment = {},
  cwd = ROOT,
  before: readonly string[] = [],
): RunningProcess => {
  const [program = process.execPath, ...rest] = [...before, process.execPath, MAIN, ...args]
  const child = spawn(program, rest, {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = new Output()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => output.add(name, chunk))
  }
  const ended = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, ...output.sofar }))
  return {
    child,
    ended,
    get sofar() {
      return output.sofar
    },
    says: (text) => output.says(text, ended),
    interrupt: (signal = 'SIGINT') => void child.kill(signal),
  }
}

/** Runs the built program, for behaviour that only a process has: start, environment, exit. */
export const espalierAsProcess = (args: readonly string[], env: Environment = {}, cwd = ROOT): Promise<Ended> =>
  startProcess(args, env, cwd).ended

export const start = (args: readonly string[], env: Environment = {}, cwd = ROOT): Running =>
  startInProcess(args, { env, cwd })

export const espalier = (args: readonly string[], env: Environment = {}, cwd = ROOT): Promise<Ended> =>
  start(args, env, cwd).ended

export interface Served {
  readonly key: string
  readonly env: Environment
  stop(): Promise<number | null>
}

/** `espalier sandbox serve` on a free port. */
export const serve = async (seed: string, timeScale = 50): Promise<Served> => {
  const running = start([
    ...['sandbox', 'serve', '--port', '0', '--seed', seed, '--time-scale', String(timeScale)],
    ...['--computes', 'simulated'],
  ])
  await running.says('Key  ')
  const found = new Map(
    running.sofar.stdout.split('\n').map((line): [string, string] => {
      const [name = '', value = ''] = line.split('  ')
      return [name, value]
    }),
  )
  const key = found.get('Key') ?? ''
  return {
    key,
    env: { ESPALIER_BASE_URL: found.get('API') ?? '', ESPALIER_API_KEY: key },
    stop: async () => {
      running.interrupt('SIGTERM')
      return (await running.ended).code
    },
  }
}

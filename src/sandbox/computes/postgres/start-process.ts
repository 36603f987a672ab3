import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { RunAs } from './run-as.ts'
import type { Watchdog } from './watchdog.ts'

export interface ProcessOptions {
  readonly runAs: RunAs
  readonly watchdog: Watchdog
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Called with each line of stderr. Returns whether the program is ready. */
  readonly onLine: (line: string) => boolean
  /** Explains why the program ended before it was ready. */
  readonly explain: () => string
}

/** Starts a server under the watchdog, and waits until it is ready. @throws {Error} if it ends before that. */
export const startProcess = async ({ runAs, watchdog, env, onLine, explain, ...start }: ProcessOptions) => {
  const [program, args] = runAs.command(start.program, start.args)
  const child = spawn(program, args, {
    ...runAs.ids,
    cwd: '/',
    env,
    // In a separate process group, the program does not receive Ctrl-C. Only the sandbox does, and it stops its
    // computes
    // in the right order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit').catch((error: unknown) => error)
  const { pid } = child
  if (pid === undefined) throw await ended
  watchdog.watch(pid)
  void ended.then(() => watchdog.release(pid))
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (onLine(line)) resolve()
    })
    void ended.then(() => reject(new Error(explain())))
  })
  return {
    /** Resolves when the process has ended for any reason. */
    ended,
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
  }
}

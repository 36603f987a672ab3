/** One Postgres process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Binaries } from './binaries.ts'
import type { RunAs } from './run-as.ts'
import { SOCKET_PORT } from './settings.ts'
import type { Watchdog } from './watchdog.ts'

export interface ServerOptions {
  readonly binaries: Binaries
  readonly runAs: RunAs
  readonly watchdog: Watchdog
  readonly data: string
  readonly configuration: string
  readonly socketFolder: string
  /** Takes what it logs, a line each. */
  readonly onLine: (line: string) => void
}

export interface PostgresServer {
  readonly pid: number
  readonly major: number
  /** Folder of its socket, as clients of libpq take it. */
  readonly socketFolder: string
  /** The socket itself. */
  readonly socketPath: string
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<unknown>
  /** Reads its configuration again. */
  reload(): void
  /** Fast shutdown: connections end with 57P01. */
  stop(): Promise<void>
}

/** What it prints once it takes connections; a standby says "read-only connections". */
const READY = /ready to accept (read-only )?connections/
const PATIENCE_MS = 15_000

/** @throws {Error} with what it said, where it ends before it takes connections. */
export const startServer = async (options: ServerOptions): Promise<PostgresServer> => {
  const { binaries, watchdog } = options
  const [program, args] = options.runAs.command(binaries.postgres, [
    '-D',
    options.data,
    '-c',
    `config_file=${options.configuration}`,
  ])
  const child = spawn(program, args, {
    ...options.runAs.ids,
    cwd: '/',
    env: { PATH: process.env.PATH, ...binaries.env },
    // A separate process group: Ctrl-C goes to the sandbox, which then stops its computes in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit').catch((error: unknown) => error)
  const { pid } = child
  if (pid === undefined) throw await ended
  watchdog.watch(pid)
  void ended.then(() => watchdog.release(pid))

  const said: string[] = []
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      options.onLine(line)
      if (said.length < 20) said.push(line)
      if (READY.test(line)) resolve()
    })
    void ended.then(() => reject(new Error(reasonIn(said))))
  })
  return {
    pid,
    major: binaries.major,
    socketFolder: options.socketFolder,
    socketPath: join(options.socketFolder, `.s.PGSQL.${SOCKET_PORT}`),
    ended,
    reload: () => void child.kill('SIGHUP'),
    stop: async () => {
      child.kill('SIGINT')
      const impatience = setTimeout(() => child.kill('SIGQUIT'), PATIENCE_MS)
      await ended
      clearTimeout(impatience)
    },
  }
}

/** The lines that say why, without their time stamps. */
const reasonIn = (lines: readonly string[]): string => {
  const telling = lines.filter((line) => /FATAL|ERROR|PANIC|DETAIL|LOG: {2}(invalid|unrecognized|parameter)/.test(line))
  const chosen = telling.length > 0 ? telling : lines.slice(-2)
  return chosen.map((line) => line.replace(/^.*?(FATAL|ERROR|PANIC|DETAIL|LOG): +/, '')).join('; ') || 'Postgres ended'
}

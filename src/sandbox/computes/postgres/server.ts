/** A Postgres server process. */
import { join } from 'node:path'
import type { ComputeSpec } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import { type ProcessOptions, startProcess } from './start-process.ts'

/** All servers use the same port, because their sockets are in different folders. */
export const SOCKET_PORT = 5432

export interface ServerOptions extends Pick<ProcessOptions, 'runAs' | 'watchdog'> {
  readonly binaries: Binaries
  /** The superuser's. */
  readonly password: string
  readonly data: string
  readonly configuration: string
  readonly socketFolder: string
  /** Called with each log line. */
  readonly onLine: (line: string) => void
}

export interface PostgresServer {
  readonly major: number
  /** The superuser's. */
  readonly password: string
  /** The folder of the socket. Clients pass it to libpq as the host. */
  readonly socketFolder: string
  readonly socketPath: string
  /** Resolves when the server has ended, for whatever reason. */
  readonly ended: Promise<unknown>
  /** Reloads the configuration file. */
  reload(): void
  /** Performs a fast shutdown, which ends connections with SQLSTATE 57P01. */
  stop(): Promise<void>
}

export interface RunningServer {
  readonly server: PostgresServer
  readonly spec: ComputeSpec
}

/** Matches the log line that says that the server is ready. The line of a standby contains "read-only connections". */
const READY = /ready to accept (read-only )?connections/
const PATIENCE_MS = 15_000

/** @throws {Error} with Postgres' own message, if the server ends before it accepts connections. */
export const startServer = async (options: ServerOptions): Promise<PostgresServer> => {
  const { binaries, onLine } = options
  const lines: string[] = []
  const { ended, kill } = await startProcess({
    ...options,
    program: binaries.postgres,
    args: ['-D', options.data, '-c', `config_file=${options.configuration}`],
    env: { PATH: process.env.PATH, ...binaries.env },
    onLine: (line) => {
      onLine(line)
      if (lines.length < 20) lines.push(line)
      return READY.test(line)
    },
    explain: () => reasonIn(lines),
  })
  return {
    major: binaries.major,
    password: options.password,
    socketFolder: options.socketFolder,
    socketPath: join(options.socketFolder, `.s.PGSQL.${SOCKET_PORT}`),
    ended,
    reload: () => kill('SIGHUP'),
    stop: async () => {
      kill('SIGINT')
      const timer = setTimeout(() => kill('SIGQUIT'), PATIENCE_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

/** The log lines that explain why a server did not start, without their timestamps. */
const reasonIn = (lines: readonly string[]): string => {
  const relevant = lines.filter((line) =>
    /FATAL|ERROR|PANIC|DETAIL|LOG: {2}(invalid|unrecognized|parameter)/.test(line),
  )
  const chosen = relevant.length > 0 ? relevant : lines.slice(-2)
  return (
    chosen.map((line) => line.replace(/^.*?(FATAL|ERROR|PANIC|DETAIL|LOG): +/, '')).join('; ') ||
    'Postgres exited without logging a reason'
  )
}

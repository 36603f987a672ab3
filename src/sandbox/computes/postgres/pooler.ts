/** A PgBouncer for one compute, in transaction mode, like the service's `-pooler` hosts. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { BranchCatalog, ComputeSpec } from '../computes.ts'
import type { RunAs } from './run-as.ts'
import type { PostgresServer } from './server.ts'
import { SOCKET_PORT } from './settings.ts'
import { startProcess } from './start-process.ts'
import type { Watchdog } from './watchdog.ts'

export interface Pooler {
  readonly socketPath: string
  stop(): Promise<void>
}

/** Searches the PATH, and the folder that Debian uses. */
export const findPgBouncer = (): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => existsSync(path))

export interface PoolerOptions {
  readonly program: string
  readonly runAs: RunAs
  readonly watchdog: Watchdog
  readonly folder: string
  readonly server: PostgresServer
  readonly spec: ComputeSpec
  readonly users: BranchCatalog['roles']
}

/**
 * Limits of the service's pooler (docs of the service): clients, prepared statements, share of the compute's
 * connections.
 */
const MAX_CLIENTS = 10_000
const MAX_PREPARED = 1_000
const POOL_SHARE = 0.9

/** PgBouncer before 1.21 does not support prepared statements, and does not start if the setting is present. */
export const supportsPreparedStatements = (version: string): boolean => {
  const [, major = 0, minor = 0] = (/PgBouncer (\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  return major > 1 || (major === 1 && minor >= 21)
}

export const startPooler = async (options: PoolerOptions): Promise<Pooler> => {
  const { folder, server, spec } = options
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  options.runAs.own(folder)
  const file = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    options.runAs.own(path)
    return path
  }
  // In this file a quote is escaped by doubling it.
  const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`
  const users = file(
    'users.txt',
    options.users
      .flatMap(({ name, password }) => (password === undefined ? [] : [`${quoted(name)} ${quoted(password)}\n`]))
      .join(''),
  )
  const version = await promisify(execFile)(options.program, ['--version'], { env: { PATH: process.env.PATH } })
  const configuration = file(
    'pgbouncer.ini',
    [
      '[databases]',
      `* = host=${server.socketFolder} port=${SOCKET_PORT}`,
      '[pgbouncer]',
      'listen_addr =',
      `listen_port = ${SOCKET_PORT}`,
      `unix_socket_dir = ${folder}`,
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      `max_client_conn = ${MAX_CLIENTS}`,
      ...(supportsPreparedStatements(version.stdout) ? [`max_prepared_statements = ${MAX_PREPARED}`] : []),
      `default_pool_size = ${Math.floor(POOL_SHARE * spec.maxConnections)}`,
      'ignore_startup_parameters = extra_float_digits,options',
      '',
    ].join('\n'),
  )
  let last = ''
  const { ended, kill } = await startProcess({
    ...options,
    args: [configuration],
    env: { PATH: process.env.PATH },
    onLine: (line) => {
      last = line
      return line.includes('process up')
    },
    explain: () => `PgBouncer ended: ${last}`,
  })
  return {
    socketPath: join(folder, `.s.PGSQL.${SOCKET_PORT}`),
    stop: async () => {
      kill('SIGTERM')
      await ended
    },
  }
}

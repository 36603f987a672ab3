/** A PgBouncer before one compute, in transaction mode, as `-pooler` hosts of the service have it. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { BranchCatalog, ComputeSpec } from '../computes.ts'
import type { RunAs } from './run-as.ts'
import type { PostgresServer } from './server.ts'
import { SOCKET_PORT } from './settings.ts'
import type { Watchdog } from './watchdog.ts'

export interface Pooler {
  readonly socketPath: string
  stop(): Promise<void>
}

/** Of the PATH, or where Debian puts it. */
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

/** Of the service's pooler: clients, their prepared statements, its share of the compute's connections (its docs). */
const MAX_CLIENTS = 10_000
const MAX_PREPARED = 1_000
const POOL_SHARE = 0.9

/** A version before 1.21 does not know prepared statements, and does not start with a setting for them. */
export const knowsPreparedStatements = (version: string): boolean => {
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
  // A doubled quote is a quote in this file.
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
      ...(knowsPreparedStatements(version.stdout) ? [`max_prepared_statements = ${MAX_PREPARED}`] : []),
      `default_pool_size = ${Math.floor(POOL_SHARE * spec.maxConnections)}`,
      'ignore_startup_parameters = extra_float_digits,options',
      '',
    ].join('\n'),
  )
  const [program, args] = options.runAs.command(options.program, [configuration])
  const child = spawn(program, args, {
    ...options.runAs.ids,
    cwd: '/',
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit').catch((error: unknown) => error)
  if (child.pid === undefined) throw await ended
  const { pid } = child
  options.watchdog.watch(pid)
  void ended.then(() => options.watchdog.release(pid))
  await new Promise<void>((resolve, reject) => {
    const said: string[] = []
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line)
      if (line.includes('process up')) resolve()
    })
    void ended.then(() => reject(new Error(`PgBouncer ended: ${said.at(-1) ?? ''}`)))
  })
  return {
    socketPath: join(folder, `.s.PGSQL.${SOCKET_PORT}`),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

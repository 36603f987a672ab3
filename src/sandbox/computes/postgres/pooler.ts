/** Runs a PgBouncer for each compute, in transaction mode like the `-pooler` hosts of the service. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type Home, SOCKET_PORT } from './home.ts'
import type { RunningServer } from './server.ts'
import { startProcess } from './start-process.ts'

interface Pooler {
  readonly socketPath: string
  stop(): Promise<void>
}

export const findPgBouncer = (): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => existsSync(path))

/**
 * The limits of the service's pooler (docs of the service): the number of clients, the number of prepared statements,
 * and the share of the compute's connections that the pooler uses.
 */
const MAX_CLIENTS = 10_000
const MAX_PREPARED = 1_000
const POOL_SHARE = 0.9

/** PgBouncer does not support prepared statements before version 1.21, and does not start with an unknown setting. */
export const supportsPreparedStatements = (version: string): boolean => {
  const [, major = 0, minor = 0] = (/PgBouncer (\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  return major > 1 || (major === 1 && minor >= 21)
}

export class Poolers {
  readonly #home: Home
  readonly #running = new Map<string, Promise<Pooler>>()

  constructor(home: Home) {
    this.#home = home
  }

  /** Returns the socket of a compute's pooler. Starts the pooler if needed. @param program the path of PgBouncer. */
  async reach(program: string, running: RunningServer): Promise<string> {
    const { id } = running.spec
    const pooler = this.#running.get(id) ?? startPooler(program, running, this.#home)
    this.#running.set(id, pooler)
    return (await pooler).socketPath
  }

  async stop(id: string): Promise<void> {
    const pooler = this.#running.get(id)
    this.#running.delete(id)
    await (await pooler?.catch(() => undefined))?.stop()
  }
}

const startPooler = async (program: string, { server, spec }: RunningServer, home: Home): Promise<Pooler> => {
  const folder = home.socketFolder(`pooler ${spec.id}`)
  // In this file a quote is escaped by doubling it.
  const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`
  const users = home.write(
    join(folder, 'users.txt'),
    spec.catalog.roles
      .flatMap(({ name, password }) => (password === undefined ? [] : [`${quoted(name)} ${quoted(password)}\n`]))
      .join(''),
  )
  const version = await promisify(execFile)(program, ['--version'], { env: { PATH: process.env.PATH } })
  const configuration = home.write(
    join(folder, 'pgbouncer.ini'),
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
    ...home,
    program,
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
      // Since version 1.23, PgBouncer waits on SIGTERM until its clients have disconnected (release notes).
      kill('SIGQUIT')
      await ended
    },
  }
}

/** The Postgres server of a compute: its process, and the configuration file with which it runs. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheGb } from '../../../model/index.ts'
import { type ComputeSpec, isMachineSetting, RESERVED_CONNECTIONS } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import { type Home, SOCKET_PORT, SUPERVISOR } from './home.ts'
import { startProcess } from './start-process.ts'

export interface PostgresServer {
  readonly major: number
  /** The superuser's. */
  readonly password: string
  /** The folder of the socket. Clients pass it to libpq as the host. */
  readonly socketFolder: string
  readonly socketPath: string
  /** Resolves when the server has ended, for whatever reason. */
  readonly ended: Promise<unknown>
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

const LOST_TRACK = /requested WAL segment \S+ has already been removed|is ahead of the WAL flush position/
/** Postgres' message if a standby's setting is lower than the primary's (PostgreSQL documentation, 26.4.3). */
const TOO_LOW = /(\w+) = \d+ is a lower setting than on the primary server, where its value was (\d+)/

interface ServeOptions {
  readonly home: Home
  readonly binaries: Binaries
  readonly log: (line: string) => void
  /** Called when a standby can no longer replicate from its primary and needs a new copy of the data. */
  readonly onLostTrack: () => void
}

/**
 * Starts the server of a compute on a data folder. If the data of a standby requires larger values for some settings,
 * tries again with these values.
 *
 * @throws {Error} with Postgres' own message, if the server ends before it accepts connections.
 */
export const serveCompute = async (
  spec: ComputeSpec,
  data: string,
  options: ServeOptions,
  atLeast: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> => {
  const { home, binaries, log, onLostTrack } = options
  const configuration = writeConfiguration(spec, options, atLeast)
  const socketFolder = socketFolderOf(spec, home)
  const lines: string[] = []
  let needed = atLeast
  let isReady = false
  const onLine = (line: string): boolean => {
    if (lines.length < 20) lines.push(line)
    if (!line.includes(' LOG: ')) log(`postgres  ${spec.id}  ${line}`)
    const [, name, value] = TOO_LOW.exec(line) ?? []
    if (name !== undefined && value !== undefined) needed = { ...needed, [name]: value }
    // A running standby whose primary restarts with larger values stops replaying.
    if (LOST_TRACK.test(line) || (isReady && name !== undefined)) onLostTrack()
    isReady ||= READY.test(line)
    return isReady
  }
  try {
    const { ended, kill } = await startProcess({
      ...home,
      program: binaries.postgres,
      args: ['-D', data, '-c', `config_file=${configuration}`],
      env: { PATH: process.env.PATH, ...binaries.env },
      onLine,
      explain: () => reasonIn(lines),
    })
    return {
      major: binaries.major,
      password: home.password,
      socketFolder,
      socketPath: join(socketFolder, `.s.PGSQL.${SOCKET_PORT}`),
      ended,
      reload: () => kill('SIGHUP'),
      stop: async () => {
        kill('SIGINT')
        const timer = setTimeout(() => kill('SIGQUIT'), PATIENCE_MS)
        await ended
        clearTimeout(timer)
      },
    }
  } catch (error) {
    if (Object.keys(needed).length === Object.keys(atLeast).length) throw error
    return serveCompute(spec, data, options, needed)
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

// The configuration file of a Postgres server.

const SETTING_NAME = /^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)*$/

/**
 * Writes the configuration file of a compute's server, and returns its path.
 *
 * The settings of clients come first. The sandbox's own settings override them, because Postgres uses the last value if
 * a setting occurs twice. Servers get far less memory than the sizes of their computes, so that twenty servers can run
 * on a laptop.
 *
 * @param atLeast minimum values that a replica's data requires, because its primary had them (PostgreSQL documentation,
 *   26.4.3).
 * @throws {Error} if the name of a setting is invalid, or if clients are not allowed to set it.
 */
export const writeConfiguration = (
  spec: ComputeSpec,
  { home, binaries, log }: { readonly home: Home; readonly binaries: Binaries; readonly log: (line: string) => void },
  atLeast: Readonly<Record<string, string>> = {},
): string => {
  const missing = spec.libraries.filter((name) => !isInstalled(name, binaries.postgres))
  for (const name of missing) log(`postgres  ${spec.id}  the library ${name} is not installed, so it is not loaded`)
  const primary = `host=${home.socketFolder(spec.branchId)} port=${SOCKET_PORT} user=${SUPERVISOR} passfile=${home.passFile}`
  const lines: (readonly [string, string])[] = []
  for (const [name, value] of Object.entries(spec.settings)) {
    if (!SETTING_NAME.test(name)) throw new Error(`invalid configuration parameter name "${name}"`)
    if (isMachineSetting(name)) throw new Error(`parameter "${name}" cannot be changed`)
    lines.push([name, value])
  }
  lines.push(
    ['listen_addresses', ''],
    ['unix_socket_directories', socketFolderOf(spec, home)],
    ['unix_socket_permissions', '0777'],
    ['port', String(SOCKET_PORT)],
    ['hba_file', home.hbaFile],
    ['max_connections', String(spec.maxConnections)],
    ['superuser_reserved_connections', String(RESERVED_CONNECTIONS)],
    ['temp_file_limit', `${Math.max(1, Math.floor(spec.tempDiskBytes / 1024))}kB`],
    ['shared_preload_libraries', spec.libraries.filter((name) => !missing.includes(name)).join(',')],
    ['shared_buffers', '16MB'],
    ['neon.file_cache_size_limit', `${cacheGb(spec.cu) * 1024}MB`],
    ['neon.max_file_cache_size', `${cacheGb(spec.size.max) * 1024}MB`],
    ['jit', 'off'],
    // A sandbox need not survive a power failure.
    ['fsync', 'off'],
    ['full_page_writes', 'off'],
    ['wal_level', spec.isLogical ? 'logical' : 'replica'],
    ['password_encryption', 'scram-sha-256'],
    ['max_wal_senders', '10'],
    ['wal_keep_size', '128MB'],
    ['max_wal_size', '64MB'],
    ['hot_standby', 'on'],
    ['logging_collector', 'off'],
    ['log_destination', 'stderr'],
    ['log_min_messages', 'warning'],
    ['lc_messages', 'C'],
    ['cluster_name', spec.id],
    ['ssl', 'off'],
    ...(spec.type === 'read_only' ? [['primary_conninfo', primary] as const] : []),
    ...Object.entries(atLeast),
  )
  return home.write(
    join('computes', `${spec.id}.conf`),
    lines.map(([name, value]) => `${name} = ${quote(value)}\n`).join(''),
  )
}

/** The folder of a primary depends only on its branch, so that replicas find the primary whichever compute it is. */
const socketFolderOf = ({ type, branchId, id }: ComputeSpec, home: Home): string =>
  home.socketFolder(type === 'read_write' ? branchId : id)

/** Replaces newlines, because they cannot be escaped in a configuration file and would start another setting. */
const quote = (value: string): string =>
  `'${value
    .replaceAll(/[\r\n]/g, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "''")}'`

/** Whether a library is installed. Postgres does not start if a library that it should load is missing. */
const isInstalled = (library: string, postgres: string): boolean => {
  const folder = join(dirname(dirname(postgres)), 'lib')
  const candidates = [folder, join(folder, 'postgresql')].flatMap((place) =>
    [`${library}.so`, `${library}.dylib`].map((file) => join(place, file)),
  )
  return /^\w+$/.test(library) && candidates.some((path) => existsSync(path))
}

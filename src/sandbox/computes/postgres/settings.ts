/** The configuration file of a Postgres server. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ComputeSpec } from '../computes.ts'
import { isMachineSetting } from '../machine-settings.ts'
import type { Binaries } from './binaries.ts'
import type { Home } from './home.ts'
import { SOCKET_PORT } from './server.ts'
import { SUPERVISOR } from './session.ts'

/** Connections that are reserved for superusers (docs of the service, connection limits). */
const RESERVED_CONNECTIONS = 7

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
export const socketFolderOf = ({ type, branchId, id }: ComputeSpec, home: Home): string =>
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

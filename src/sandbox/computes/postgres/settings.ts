/** The configuration file of a Postgres server. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ComputeSpec } from '../computes.ts'
import { isMachineSetting } from '../machine-settings.ts'

export interface Place {
  readonly socketFolder: string
  /** For a replica: connection string of its primary. */
  readonly primary?: string
  /** Minimum values that the data requires because its primary had them (PostgreSQL documentation, 26.4.3). */
  readonly atLeast: Readonly<Record<string, string>>
}

/** Always the same port: servers differ by the folder of their socket. */
export const SOCKET_PORT = 5432

/** Connections that are reserved for superusers (docs of the service, connection limits). */
const RESERVED_CONNECTIONS = 7

const SETTING_NAME = /^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)*$/

/**
 * Clients' settings come first: if a setting occurs twice, Postgres uses the last value. Servers get far less memory
 * than their size stands for, so that twenty of them fit on a laptop.
 *
 * @throws {Error} if a name is invalid, or if clients may not set it.
 */
export const configurationOf = (spec: ComputeSpec, place: Place, hbaFile: string): string => {
  const lines: (readonly [string, string])[] = []
  for (const [name, value] of Object.entries(spec.settings)) {
    if (!SETTING_NAME.test(name)) throw new Error(`invalid configuration parameter name "${name}"`)
    if (isMachineSetting(name)) throw new Error(`parameter "${name}" cannot be changed`)
    lines.push([name, value])
  }
  lines.push(
    ['listen_addresses', ''],
    ['unix_socket_directories', place.socketFolder],
    ['unix_socket_permissions', '0777'],
    ['port', String(SOCKET_PORT)],
    ['hba_file', hbaFile],
    ['max_connections', String(spec.maxConnections)],
    ['superuser_reserved_connections', String(RESERVED_CONNECTIONS)],
    ['temp_file_limit', `${Math.max(1, Math.floor(spec.tempDiskBytes / 1024))}kB`],
    ['shared_preload_libraries', spec.libraries.join(',')],
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
    ...(place.primary === undefined ? [] : [['primary_conninfo', place.primary] as const]),
    ...Object.entries(place.atLeast),
  )
  return lines.map(([name, value]) => `${name} = ${quote(value)}\n`).join('')
}

/** Newlines cannot be escaped in a configuration file: they would start another setting. */
const quote = (value: string): string =>
  `'${value
    .replaceAll(/[\r\n]/g, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "''")}'`

/** Separates installed libraries from missing ones: Postgres would not start with those. */
export const availableLibraries = (
  libraries: readonly string[],
  postgres: string,
): { readonly there: readonly string[]; readonly missing: readonly string[] } => {
  const folders = [join(dirname(dirname(postgres)), 'lib'), join(dirname(dirname(postgres)), 'lib', 'postgresql')]
  const isThere = (name: string): boolean =>
    /^\w+$/.test(name) &&
    folders.some((folder) => ['so', 'dylib'].some((suffix) => existsSync(join(folder, `${name}.${suffix}`))))
  return { there: libraries.filter(isThere), missing: libraries.filter((name) => !isThere(name)) }
}

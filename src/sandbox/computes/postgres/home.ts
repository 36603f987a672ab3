/** The folders, credentials and user of a sandbox's Postgres servers. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { namesIn } from '../../../base/index.ts'
import { EspalierError } from '../../../model/index.ts'
import { type Binaries, findBinaries, howToInstall } from './binaries.ts'
import { versionIn } from './data.ts'
import { stopLeftOver } from './left-over.ts'
import { type RunAs, runAs } from './run-as.ts'
import { SUPERVISOR } from './session.ts'
import { makeDataFolder, makeSocketFolder } from './temporary.ts'
import { startWatchdog, type Watchdog } from './watchdog.ts'

export interface HomeOptions {
  /** Data folder. Default: a temporary folder (in memory if there is room), removed when the sandbox closes. */
  readonly folder?: string | undefined
  /** Folder that contains `postgres` and `initdb`. Default: search the usual places. */
  readonly bin?: string | undefined
}

export interface Home {
  readonly root: string
  /** By major version. */
  readonly versions: ReadonlyMap<number, Binaries>
  readonly runAs: RunAs
  readonly watchdog: Watchdog
  /** The superuser's password. Clients never learn it. */
  readonly password: string
  /** The password in libpq's file format. */
  readonly passFile: string
  readonly hbaFile: string
  /** The last port of each compute. */
  readonly ports: ReadonlyMap<string, number>
  storePort(computeId: string, port: number): void
  /** A path short enough for sockets; always the same for the same name. */
  socketFolder(name: string): string
  /** Writes a configuration file and returns its path. */
  storeConfiguration(computeId: string, text: string): string
  close(): Promise<void>
}

/**
 * Every session needs a password, even over the socket, because other users of the machine can reach it. Only the
 * superuser may replicate.
 */
const HBA = `local all all scram-sha-256\nlocal replication ${SUPERVISOR} scram-sha-256\n`

export const openHome = async (options: HomeOptions): Promise<Home> => {
  if (process.platform === 'win32') {
    throw new EspalierError('E_POSTGRES', 'Postgres computes are not available on Windows.', {
      hint: 'Use --computes simulated, or the Windows Subsystem for Linux.',
    })
  }
  const temporary: string[] = []
  const keep = (folder: string): string => {
    temporary.push(folder)
    return folder
  }
  try {
    const root = options.folder === undefined ? keep(makeDataFolder()) : resolve(options.folder)
    mkdirSync(root, { recursive: true, mode: 0o755 })
    const found = await findBinaries(options.bin, root)
    if (found.length === 0) {
      throw new EspalierError('E_POSTGRES', 'No Postgres was found for the computes.', { hint: howToInstall() })
    }
    const versions = new Map(found.map((binaries) => [binaries.major, binaries]))
    checkVersions(root, versions)
    await stopLeftOver([join(root, 'branches'), join(root, 'replicas')])
    const as = await runAs(
      root,
      // The sockets are in the temporary folder, wherever the data is.
      [...found.flatMap(({ folders }) => folders), tmpdir()].filter((folder) => folder !== root),
    )
    for (const folder of [...temporary, root]) as.own(folder)
    const sockets = keep(makeSocketFolder())
    as.own(sockets)
    return await furnish({ root, sockets, temporary, versions, as })
  } catch (error) {
    for (const folder of temporary) rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Data of one major version cannot be used by another. */
const checkVersions = (root: string, versions: ReadonlyMap<number, Binaries>): void => {
  const branches = join(root, 'branches')
  for (const name of namesIn(branches)) {
    const kept = versionIn(join(branches, name))
    if (kept === undefined || versions.has(kept)) continue
    throw new EspalierError(
      'E_POSTGRES_VERSION',
      `The data in ${root} needs Postgres ${kept}, but only ${[...versions.keys()].join(', ')} was found.`,
      { hint: `Set the folder of Postgres ${kept} with --pg-bin, or delete ${root} to start with empty databases.` },
    )
  }
}

interface Parts {
  readonly root: string
  readonly sockets: string
  readonly temporary: readonly string[]
  readonly versions: ReadonlyMap<number, Binaries>
  readonly as: RunAs
}

const furnish = async ({ root, sockets, temporary, versions, as }: Parts): Promise<Home> => {
  const write = (name: string, text: string): string => {
    const path = join(root, name)
    writeFileSync(path, text, { mode: 0o600 })
    as.own(path)
    return path
  }
  const watchdog = startWatchdog(temporary)
  const configurations = join(root, 'computes')
  mkdirSync(configurations, { recursive: true, mode: 0o755 })
  const passwordFile = join(root, 'password')
  if (!existsSync(passwordFile)) write('password', randomBytes(18).toString('base64url'))
  const ports = readPorts(join(root, 'ports.json'))
  const socketFolders = new Map<string, string>()
  const password = readFileSync(passwordFile, 'utf8')
  return {
    root,
    versions,
    runAs: as,
    watchdog,
    password,
    // A file, because clients could read a password in a setting.
    passFile: write('pgpass', `*:*:*:${SUPERVISOR}:${password}\n`),
    hbaFile: write('pg_hba.conf', HBA),
    ports,
    storePort: (computeId, port) => {
      if (ports.get(computeId) === port) return
      ports.set(computeId, port)
      write('ports.json', JSON.stringify(Object.fromEntries(ports)))
    },
    socketFolder: (name) => {
      const known = socketFolders.get(name)
      if (known !== undefined) return known
      const folder = join(sockets, String(socketFolders.size))
      mkdirSync(folder, { mode: 0o755 })
      as.own(folder)
      socketFolders.set(name, folder)
      return folder
    },
    storeConfiguration: (computeId, text) => write(join('computes', `${computeId}.conf`), text),
    close: async () => {
      await watchdog.close()
      for (const folder of temporary) rmSync(folder, { recursive: true, force: true })
    },
  }
}

const readPorts = (file: string): Map<string, number> => {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8'))))
  } catch {
    return new Map()
  }
}

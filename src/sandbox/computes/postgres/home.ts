/** The folders, credentials and user of a sandbox's Postgres servers. */
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { EspalierError, isAlive, namesIn, readIfPresent } from '../../../base/index.ts'
import { type Binaries, findBinaries, howToInstall } from './binaries.ts'
import { runAs, startWatchdog, stopOrphanedServers } from './start-process.ts'

/** The superuser, as which the sandbox itself works. */
export const SUPERVISOR = 'supervisor'

/** All servers use the same port, because their sockets are in different folders. */
export const SOCKET_PORT = 5432

export interface HomeOptions {
  /**
   * The data folder. Default: a temporary folder, in memory if there is room, which is removed when the sandbox closes.
   */
  readonly folder?: string | undefined
  /** The folder that contains `postgres` and `initdb`. Default: the usual places are searched. */
  readonly bin?: string | undefined
}

export type Home = Awaited<ReturnType<typeof prepareHome>>

/**
 * Every session needs a password, even on the socket, because other users of the machine can connect to the socket.
 * Only the superuser may replicate.
 */
const HBA = `local all all scram-sha-256\nlocal replication ${SUPERVISOR} scram-sha-256\n`

export const openHome = async (options: HomeOptions): Promise<Home> => {
  if (process.platform === 'win32') {
    throw new EspalierError('E_POSTGRES', 'Postgres computes are not available on Windows.', {
      hint: 'Use --computes simulated, or the Windows Subsystem for Linux.',
    })
  }
  const temporary: string[] = []
  try {
    return await prepareHome(options, temporary)
  } catch (error) {
    removeAll(temporary)
    throw error
  }
}

/**
 * @param temporary the function adds the folders that must be removed when the sandbox closes or if it cannot start.
 */
const prepareHome = async (options: HomeOptions, temporary: string[]) => {
  const make = (makeFolder: () => string): string => {
    const folder = makeFolder()
    temporary.push(folder)
    return folder
  }
  const root = options.folder === undefined ? make(makeDataFolder) : resolve(options.folder)
  mkdirSync(join(root, 'computes'), { recursive: true, mode: 0o755 })
  const found = await findBinaries(options.bin, root)
  if (found.length === 0) {
    throw new EspalierError('E_POSTGRES', 'No Postgres was found for the computes.', { hint: howToInstall() })
  }
  const versions: ReadonlyMap<number, Binaries> = new Map(found.map((binaries) => [binaries.major, binaries]))
  checkVersions(root, versions)
  await stopOrphanedServers([join(root, 'branches'), join(root, 'replicas')])
  const as = await runAs(
    root,
    // The sockets are always in the temporary folder, even if the data is in another folder.
    [...found.flatMap(({ folders }) => folders), tmpdir()].filter((folder) => folder !== root),
  )
  const sockets = make(makeSocketFolder)
  for (const folder of [root, sockets]) as.own(folder)
  /** Writes a file for Postgres, which may run as another user. Returns its path. @param name relative to `root`. */
  const write = (name: string, text: string): string => {
    const path = resolve(root, name)
    writeFileSync(path, text, { mode: 0o600 })
    as.own(path)
    return path
  }
  /** Creates a folder that Postgres can use. */
  const makeFolder = (path: string, mode = 0o700): void => {
    mkdirSync(path, { recursive: true, mode })
    as.own(path)
  }
  const watchdog = startWatchdog(temporary)
  const passwordFile = join(root, 'password')
  // Never overwrite the file, even if it cannot be read, because the data is lost without the old password.
  if (!existsSync(passwordFile)) write('password', randomBytes(18).toString('base64url'))
  const password = readFileSync(passwordFile, 'utf8')
  const ports = readPorts(join(root, 'ports.json'))
  const socketFolders = new Map<string, string>()
  return {
    root,
    /** The binaries of each version, by major version. */
    versions,
    runAs: as,
    watchdog,
    /** The superuser's password. Clients never learn it. */
    password,
    /** A file that contains the password in libpq's format. In a setting, clients could read the password. */
    passFile: write('pgpass', `*:*:*:${SUPERVISOR}:${password}\n`),
    write,
    makeFolder,
    hbaFile: write('pg_hba.conf', HBA),
    /** The port that each compute used last. */
    ports,
    storePort: (computeId: string, port: number): void => {
      if (ports.get(computeId) === port) return
      ports.set(computeId, port)
      write('ports.json', JSON.stringify(Object.fromEntries(ports)))
    },
    /** Returns a path that is short enough for sockets. It is always the same for the same name. */
    socketFolder: (name: string): string => {
      const known = socketFolders.get(name)
      if (known !== undefined) return known
      const folder = join(sockets, String(socketFolders.size))
      makeFolder(folder, 0o755)
      socketFolders.set(name, folder)
      return folder
    },
    close: async (): Promise<void> => {
      await watchdog.close()
      removeAll(temporary)
    },
  }
}

const removeAll = (folders: readonly string[]): void => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

/** Checks the version of the data, because Postgres cannot use data of another major version. */
const checkVersions = (root: string, versions: ReadonlyMap<number, Binaries>): void => {
  const branches = join(root, 'branches')
  for (const name of namesIn(branches)) {
    const kept = versionIn(join(branches, name))
    if (kept === undefined || versions.has(kept)) continue
    throw new EspalierError(
      'E_SANDBOX_STATE',
      `The data in ${root} needs Postgres ${kept}, but only ${[...versions.keys()].join(', ')} was found.`,
      { hint: `Set the folder of Postgres ${kept} with --pg-bin, or delete ${root} to start with empty databases.` },
    )
  }
}

/** The major version of the data in a folder, or `undefined` if the folder has no data. */
export const versionIn = (folder: string): number | undefined => {
  const version = readIfPresent(join(folder, 'PG_VERSION'))
  return version === undefined ? undefined : Number(version)
}

const readPorts = (file: string): Map<string, number> => {
  try {
    return new Map(Object.entries(JSON.parse(readIfPresent(file) ?? '{}')))
  } catch {
    return new Map()
  }
}

// The temporary folders of a sandbox. If possible, the data is kept in memory, where creating the thousand small files
// of a branch is much faster.

const PREFIX = 'espalier-pg-'
/** A file that proves that a sandbox of this user created the folder, even if the owner of the folder has changed. */
const MARK = '.espalier'
const IN_MEMORY = '/dev/shm'
/** How much memory must be available. This is enough for about thirty branches. Containers often have far less. */
const ENOUGH_BYTES = 1024 ** 3

const makeDataFolder = (): string => makeIn(hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir())

/** A folder whose path is short enough for sockets. */
export const makeSocketFolder = (): string => makeIn(tmpdir())

const makeIn = (parent: string): string => {
  removeStale(parent)
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
  writeFileSync(join(folder, MARK), basename(folder), { mode: 0o600 })
  return folder
}

const hasRoom = (parent: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(parent)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/**
 * Removes folders of this user's sandboxes that were killed together with their watchdogs. Anyone can create folders in
 * `parent`, so folders without the sandbox's mark are not touched.
 */
export const removeStale = (parent: string): void => {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    if (!(pid > 0) || isAlive(pid) || !isOwn(join(parent, name))) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // Another sandbox may be removing it at the same time.
    }
  }
}

/**
 * Whether a sandbox of this user created the folder. Links are not followed. If root runs a sandbox, another user owns
 * its folders, but root still owns the mark.
 */
const isOwn = (folder: string): boolean => {
  const user = process.getuid?.()
  const mark = join(folder, MARK)
  try {
    const [outer, inner] = [lstatSync(folder), lstatSync(mark)]
    const isMine = inner.uid === user && (outer.uid === user || user === 0)
    return isMine && outer.isDirectory() && inner.isFile() && readFileSync(mark, 'utf8') === basename(folder)
  } catch {
    return false
  }
}

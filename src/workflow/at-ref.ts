/** Reads the manifests at a commit as git blobs. Nothing is checked out, and no code from the commit runs. */
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, posix, resolve } from 'node:path'
import { commitOf, EspalierError, git, isInside } from '../base/index.ts'
import { isManifestPath, loadManifests } from '../manifest/index.ts'
import { type Diagnostic, problem, startOfFile } from '../model/index.ts'
import { DEFAULT_PATHS, type Manifests, withPolicies } from './manifests.ts'
import { POLICY_FILES } from './policies.ts'

const GLOB = /[*?[\]{}!]/
/** The git file modes of regular files. */
const PLAIN_FILE = /^100(644|755)$/
/**
 * The git file modes of symlinks and submodules. Neither are read, because a symlink may point anywhere, and the files
 * of a submodule are not in the commit.
 */
const NOT_READ = /^(120|160)000$/
const SUBMODULE = '160000'
/** Matches names that lead out of the folder. Git never creates them itself, but accepts them from another program. */
const LEAVES_FOLDER = /^\/|\\|(^|\/)\.{0,2}(\/|$)/

const MAX_FILES = 50_000
const MAX_BLOB_BYTES = 32 * 1024 * 1024
const MAX_TREE_BYTES = 256 * 1024 * 1024

export interface AtRefOptions {
  /** The folder that paths are relative to, in a git repository. The default is the current folder. */
  readonly cwd?: string | undefined
  /**
   * What to do about paths that do not exist at the commit. `ignore`, the default, leaves them out, because a pull
   * request may add a file. `report` reports an error, as for files on disk, and also for links and submodules.
   */
  readonly missing?: 'ignore' | 'report'
}

/**
 * Reads the same paths at `ref`. By default, reads the first of {@link DEFAULT_PATHS} that exists there.
 *
 * @throws {EspalierError} `E_GIT` if there is no repository or no such commit, or its YAML files exceed the limits.
 *   `E_OUTSIDE` if one of the paths is a link or in a submodule, because it would seem to declare nothing.
 */
export const manifestsAt = async (
  ref: string,
  { paths, policyPaths = [] }: Pick<Manifests, 'paths' | 'policyPaths'>,
  { cwd = process.cwd(), missing = 'ignore' }: AtRefOptions = {},
): Promise<Manifests> => {
  const isHere = (path: string): boolean => !isAbsolute(path) && isInside(cwd, join(cwd, path))
  const outside = paths.find((path) => !isHere(path))
  if (outside !== undefined) {
    throw new EspalierError('E_GIT', `${outside} is outside the current folder, so it cannot be read at ${ref}.`, {
      hint: 'Use paths inside the current folder.',
    })
  }
  // A policy file outside the folder cannot be read at the commit, so it is read from disk.
  const here = policyPaths.filter(isHere)
  const { files, closed } = await listTree(cwd, await commitOf(cwd, ref), here)
  const folder = mkdtempSync(join(tmpdir(), 'espalier-base-'))
  try {
    await writeFiles(cwd, files, folder)
    const isThere = (path: string): boolean => statSync(join(folder, path), { throwIfNoEntry: false }) !== undefined
    const given =
      paths.length > 0
        ? paths
        : DEFAULT_PATHS.filter((path) => isThere(path) || closed.some((one) => one.path === path)).slice(0, 1)
    const named = [...given, ...POLICY_FILES, ...here].map(posix.normalize)
    const unread = closed.filter((one) => named.some((path) => isWithin(path, one.path)))
    if (unread[0] !== undefined && missing === 'ignore') throw notRead(unread[0].path, ref)
    const skipped = closed
      .filter((one) => unread.includes(one) || given.some((path) => leadsThrough(path, one)))
      .map(({ path }) => path)
    const known = given.filter((path) => GLOB.test(path) || isThere(path) || missing === 'report')
    const readable = known.filter((path) => isThere(path) || !skipped.some((one) => isWithin(path, one)))
    const loaded = await loadManifests(readable, folder)
    const problems = missing === 'report' ? skipped.map(notFollowed) : []
    const read = { loaded: { ...loaded, diagnostics: [...problems, ...loaded.diagnostics] }, paths: known }
    const elsewhere = policyPaths.filter((path) => !isHere(path)).map((path) => resolve(cwd, path))
    return await withPolicies(read, folder, [...here.filter(isThere), ...elsewhere])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

interface Closed {
  readonly path: string
  readonly isSubmodule: boolean
}

/**
 * Whether `path` may refer to this link or submodule, or to a file behind it. A submodule inside a folder that is named
 * may contain manifests; one at the top of the repository rarely does.
 */
const leadsThrough = (path: string, { path: link, isSubmodule }: Closed): boolean => {
  const normal = posix.normalize(path).replace(/\/$/, '')
  const segments = normal.split('/')
  const dynamic = segments.findIndex((segment) => GLOB.test(segment))
  const fixed = dynamic < 0 ? normal : segments.slice(0, dynamic).join('/')
  const isTop = fixed === '' || fixed === '.'
  const isInside = isTop ? !isSubmodule : isWithin(link, fixed)
  return isWithin(normal, link) || ((isSubmodule || isManifestPath(link)) && isInside)
}

const COPY = 'Replace it with a copy of the file.'

const notRead = (path: string, ref: string): EspalierError =>
  new EspalierError(
    'E_OUTSIDE',
    `At ${ref}, ${path} is a link or a submodule. Only regular files are read from a commit.`,
    { hint: `${COPY} Until then, nothing can be compared with ${ref}.` },
  )

const notFollowed = (path: string): Diagnostic =>
  problem(
    'E_OUTSIDE',
    'This is a link or a submodule. Only regular files are read from a commit.',
    COPY,
    startOfFile(path),
  )

interface Entry {
  readonly id: string
  readonly bytes: number
  readonly path: string
}

/**
 * Lists the YAML files below the current folder, and the named files. Other files would only cost time.
 *
 * @returns the files, and the links and submodules in `closed`.
 */
const listTree = async (cwd: string, commit: string, named: readonly string[]) => {
  const names = new Set(named.map(posix.normalize))
  const listed = (await git(cwd, ['ls-tree', '-r', '-z', '--end-of-options', commit, '.'])).toString()
  const all = listed.split('\0').flatMap((line) => {
    const [, mode = '', id = '', path = ''] = /^(\d+) (?:blob|commit) ([0-9a-f]+)\t(.+)$/s.exec(line) ?? []
    return [{ mode, id, path }]
  })
  const closed: readonly Closed[] = all
    .filter(({ mode }) => NOT_READ.test(mode))
    .map(({ mode, path }) => ({ path, isSubmodule: mode === SUBMODULE }))
  const found = all.filter(({ mode, path }) => PLAIN_FILE.test(mode) && (isManifestPath(path) || names.has(path)))
  const unsafe = [...found, ...closed].find(({ path }) => LEAVES_FOLDER.test(path))?.path
  if (unsafe !== undefined) throw unreadable(commit, `it names a file ${JSON.stringify(unsafe)}`)
  if (found.length > MAX_FILES) throw unreadable(commit, 'it holds more than 50,000 YAML files')
  const sizes = await sizesOf(cwd, found)
  if (!sizes.every(Number.isSafeInteger)) throw missingFiles(commit)
  const files = found.map(({ id, path }, index) => ({ id, path, bytes: sizes[index] ?? 0 }))
  const total = files.reduce((sum, { bytes }) => sum + Math.min(bytes, MAX_BLOB_BYTES), 0)
  if (total > MAX_TREE_BYTES) throw unreadable(commit, 'it holds more than 256 MiB of YAML')
  return { files, closed }
}

/** The sizes of the files in bytes, in the order in which the files are given. */
const sizesOf = async (cwd: string, files: readonly { readonly id: string }[]): Promise<readonly number[]> => {
  if (files.length === 0) return []
  const output = await git(cwd, ['cat-file', '--batch-check=%(objectsize)'], { input: lines(files) })
  return output.toString().trim().split('\n').map(Number)
}

/** An error is necessary, because without its files the base would seem to declare nothing. */
const missingFiles = (commit: string): EspalierError =>
  new EspalierError('E_GIT', `This is a partial clone without the files of ${commit.slice(0, 12)}.`, {
    hint: 'Fetch them: git fetch --refetch --no-filter origin (actions/checkout: without filter and sparse-checkout).',
  })

const lines = (files: readonly { readonly id: string }[]): string => `${files.map(({ id }) => id).join('\n')}\n`

const unreadable = (commit: string, why: string, cause?: unknown): EspalierError =>
  new EspalierError('E_GIT', `The manifests at ${commit.slice(0, 12)} cannot be read: ${why}.`, {
    hint: 'Keep manifests in a separate folder, and name it as the working directory.',
    cause,
  })

const writeFiles = async (cwd: string, files: readonly Entry[], folder: string): Promise<void> => {
  try {
    for (const batch of batches(files.filter(({ bytes }) => bytes <= MAX_BLOB_BYTES))) {
      await writeBatch(cwd, batch, folder)
    }
    for (const { path, bytes } of files.filter((file) => file.bytes > MAX_BLOB_BYTES)) {
      // The file is too large to be read. The error needs only its size.
      write(folder, path, '')
      truncateSync(join(folder, path), bytes)
    }
  } catch (error) {
    if (error instanceof EspalierError || !(error instanceof Error && 'code' in error)) throw error
    throw unreadable('this commit', `one of its files cannot be written here (${error.code})`, error)
  }
}

/** Splits the files into batches, to limit how much is in memory at once. */
const batches = function* (files: readonly Entry[]): Iterable<readonly Entry[]> {
  let batch: Entry[] = []
  let bytes = 0
  for (const file of files) {
    if (batch.length > 0 && bytes + file.bytes > MAX_BLOB_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(file)
    bytes += file.bytes
  }
  if (batch.length > 0) yield batch
}

const writeBatch = async (cwd: string, files: readonly Entry[], folder: string): Promise<void> => {
  const blobs = await git(cwd, ['cat-file', '--batch'], { input: lines(files) })
  let at = 0
  for (const { path } of files) {
    const lineEnd = blobs.indexOf('\n', at)
    const size = Number(blobs.toString('utf8', at, lineEnd).split(' ')[2])
    write(folder, path, blobs.subarray(lineEnd + 1, lineEnd + 1 + size))
    at = lineEnd + 1 + size + 1
  }
}

const write = (folder: string, path: string, content: string | Buffer): void => {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

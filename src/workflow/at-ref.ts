/** The manifests as they are at a commit, read as blobs: nothing is checked out and nothing of the commit is run. */
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, posix, resolve } from 'node:path'
import { commitOf, git, isInside } from '../base/index.ts'
import { loadManifests } from '../manifest/index.ts'
import { type Diagnostic, EspalierError } from '../model/index.ts'
import { DEFAULT_PATHS, type Manifests, withPolicies } from './manifests.ts'
import { POLICY_FILE } from './policies.ts'

const YAML = /\.ya?ml$/
const GLOB = /[*?[\]{}!]/
/** Of a blob that is a plain file. */
const PLAIN_FILE = /^100(644|755)$/
/** Links may lead anywhere, and what a submodule holds is not part of the commit: neither is read. */
const CLOSED = /^(120|160)000$/
/** Git itself refuses such names where it makes a tree, but not if it is handed one. */
const LEAVES_FOLDER = /^\/|\\|(^|\/)\.{0,2}(\/|$)/

const MAX_FILES = 50_000
const MAX_BLOB_BYTES = 32 * 1024 * 1024
const MAX_TREE_BYTES = 256 * 1024 * 1024

export interface AtRefOptions {
  /** What the paths are relative to; within a git repository. Default: the current folder. */
  readonly cwd?: string
  /**
   * `left-out`: without a word, since to a pull request a new file is new. `told`: as it is told of files on the disk,
   * and links and submodules too. Default: `left-out`.
   */
  readonly missing?: 'left-out' | 'told'
}

/**
 * The same paths at `ref`; without any, the first of {@link DEFAULT_PATHS} that exists.
 *
 * @throws {EspalierError} `E_GIT` if there is no repository or no such commit, or it holds more YAML than is read.
 *   `E_OUTSIDE` if one of them is a link or in a submodule there: it would look as if nothing were declared.
 */
export const manifestsAt = async (
  ref: string,
  { paths, sizeTable, policyPaths = [] }: Pick<Manifests, 'paths' | 'sizeTable' | 'policyPaths'>,
  { cwd = process.cwd(), missing = 'left-out' }: AtRefOptions = {},
): Promise<Manifests> => {
  const outside = paths.find((path) => isAbsolute(path) || !isInside(cwd, join(cwd, path)))
  if (outside !== undefined) {
    throw new EspalierError('E_GIT', `${outside} leads out of the current folder, so it cannot be read at ${ref}.`, {
      hint: 'Name paths below the current folder.',
    })
  }
  // A policy file from elsewhere is not part of the repository: it counts as it is.
  const [here, elsewhere] = splitBy(policyPaths, (path) => !isAbsolute(path) && isInside(cwd, join(cwd, path)))
  const { files, closed } = await listTree(cwd, await commitOf(cwd, ref), here)
  const folder = mkdtempSync(join(tmpdir(), 'espalier-base-'))
  try {
    await writeFiles(cwd, files, folder)
    const isThere = (path: string): boolean => statSync(join(folder, path), { throwIfNoEntry: false }) !== undefined
    const given = paths.length > 0 ? paths : defaultPath(isThere, closed)
    const asked = [...given, POLICY_FILE, ...here].map(posix.normalize)
    const unread = closed.filter((one) => asked.some((path) => isWithin(path, one)))
    if (unread[0] !== undefined && missing === 'left-out') throw notRead(unread[0], ref)
    const passed = closed.filter((one) => unread.includes(one) || given.some((path) => leadsThrough(path, one)))
    const known = given.filter((path) => GLOB.test(path) || isThere(path) || missing === 'told')
    const readable = known.filter((path) => isThere(path) || !passed.some((one) => isWithin(path, one)))
    const options = sizeTable === undefined ? {} : { sizeTable }
    const loaded = await loadManifests(readable, { cwd: folder, ...options })
    const told = missing === 'told' ? passed.map(notFollowed) : []
    const read = { loaded: { ...loaded, diagnostics: [...told, ...loaded.diagnostics] }, paths: known, ...options }
    const policies = [...here.filter(isThere), ...elsewhere.map((path) => resolve(cwd, path))]
    return await withPolicies(read, folder, policies)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const defaultPath = (isThere: (path: string) => boolean, closed: readonly string[]): readonly string[] => {
  const first = DEFAULT_PATHS.find((path) => isThere(path) || closed.includes(path))
  return first === undefined ? [] : [first]
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** Whether a manifest that `path` asks for may be this link or submodule, or be behind it. */
const leadsThrough = (path: string, link: string): boolean => {
  const normal = posix.normalize(path).replace(/\/$/, '')
  const segments = normal.split('/')
  const dynamic = segments.findIndex((segment) => GLOB.test(segment))
  const fixed = dynamic < 0 ? normal : segments.slice(0, dynamic).join('/')
  return isWithin(normal, link) || (YAML.test(link) && (fixed === '' || fixed === '.' || isWithin(link, fixed)))
}

const COPY = 'Put a copy in its place.'

const notRead = (path: string, ref: string): EspalierError =>
  new EspalierError(
    'E_OUTSIDE',
    `At ${ref}, ${path} is a link or a submodule. Of a commit only plain files are read.`,
    {
      hint: `${COPY} Before that, nothing can be compared with ${ref}.`,
    },
  )

const notFollowed = (path: string): Diagnostic => ({
  severity: 'error',
  code: 'E_OUTSIDE',
  message: 'This is a link or a submodule. Of a commit only plain files are read.',
  hint: COPY,
  source: { file: path, line: 1, column: 1, length: 1 },
})

interface Entry {
  readonly id: string
  readonly bytes: number
  readonly path: string
}

const splitBy = <T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] => [
  all.filter(isFirst),
  all.filter((one) => !isFirst(one)),
]

interface Tree {
  readonly files: readonly Entry[]
  /** Paths of links and submodules. */
  readonly closed: readonly string[]
}

/** The YAML files below the current folder, and those that were named. Sizes are asked of these alone: each costs a read. */
const listTree = async (cwd: string, commit: string, named: readonly string[]): Promise<Tree> => {
  const names = new Set(named.map(posix.normalize))
  const listed = (await git(cwd, ['ls-tree', '-r', '-z', '--end-of-options', commit, '.'])).toString()
  const all = listed.split('\0').flatMap((line) => {
    const [, mode = '', id = '', path = ''] = /^(\d+) (?:blob|commit) ([0-9a-f]+)\t(.+)$/s.exec(line) ?? []
    return [{ mode, id, path }]
  })
  const closed = all.filter(({ mode }) => CLOSED.test(mode)).map(({ path }) => path)
  const found = all.filter(({ mode, path }) => PLAIN_FILE.test(mode) && (YAML.test(path) || names.has(path)))
  const strange = [...found.map(({ path }) => path), ...closed].find((path) => LEAVES_FOLDER.test(path))
  if (strange !== undefined) throw tooStrange(commit, `it names a file ${JSON.stringify(strange)}`)
  if (found.length > MAX_FILES) throw tooStrange(commit, 'it holds more than 50,000 YAML files')
  const sizes = await sizesOf(cwd, found)
  if (!sizes.every(Number.isSafeInteger)) throw missingFiles(commit)
  const files = found.map(({ id, path }, index) => ({ id, path, bytes: sizes[index] ?? 0 }))
  const total = files.reduce((sum, { bytes }) => sum + Math.min(bytes, MAX_BLOB_BYTES), 0)
  if (total > MAX_TREE_BYTES) throw tooStrange(commit, 'it holds more than 256 MiB of YAML')
  return { files, closed }
}

/** In bytes, in the order given. */
const sizesOf = async (cwd: string, files: readonly { readonly id: string }[]): Promise<readonly number[]> => {
  if (files.length === 0) return []
  const told = await git(cwd, ['cat-file', '--batch-check=%(objectsize)'], { input: lines(files) })
  return told.toString().trim().split('\n').map(Number)
}

/** Nothing is read of a base whose files are not here: it would look as if it declared nothing. */
const missingFiles = (commit: string): EspalierError =>
  new EspalierError('E_GIT', `This is a partial clone without the files of ${commit.slice(0, 12)}.`, {
    hint: 'Fetch them: git fetch --refetch --no-filter origin (actions/checkout: without filter and sparse-checkout).',
  })

const lines = (files: readonly { readonly id: string }[]): string => `${files.map(({ id }) => id).join('\n')}\n`

const tooStrange = (commit: string, why: string, cause?: unknown): EspalierError =>
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
      // The reader shows its size, and never looks inside.
      write(folder, path, '')
      truncateSync(join(folder, path), bytes)
    }
  } catch (error) {
    if (error instanceof EspalierError || !(error instanceof Error && 'code' in error)) throw error
    throw tooStrange('this commit', `a file of it cannot be made here (${error.code})`, error)
  }
}

/** So many at a time that memory holds them. */
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

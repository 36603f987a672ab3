/** A local mirror of one ref of a repository. It is fetched but never checked out. git handles the credentials. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { EspalierError } from './errors.ts'
import { git } from './git.ts'

const FETCHED = 'refs/espalier/fetched'
/** Limit on the total size of all objects. No repository of manifests needs this much. */
const MAX_BYTES = 2 * 1024 ** 3
const SIZE_CHECK_MS = 1_000
/** Each fetch adds a pack, and git becomes slow with thousands of packs. */
const MAX_PACKS = 50

export interface Mirror {
  /** Folder of the mirror on disk. */
  readonly folder: string
  /** URL or path. */
  readonly from: string
  readonly maxBytes: number
}

/** The repository exceeds the limit. A retry would fail in the same way. */
export class RepositoryTooLarge extends EspalierError {}

/** @param folder created if it does not exist. */
export const openMirror = async (folder: string, from: string, maxBytes = MAX_BYTES): Promise<Mirror> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const isThere = (await stat(join(folder, '.git')).catch(() => undefined)) !== undefined
  if (!isThere) {
    await git(folder, ['init', '--quiet', '--template='], { isOwn: true })
    // Otherwise git stores the objects of small fetches as separate files.
    await git(folder, ['config', 'fetch.unpackLimit', '1'], { isOwn: true })
  }
  return { folder, from, maxBytes }
}

export interface RemoteTip {
  /** `refs/heads/main`. */
  readonly ref: string
  /** Id of the commit, or of an annotated tag. */
  readonly id: string
}

/**
 * Resolves `name` in the remote repository: as a full ref, a branch, or a tag. `undefined` if there is none.
 *
 * @throws {EspalierError} `E_GIT` if the repository cannot be reached.
 */
export const remoteTip = async (mirror: Mirror, name: string): Promise<RemoteTip | undefined> => {
  const args = ['ls-remote', '--upload-pack=git-upload-pack', '--end-of-options', mirror.from, name]
  const found = (await remote(mirror, args)).toString()
  const ids = new Map(
    found.split('\n').flatMap((line) => {
      const [id = '', ref = ''] = line.split('\t')
      return ref === '' ? [] : [[ref, id] as const]
    }),
  )
  for (const ref of [name, `refs/heads/${name}`, `refs/tags/${name}`]) {
    const id = ids.get(ref)
    if (id !== undefined) return { ref, id }
  }
  return undefined
}

/**
 * Fetches the tip with its history.
 *
 * @returns the id of its commit.
 * @throws {RepositoryTooLarge}
 * @throws {EspalierError} `E_GIT`
 */
export const fetchTip = async (mirror: Mirror, { ref }: RemoteTip): Promise<string> => {
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance']
  const from = ['--upload-pack=git-upload-pack', '--end-of-options', mirror.from, `+${ref}:${FETCHED}`]
  const objects = join(mirror.folder, '.git', 'objects')
  await compact(mirror, objects)
  const tooLargeAbort = new AbortController()
  const isTooLarge = async (): Promise<boolean> => (await bytesIn(objects)) > mirror.maxBytes
  const timer = setInterval(async () => {
    if (await isTooLarge()) tooLargeAbort.abort(tooLarge(mirror))
  }, SIZE_CHECK_MS)
  try {
    await remote(mirror, ['fetch', ...quiet, ...from], tooLargeAbort.signal)
    if (await isTooLarge()) throw tooLarge(mirror)
  } finally {
    clearInterval(timer)
  }
  return fetchedCommit(mirror)
}

const tooLarge = ({ from, maxBytes }: Mirror): RepositoryTooLarge =>
  new RepositoryTooLarge(
    'E_GIT',
    `${withoutCredentials(from)} is not used: its history is larger than ${Math.floor(maxBytes / 1024 ** 2)} MiB.`,
    { hint: 'Keep manifests in a separate repository.' },
  )

/** Removes leftovers of unfinished fetches and unreachable objects. */
const compact = async ({ folder, maxBytes }: Mirror, objects: string): Promise<void> => {
  const packs = join(objects, 'pack')
  const names = await readdir(packs).catch(() => [])
  for (const name of names) if (name.startsWith('tmp_')) await rm(join(packs, name), { force: true })
  const count = names.filter((name) => name.endsWith('.pack')).length
  if (count > MAX_PACKS || (await bytesIn(objects)) > maxBytes) {
    await git(folder, ['gc', '--quiet', '--prune=now'], { isOwn: true })
  }
}

/** The commit of the last fetch, in this run or an earlier one. @throws {EspalierError} `E_GIT` if there was none. */
export const fetchedCommit = async ({ folder }: Mirror): Promise<string> =>
  text(await git(folder, ['rev-parse', '--verify', '--quiet', `${FETCHED}^{commit}`], { isOwn: true }))

export interface CommitInfo {
  /** ISO 8601. `undefined` if it is invalid, because authors can write anything there. */
  readonly committedAt: string | undefined
  readonly author: string
  /** The first line of the message. */
  readonly subject: string
}

const LONGEST_NAME = 80
const LONGEST_SUBJECT = 160

export const commitInfo = async ({ folder }: Mirror, commit: string): Promise<CommitInfo> => {
  const shown = text(await git(folder, ['show', '-s', '--format=%cI%n%an%n%s', commit], { isOwn: true }))
  const [date = '', author = '', subject = ''] = shown.split('\n')
  const time = new Date(date)
  return {
    committedAt: Number.isNaN(time.getTime()) ? undefined : time.toISOString(),
    author: author.slice(0, LONGEST_NAME),
    subject: subject.slice(0, LONGEST_SUBJECT),
  }
}

/** Whether `commit` descends from `earlier`. Also false if `earlier` is unknown, as after a rewrite of the branch. */
export const isDescendant = async ({ folder }: Mirror, commit: string, earlier: string): Promise<boolean> => {
  try {
    await git(folder, ['merge-base', '--is-ancestor', '--end-of-options', earlier, commit], { isOwn: true })
    return true
  } catch (error) {
    if (error instanceof EspalierError) return false
    throw error
  }
}

/** Removes the password that a URL may contain. The password may contain an `@`. */
export const withoutCredentials = (url: string): string => url.replace(/(\w+:\/\/)[^/\s]*@/g, '$1')

const text = (output: Buffer): string => output.toString().trim()

/** Removes credentials from error messages, because git quotes the URL of the remote. */
const remote = async ({ folder }: Mirror, args: readonly string[], signal?: AbortSignal): Promise<Buffer> => {
  try {
    return await git(folder, args, { isRemote: true, isOwn: true, signal })
  } catch (error) {
    if (!(error instanceof EspalierError) || error instanceof RepositoryTooLarge) throw error
    throw new EspalierError(error.code, withoutCredentials(error.message), {
      hint: 'Check the URL, the network and the credentials that git uses: `git ls-remote URL`.',
    })
  }
}

const bytesIn = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = entries.map(async (entry) =>
    entry.isFile() ? ((await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0) : 0,
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** Reads manifests from a ref of a git repository or from a folder. No code from either is executed. */
import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import {
  canonicalJson,
  commitInfo,
  EspalierError,
  fetchedCommit,
  fetchTip,
  isDescendant,
  type Mirror,
  openMirror,
  RepositoryTooLarge,
  remoteTip,
  withoutCredentials,
} from '../../base/index.ts'
import { digestOf, type Manifests, manifestsAt, readManifests } from '../../workflow/index.ts'

export interface Version {
  /** The hash of the commit, or a digest of the folder's files. */
  readonly id: string
  readonly committedAt?: string | undefined
  readonly author?: string
  readonly subject?: string
  readonly manifests: Manifests
}

export interface Source {
  readonly kind: 'git' | 'folder'
  /** The repository's URL without credentials, or the folder. */
  readonly from: string
  readonly ref?: string
  /**
   * Reads the current version. Returns `undefined` if the ref does not exist.
   *
   * @throws {EspalierError} if the source cannot be read.
   */
  read(): Promise<Version | undefined>
  /** Reads the version that an earlier run fetched, which is used while the repository is unreachable. */
  lastRead(): Promise<Version | undefined>
  /** Reads an earlier version, or returns `undefined` if it is no longer available. */
  earlier(id: string): Promise<Version | undefined>
  /** Whether `version` descends from `earlier`. */
  continues(version: string, earlier: string): Promise<boolean>
}

/** How manifests are read. The operator of the agent sets this, and manifests cannot change it. */
interface SourceSettings {
  /** Absolute paths of policy files outside the repository. */
  readonly policyPaths?: readonly string[]
}

interface GitOptions extends SourceSettings {
  readonly repo: string
  readonly ref: string
  /** Paths of manifests, relative to the root of the repository. */
  readonly paths: readonly string[]
  /** The folder that holds the git mirror. */
  readonly folder: string
  /** The maximum size of the mirror. The default is 2 GiB. */
  readonly maxBytes?: number
}

export const gitSource = (options: GitOptions): Source => {
  const { repo, ref, folder, maxBytes } = options
  let opening: Promise<Mirror> | undefined
  let last: { readonly tip: string; readonly version: Version } | undefined
  let refused: { readonly tip: string; readonly error: RepositoryTooLarge } | undefined
  const mirror = (): Promise<Mirror> => {
    opening ??= openMirror(folder, repo, maxBytes)
    opening.catch(() => {
      opening = undefined
    })
    return opening
  }
  const versionOf = async (commit: string): Promise<Version> => {
    const opened = await mirror()
    return {
      id: commit,
      ...(await commitInfo(opened, commit)),
      manifests: await manifestsAt(commit, options, { cwd: opened.folder, missing: 'report' }),
    }
  }
  return {
    kind: 'git',
    from: withoutCredentials(repo),
    ref,
    read: async () => {
      const tip = await remoteTip(await mirror(), ref)
      if (tip === undefined) return undefined
      if (tip.id === last?.tip) return last.version
      if (tip.id === refused?.tip) throw refused.error
      try {
        last = { tip: tip.id, version: await versionOf(await fetchTip(await mirror(), tip)) }
        return last.version
      } catch (error) {
        if (error instanceof RepositoryTooLarge) refused = { tip: tip.id, error }
        throw error
      }
    },
    lastRead: () => ifReadable(async () => versionOf(await fetchedCommit(await mirror()))),
    earlier: (id) => ifReadable(() => versionOf(id)),
    continues: async (version, earlier) => version === earlier || isDescendant(await mirror(), version, earlier),
  }
}

const ifReadable = async (read: () => Promise<Version>): Promise<Version | undefined> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof EspalierError) return undefined
    throw error
  }
}

/** @param paths files, folders or globs. All of them together make one version. */
export const folderSource = (paths: readonly string[], cwd: string, settings: SourceSettings = {}): Source => ({
  kind: 'folder',
  from: paths.length === 0 ? cwd : paths.join(' '),
  read: async () => {
    const manifests = await readFolder(paths, cwd, settings)
    const { loaded, review } = manifests
    const digest = createHash('sha256').update(digestOf(loaded.texts))
    digest.update(canonicalJson([review?.policies?.policies, loaded.diagnostics]))
    return { id: digest.digest('hex'), manifests }
  },
  lastRead: async () => undefined,
  earlier: async () => undefined,
  continues: async () => true,
})

const readFolder = async (paths: readonly string[], cwd: string, settings: SourceSettings): Promise<Manifests> => {
  const absolute = await Promise.all(paths.map((path) => settled(isAbsolute(path) ? path : join(cwd, path))))
  const [only] = absolute
  const isFolder = only !== undefined && (await stat(only).catch(() => undefined))?.isDirectory() === true
  const [given, folder] = absolute.length === 1 && isFolder ? [['.'], only] : [absolute, cwd]
  return readManifests(given, { ...settings, cwd: folder })
}

/**
 * Kubernetes updates a mounted ConfigMap by replacing the `..data` symlink. The link is resolved only once, so that all
 * files come from the same version.
 */
const settled = (path: string): Promise<string> => realpath(join(path, '..data')).catch(() => path)

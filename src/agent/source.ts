/** Where manifests come from: one ref of a git repository, or a folder. No code from either is executed. */
import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import {
  canonicalJson,
  commitTime,
  fetchedCommit,
  fetchTip,
  isDescendant,
  type Mirror,
  openMirror,
  RepositoryTooLarge,
  remoteTip,
  withoutCredentials,
} from '../base/index.ts'
import { EspalierError, type SizeTable } from '../model/index.ts'
import { digestOf, type Manifests, manifestsAt, readManifests } from '../workflow/index.ts'

export interface Version {
  /** Commit, or digest of the folder. */
  readonly id: string
  readonly committedAt?: string | undefined
  readonly manifests: Manifests
}

export interface Source {
  readonly kind: 'git' | 'folder'
  /** Without credentials. */
  readonly from: string
  readonly ref?: string
  /**
   * The current version; `undefined` if the ref does not exist.
   *
   * @throws {EspalierError} if the source cannot be read.
   */
  read(): Promise<Version | undefined>
  /** The version that an earlier run fetched, used while the repository is unreachable. */
  lastRead(): Promise<Version | undefined>
  /** Whether `version` descends from `earlier`. */
  continues(version: string, earlier: string): Promise<boolean>
}

/** How to read and review manifests. Set by the operator, not by the manifests. */
export interface SourceSettings {
  readonly sizeTable?: SizeTable
  /** Absolute paths outside the repository. */
  readonly policyPaths?: readonly string[]
  /** Adds prices and account limits. */
  readonly review?: (manifests: Manifests) => Promise<Manifests>
}

interface GitOptions extends SourceSettings {
  readonly repo: string
  readonly ref: string
  /** Relative to the repository root. */
  readonly paths: readonly string[]
  /** Folder of the git mirror. */
  readonly folder: string
  /** Maximum size of the mirror. Default: 2 GiB. */
  readonly maxBytes?: number
}

const unreviewed = async (manifests: Manifests): Promise<Manifests> => manifests

export const gitSource = (options: GitOptions): Source => {
  const { repo, ref, folder, maxBytes, review = unreviewed } = options
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
      committedAt: await commitTime(opened, commit),
      manifests: await review(await manifestsAt(commit, options, { cwd: opened.folder, missing: 'report' })),
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
    lastRead: async () => {
      try {
        return await versionOf(await fetchedCommit(await mirror()))
      } catch (error) {
        if (error instanceof EspalierError) return undefined
        throw error
      }
    },
    continues: async (version, earlier) => version === earlier || isDescendant(await mirror(), version, earlier),
  }
}

/** @param paths files, folders or globs, read together as one version. */
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
  continues: async () => true,
})

const readFolder = async (
  paths: readonly string[],
  cwd: string,
  { review = unreviewed, ...options }: SourceSettings,
): Promise<Manifests> => {
  const absolute = await Promise.all(paths.map((path) => settled(isAbsolute(path) ? path : join(cwd, path))))
  const [only] = absolute
  const isFolder = only !== undefined && (await stat(only).catch(() => undefined))?.isDirectory() === true
  const [given, folder] = absolute.length === 1 && isFolder ? [['.'], only] : [absolute, cwd]
  return review(await readManifests(given, { ...options, cwd: folder }))
}

/**
 * Kubernetes updates a mounted ConfigMap by swapping the `..data` symlink. Resolving it once makes all files come from
 * one version.
 */
const settled = (path: string): Promise<string> => realpath(join(path, '..data')).catch(() => path)

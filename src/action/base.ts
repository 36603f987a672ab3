/** The manifests of the pull request's base. */
import { commitOf, fetchCommit, parentsOf } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'
import { type Manifests, manifestsAt } from '../workflow/index.ts'
import type { PullRequest } from './event.ts'

export interface Base {
  readonly commit: string
  readonly manifests: Manifests
}

/**
 * The base's manifests; `undefined` if its commit cannot be read.
 *
 * @param find returns the commit of the base.
 * @throws {EspalierError} `E_OUTSIDE` if the commit has a link or submodule in place of a manifest.
 */
export const readBase = async (
  find: () => Promise<string>,
  head: Manifests,
  cwd: string,
): Promise<Base | undefined> => {
  try {
    const commit = await find()
    return { commit, manifests: await manifestsAt(commit, head, { cwd }) }
  } catch (error) {
    if (error instanceof EspalierError && error.code === 'E_GIT') return undefined
    throw error
  }
}

export const NO_BASE =
  'The base could not be read, so existing drift is shown as introduced, and the policies of the base are unknown. Check out without `filter` and `sparse-checkout`, and either with `fetch-depth: 0` or with `persist-credentials` enabled.'

/**
 * For a pull request, the checked-out commit is usually its merge commit, whose first parent is the current base.
 * Otherwise, the base is the commit that the event names, fetched if a shallow clone lacks it.
 */
export const baseOf = async (cwd: string, { baseSha, headSha }: PullRequest): Promise<string> => {
  const [first, second] = await parentsOf(cwd, 'HEAD')
  return first !== undefined && second === headSha ? first : fetchIfMissing(cwd, baseSha)
}

/** The first parent of the checked-out commit, fetched if a shallow clone lacks it. @throws {EspalierError} `E_GIT` */
export const firstParent = async (cwd: string): Promise<string> => {
  const [first] = await parentsOf(cwd, 'HEAD')
  if (first !== undefined) return fetchIfMissing(cwd, first)
  throw new EspalierError('E_GIT', 'The checked-out commit has no parent in this clone.')
}

/** The commit, fetched if it is missing. @throws {EspalierError} `E_GIT` */
export const fetchIfMissing = (cwd: string, sha: string): Promise<string> =>
  commitOf(cwd, sha).catch(async () => {
    await fetchCommit(cwd, sha, 1)
    return commitOf(cwd, sha)
  })

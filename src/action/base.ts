/** Reads the manifests of a pull request's base, and compares them with those of its head. */
import { isDeepStrictEqual } from 'node:util'
import { commitOf, EspalierError, fetchCommit, parentsOf } from '../base/index.ts'
import { type Desired, hasErrors, waveOf, withoutPlaces } from '../model/index.ts'
import { projectIds } from '../planner/index.ts'
import { type Manifests, manifestsAt, withEarlier } from '../workflow/index.ts'
import type { PullRequest } from './event.ts'
import type { Job } from './job.ts'

export interface Base {
  readonly commit: string
  readonly manifests: Manifests
}

/**
 * Returns the base's manifests.
 *
 * @param find finds the commit of the base.
 * @throws {EspalierError} `E_GIT` if the commit cannot be read: without it, the policies that apply and the safeguards
 *   that the head removes are unknown. `E_OUTSIDE` if it contains a link or submodule where a manifest should be.
 */
export const readBase = async (find: () => Promise<string>, head: Manifests, cwd: string): Promise<Base> => {
  try {
    const commit = await find()
    return { commit, manifests: await manifestsAt(commit, head, { cwd }) }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    throw new EspalierError('E_GIT', `The base could not be read, so its policies are unknown. ${error.message}`, {
      hint: CHECK_OUT,
      cause: error,
    })
  }
}

const isUnreadable = (error: unknown): error is EspalierError =>
  error instanceof EspalierError && error.code === 'E_GIT'

const CHECK_OUT =
  'Check out without `filter` and `sparse-checkout`, and with `fetch-depth: 0`, or permit the token of the job to read contents.'

/** Whether base and head declare the same: their files and policies have the same content. */
export const isSameContent = (base: Manifests, head: Manifests): boolean =>
  isDeepStrictEqual(base.loaded.texts, head.loaded.texts) &&
  isDeepStrictEqual(base.review?.policies, head.review?.policies)

/**
 * The ids of the projects whose declarations differ between the head and the base.
 *
 * @param base if `undefined`, all projects count as changed.
 */
export const changedProjects = (head: Desired, base: Desired | undefined): readonly string[] =>
  projectIds(head).filter((id) => base === undefined || declaredText(head, id) !== declaredText(base, id))

/** The project's declarations as JSON, without their positions in files. */
const declaredText = ({ documents, waves }: Desired, id: string): string =>
  JSON.stringify(withoutPlaces([documents.filter(({ project }) => project === id), waves?.[waveOf(waves, id)]?.name]))

/**
 * Finds the base of a pull request. Usually its merge commit is checked out, and the first parent of that commit is the
 * current base. Otherwise, the base is the commit that the event names, which is fetched if a shallow clone lacks it.
 */
export const baseOf = async (cwd: string, { baseSha, headSha }: PullRequest): Promise<string> => {
  const [first, second] = await parentsOf(cwd, 'HEAD')
  return first !== undefined && second === headSha ? first : fetchIfMissing(cwd, baseSha)
}

/**
 * Adds the policies of the commit that a push has moved the branch from, so that a push cannot remove the policy that
 * denies it.
 *
 * @throws {EspalierError} `E_GIT` if the commit cannot be read.
 */
export const withPoliciesBefore = async ({ event, cwd }: Job, manifests: Manifests): Promise<Manifests> => {
  const { before } = event
  if (before === undefined || hasErrors(manifests.loaded.diagnostics)) return manifests
  const base = await readBase(() => fetchIfMissing(cwd, before), manifests, cwd)
  return withEarlier(manifests, [base])
}

/** Fetches the commit if it is missing in this clone. @throws {EspalierError} `E_GIT` */
export const fetchIfMissing = (cwd: string, sha: string): Promise<string> =>
  commitOf(cwd, sha).catch(async () => {
    await fetchCommit(cwd, sha, 1)
    return commitOf(cwd, sha)
  })

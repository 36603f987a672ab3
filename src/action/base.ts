/** The manifests of the pull request's base. */
import { EspalierError, type Plan } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import {
  type BaseComparison,
  commitOf,
  fetchCommit,
  type Manifests,
  manifestsAt,
  parentsOf,
} from '../workflow/index.ts'
import type { PullRequest } from './event.ts'

export interface Parted extends BaseComparison {
  /** Markdown of our own, a sentence each. */
  readonly notes: readonly string[]
}

/** Of a pull request whose merge or head is checked out; `undefined` where its base cannot be read. */
export const readBase = async (pull: PullRequest, head: Manifests, cwd: string): Promise<Manifests | undefined> => {
  try {
    return await manifestsAt(await baseOf(cwd, pull), head, { cwd })
  } catch (error) {
    if (error instanceof EspalierError) return undefined
    throw error
  }
}

/** What the plan shows where nothing is compared, or nothing can be. */
export const withoutBase = (plan: Plan, notes: readonly string[] = []): Parted => ({
  origin: originOf(undefined, plan),
  policyRemovals: [],
  notes,
})

export const NO_BASE =
  'The base could not be read, so drift is shown as introduced. Check out with `fetch-depth: 0`, or leave `persist-credentials` on.'

/**
 * What is checked out for a pull request is its merge into the base, whose first parent is the base as it is now. Else
 * the base that the event names, fetched where a shallow clone lacks it.
 */
export const baseOf = async (cwd: string, { baseSha, headSha }: PullRequest): Promise<string> => {
  const [first, second] = await parentsOf(cwd, 'HEAD')
  return first !== undefined && second === headSha ? first : present(cwd, baseSha)
}

/** The commit, fetched where it is missing. @throws {EspalierError} `E_GIT` */
export const present = (cwd: string, sha: string): Promise<string> =>
  commitOf(cwd, sha).catch(async () => {
    await fetchCommit(cwd, sha, 1)
    return commitOf(cwd, sha)
  })

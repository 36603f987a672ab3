/** The manifests of the pull request's base. */
import { type Diagnostic, EspalierError, hasErrors, type Observed, type Origin, type Plan } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import {
  commitOf,
  fetchCommit,
  type Manifests,
  manifestsAt,
  parentsOf,
  planOfBase,
  weakenedGuards,
} from '../workflow/index.ts'
import type { PullRequest } from './event.ts'

export interface Parted {
  readonly origin: Origin
  /** The base's commit; absent where it is not known what drifted: then all counts as introduced. */
  readonly base?: string
  /** Markdown of our own, a sentence each. */
  readonly notes: readonly string[]
  /** What the pull request guards less than its base does, where the plan does not keep to the base's guards. */
  readonly warnings?: readonly Diagnostic[]
}

/** Both plans stand against one snapshot, so nothing that moved in between is blamed on anyone. */
export const partBy = (base: Manifests, commit: string, observed: Observed, plan: Plan): Parted => {
  const isWrong = base.paths.length > 0 && hasErrors(base.loaded.diagnostics)
  return {
    ...(isWrong ? {} : { base: commit }),
    origin: originOf(planOfBase(base, observed), plan),
    notes: isWrong ? ["The base's manifests have errors, so every change is shown as introduced."] : [],
  }
}

/** {@link partBy} the base of a pull request or merge group that is checked out. @param find its base's commit. */
export const partByBase = async (
  find: () => Promise<string>,
  head: Manifests,
  observed: Observed,
  plan: Plan,
  cwd: string,
): Promise<Parted> => {
  try {
    const commit = await find()
    const base = await manifestsAt(commit, head, { cwd })
    return { ...partBy(base, commit, observed, plan), warnings: weakenedGuards(base, head, observed) }
  } catch (error) {
    if (!(error instanceof EspalierError)) throw error
    return {
      origin: originOf(undefined, plan),
      notes: [
        'The base could not be read, so drift is shown as introduced. Check out with `fetch-depth: 0`, or leave `persist-credentials` on.',
      ],
    }
  }
}

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

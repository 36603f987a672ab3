/** The manifests of the pull request's base. */
import { EspalierError, hasErrors, type Observed, type Origin, type Plan } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import { commitOf, git, type Manifests, manifestsAt, planOfBase } from '../workflow/index.ts'
import type { PullRequest } from './event.ts'

export interface Parted {
  readonly origin: Origin
  /** Markdown of our own, a sentence each. */
  readonly notes: readonly string[]
}

/** Both plans stand against one snapshot, so nothing that moved in between is blamed on anyone. */
export const partByBase = async (
  pull: PullRequest,
  head: Manifests,
  observed: Observed,
  plan: Plan,
  cwd: string,
): Promise<Parted> => {
  try {
    const base = await manifestsAt(await baseOf(cwd, pull), head, cwd)
    const isWrong = base.paths.length > 0 && hasErrors(base.loaded.diagnostics)
    return {
      origin: originOf(planOfBase(base, observed), plan),
      notes: isWrong ? ["The base's manifests have errors, so every change is shown as introduced."] : [],
    }
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
const baseOf = async (cwd: string, { baseSha, headSha }: PullRequest): Promise<string> => {
  const line = (await git(cwd, ['rev-list', '--parents', '-n', '1', 'HEAD'])).toString().trim()
  const [, first, second] = line.split(' ')
  if (first !== undefined && second === headSha) return first
  return commitOf(cwd, baseSha).catch(async () => {
    await git(cwd, ['fetch', '--quiet', '--no-tags', '--depth=1', 'origin', baseSha])
    return commitOf(cwd, baseSha)
  })
}

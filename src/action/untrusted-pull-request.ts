/**
 * Handles a pull request whose author is not trusted with this job's secrets. Its manifests are treated only as data:
 * they are read as git blobs, and planned within the limits that the base's manifests set. No file of the pull request
 * is checked out or executed.
 */
import { commitOf, EspalierError, fetchCommit, parentsOf, remoteCommit } from '../base/index.ts'
import { type Diagnostic, hasErrors } from '../model/index.ts'
import { type Manifests, manifestsAt } from '../workflow/index.ts'
import { baseOf, fetchIfMissing } from './base.ts'
import type { PullRequest } from './event.ts'
import type { Job } from './job.ts'

export interface UntrustedManifests {
  readonly head: Manifests
  readonly base: Manifests
  readonly baseSha: string
  /** An error for each project that the head names but must not access. */
  readonly refused: readonly Diagnostic[]
  /** Trusted Markdown, one sentence each. */
  readonly notes: readonly string[]
}

/** A job that runs for this event has access to secrets even if the pull request is from a fork. */
const HAS_SECRETS = 'pull_request_target'

export const isUntrusted = ({ event, inputs }: Job): boolean =>
  event.name === HAS_SECRETS || (event.pullRequest?.isFork === true && inputs.apiKey !== '')

/** @throws {EspalierError} `E_GIT`, `E_FORK_CHECKOUT`, `E_BASE` */
export const readUntrusted = async ({ event, inputs, cwd }: Job): Promise<UntrustedManifests> => {
  const pull = event.pullRequest
  if (pull === undefined) {
    throw new EspalierError('E_BASE', `The event ${event.name} has no pull request.`)
  }
  const { baseSha, headSha, notes } =
    event.name === HAS_SECRETS ? await outsideOf(cwd, pull) : await withinMerge(cwd, pull)
  const files = { paths: inputs.paths, policyPaths: inputs.policy }
  const base = await manifestsAt(baseSha, files, { cwd })
  if (hasErrors(base.loaded.diagnostics)) {
    throw new EspalierError(
      'E_BASE',
      `The base's manifests (${baseSha.slice(0, 12)}) have errors, so it is unknown which projects may be read: ${firstError(base)}`,
      { hint: "Fix the base's manifests first." },
    )
  }
  const head = await manifestsAt(headSha, files, { cwd, missing: 'report' })
  return { head, base, baseSha, refused: foreign(base, head), notes }
}

const firstError = ({ loaded }: Manifests): string =>
  loaded.diagnostics.find(({ severity }) => severity === 'error')?.message ?? ''

interface Sides {
  readonly baseSha: string
  readonly headSha: string
  readonly notes: readonly string[]
}

/** For a job that has the base checked out. Fetches the merge commit from the base's repository. */
const outsideOf = async (cwd: string, pull: PullRequest): Promise<Sides> => {
  const checkedOut = await commitOf(cwd, 'HEAD')
  if (checkedOut === pull.headSha || (await parentsOf(cwd, 'HEAD')).includes(pull.headSha)) {
    throw new EspalierError(
      'E_FORK_CHECKOUT',
      `The head of the pull request is checked out in a job that has secrets (${HAS_SECRETS}).`,
      { hint: 'Remove `ref` from actions/checkout: the head is read from git without a checkout.' },
    )
  }
  const merge = await mergeOf(cwd, pull)
  if (merge !== undefined) return merge
  return {
    baseSha: await fetchIfMissing(cwd, pull.baseSha),
    headSha: await fetchIfMissing(cwd, pull.headSha),
    notes: ['The merge commit could not be fetched, so the head is planned without newer commits of the base.'],
  }
}

/** The merge commit in the ref that only GitHub writes. The ref may be stale and still refer to an older head. */
const mergeOf = async (cwd: string, { number, headSha }: PullRequest): Promise<Sides | undefined> => {
  try {
    const merge = await remoteCommit(cwd, `refs/pull/${number}/merge`)
    if (merge === undefined) return undefined
    await fetchCommit(cwd, merge, 2)
    const [first, second] = await parentsOf(cwd, merge)
    return first !== undefined && second === headSha ? { baseSha: first, headSha: merge, notes: [] } : undefined
  } catch (error) {
    if (error instanceof EspalierError) return undefined
    throw error
  }
}

/** For a job that has the merge commit or the head checked out. */
const withinMerge = async (cwd: string, pull: PullRequest): Promise<Sides> => ({
  baseSha: await baseOf(cwd, pull),
  headSha: await commitOf(cwd, 'HEAD'),
  notes: [],
})

/** Refuses projects that the base does not name. The key may have access to projects that the author must not see. */
const foreign = (base: Manifests, head: Manifests): readonly Diagnostic[] => {
  const known = new Set(base.loaded.desired.documents.map(({ project }) => project))
  return head.loaded.desired.documents
    .filter(({ project }) => !known.has(project))
    .map(({ project, source }) => ({
      severity: 'error',
      code: 'E_FORK_PROJECT',
      message: `No manifest of the base names the project \`${project}\`, so this pull request must not read it.`,
      hint: `The base names ${known.size === 0 ? 'none' : [...known].sort().join(', ')}. A maintainer can add a project in a pull request from a branch of this repository.`,
      source,
    }))
}

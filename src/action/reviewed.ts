/** Compares a plan with the changes that the reviewers of a pull request saw. */
import { EspalierError, EXIT, mapConcurrently, plainText } from '../base/index.ts'
import { type Change, computeTitle, type Origin } from '../model/index.ts'
import { type Manifests, planLive, select } from '../workflow/index.ts'
import { baseOf, fetchIfMissing, firstParent, isUnreadable, readBase } from './base.ts'
import { WORKFLOW_LOGIN } from './comment.ts'
import type { GitHub } from './github.ts'
import { type Job, withReadClient } from './job.ts'
import { digestsOf, type PlanRecord, planeOf, readRecord } from './record.ts'
import { withGitHub } from './with-github.ts'

interface ReviewVerdict {
  readonly reviewed: readonly Change[]
  /** Changes that were not reviewed, and were introduced by the merge or are related to it. */
  readonly differing: readonly Change[]
  /** Changes that were not reviewed, but only correct drift that is unrelated to the merge. */
  readonly unrelated: readonly Change[]
}

/** @param introduced the changes that the merge introduces. If they are unknown, no change counts as unrelated. */
const judgeReviewed = (
  changes: readonly Change[],
  known: ReadonlySet<string>,
  introduced: Origin['introduced'] = changes,
): ReviewVerdict => {
  const introducedIds = new Set(introduced.map(({ id }) => id))
  const isReviewed = (change: Change): boolean => digestsOf(change).every((digest) => known.has(digest))
  const isRelated = (change: Change): boolean =>
    introducedIds.has(change.id) || digestsOf(change).some((digest) => known.has(digest))
  const others = changes.filter((change) => !isReviewed(change))
  return {
    reviewed: changes.filter(isReviewed),
    differing: others.filter(isRelated),
    unrelated: others.filter((change) => !isRelated(change)),
  }
}

// Implements `require-reviewed`: only changes that the plan on the merged pull request showed are applied.

/** What the reviewers saw. */
interface Review {
  readonly digests: ReadonlySet<string>
  /** One sentence for each pull request. */
  readonly notes: readonly string[]
}

/** If a push contains more commits than this, only the newest are checked for merged pull requests. */
const MOST_COMMITS = 50
const MOST_LISTED = 20

/** @throws {EspalierError} `E_NOT_REVIEWED` if no pull request was merged in this run, `E_INPUT` without a token. */
export const findReview = async (job: Job): Promise<Review> => {
  const { inputs, event } = job
  if (inputs.githubToken === '') {
    throw new EspalierError(
      'E_INPUT',
      '`require-reviewed` requires the input github-token, to read the reviewed plans.',
    )
  }
  const records = await withGitHub(job, READING, async (github) => {
    const pulls = await mergedPulls(job, github)
    return Promise.all(pulls.map((pull) => recordOf(pull, planeOf(job), github)))
  })
  if (records === undefined || records.length === 0) {
    throw notReviewed(`No pull request was merged with the commit ${event.sha.slice(0, 12)}.`, HOW_TO_REVIEW)
  }
  return { digests: new Set(records.flatMap(({ digests }) => digests)), notes: records.map(({ note }) => note) }
}

const READING = {
  warning: 'The reviewed plans could not be read',
  permission: 'pull-requests: read',
  onRefused: (message: string): never => {
    throw notReviewed(message, 'Run the job again.')
  },
}

type MergedPullRequest = Awaited<ReturnType<GitHub['mergedPullRequests']>>[number]

/** Finds the merged pull requests. A push from a merge queue may contain several. */
const mergedPulls = async ({ event }: Job, github: GitHub): Promise<readonly MergedPullRequest[]> => {
  const { pullRequest: pull, branch, sha } = event
  if (pull !== undefined) return [{ number: pull.number, headSha: pull.headSha, base: '' }]
  const commits = [...new Set([sha, ...event.commits.slice(-MOST_COMMITS)])].filter((one) => one !== '')
  const found = await mapConcurrently(commits, 4, (commit) => github.mergedPullRequests(commit))
  const here = found.flat().filter(({ base }) => branch === undefined || base === branch)
  return [...new Map(here.map((one) => [one.number, one])).values()]
}

interface Recorded {
  readonly digests: readonly string[]
  readonly note: string
}

/**
 * Reads what the comments on a pull request recorded. Anyone with write access can edit any comment, so a comment
 * counts only if the token's own account was the last to edit it.
 */
const recordOf = async ({ number, headSha }: MergedPullRequest, plane: string, github: GitHub): Promise<Recorded> => {
  // For each plan, only the newest comment counts.
  const login = (await github.identity()) ?? WORKFLOW_LOGIN
  const own = (await github.comments(number)).filter(
    (one) => one.body.startsWith('<!-- espalier plan ') && one.login === login,
  )
  const newest = new Map(own.toSorted((a, b) => a.id - b.id).map((one) => [one.body.split('\n')[0], one]))
  const recordIn = (body: string): PlanRecord | undefined => {
    const record = readRecord(body)
    return record?.head === headSha && record.plane === plane ? record : undefined
  }
  const candidates = [...newest.values()].filter(({ body }) => recordIn(body) !== undefined)
  const digests: string[] = []
  const problems: string[] = []
  for (const { nodeId, url } of candidates) {
    const proven = await github.provenText(nodeId)
    if (proven?.editor === undefined) digests.push(...(recordIn(proven?.body ?? '')?.shown.keys() ?? []))
    else problems.push(` ${url} was edited by ${plainText(proven.editor)}, so it does not count.`)
  }
  const of = `#${number} at ${headSha.slice(0, 12)}`
  const note = digests.length > 0 ? `Reviewed: ${of}.` : `No plan with changes was recorded for ${of}.`
  return { digests, note: `${note}${problems.join('')}` }
}

/**
 * Selects the changes that were reviewed. Drift that is unrelated to the merge is not applied.
 *
 * @throws {EspalierError} `E_NOT_REVIEWED` if a change is neither reviewed nor unrelated drift.
 */
export const selectReviewed = async (job: Job, manifests: Manifests, review: Review): Promise<Manifests> => {
  const { cwd, runner } = job
  const base = await readBase(() => beforeMerge(job), manifests, cwd).catch((error: unknown) => {
    if (isUnreadable(error)) return undefined
    throw error
  })
  const { result, comparison } = await withReadClient(job, (api) =>
    planLive(api, manifests, { base: base?.manifests, readsOperations: false }),
  )
  const { changes } = result.plan
  const verdict = judgeReviewed(changes, review.digests, comparison?.origin.introduced)
  refuse(verdict.differing, review)
  for (const note of review.notes) runner.print(note)
  if (verdict.unrelated.length === 0) return manifests
  runner.notice(
    `Not applied, because this drift was not reviewed and is unrelated to this merge: ${listed(verdict.unrelated)}.`,
  )
  return select(manifests, { projects: job.inputs.project, changes: verdict.reviewed.map(({ id }) => id) })
}

/** @throws {EspalierError} `E_NOT_REVIEWED` if a change was not reviewed. */
export const refuseUnreviewed = (changes: readonly Change[], review: Review): void =>
  refuse(judgeReviewed(changes, review.digests).differing, review)

const refuse = (differing: readonly Change[], { notes }: Review): void => {
  if (differing.length === 0) return
  throw notReviewed(
    `${differing.length === 1 ? 'One change does' : `${differing.length} changes do`} not match the plan on the pull request: ${listed(differing)}. ${notes.join(' ')}`,
    HOW_TO_REVIEW,
  )
}

const HOW_TO_REVIEW = 'Merge a pull request whose plan shows the changes, or apply without require-reviewed.'

const notReviewed = (message: string, hint: string): EspalierError =>
  new EspalierError('E_NOT_REVIEWED', `${message} Nothing was changed.`, { hint, exitCode: EXIT.stale })

const listed = (changes: readonly Change[]): string => {
  const more = changes.length - MOST_LISTED
  const words = changes.slice(0, MOST_LISTED).map(({ kind, compute, branch, project, attributes }) => {
    const values = attributes.map(({ path, beforeText, afterText }) =>
      beforeText === undefined ? `${path} ${afterText}` : `${path} ${beforeText} → ${afterText}`,
    )
    const what = values.length === 0 ? '' : ` (${values.join(', ')})`
    return `${kind} ${computeTitle(compute)} on ${branch.name} in ${project}${what}`
  })
  return plainText([...words, ...(more > 0 ? [`${more} more`] : [])].join('; '))
}

/** The commit that the base branch pointed to before the merge. */
const beforeMerge = async ({ event, cwd }: Job): Promise<string> => {
  if (event.pullRequest !== undefined) return baseOf(cwd, event.pullRequest)
  return event.before === undefined ? firstParent(cwd) : fetchIfMissing(cwd, event.before)
}

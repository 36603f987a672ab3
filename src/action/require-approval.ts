/**
 * Implements `require-approval` after the merge: only changes that a merged pull request showed before it was approved
 * are applied. All merged pull requests count whose changes are still open, so no run depends on an earlier one.
 */
import { commitOf, EspalierError, EXIT, mapConcurrently, plainText } from '../base/index.ts'
import { type Change, changeTitle, hasErrors, type Outcome, type Plan } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import { HOW_TO_APPROVE } from '../report/index.ts'
import { type Manifests, planLive, planOfBase, select, withEarlier } from '../workflow/index.ts'
import { type Approval, approvalOf, approversOf, type Judgement, judge, type Unapproved } from './approval.ts'
import { type Base, fetchIfMissing, readBase } from './base.ts'
import { markerOf } from './comment.ts'
import type { GitHub } from './github.ts'
import { type Job, withReadClient } from './job.ts'
import { type MergedPull, type OwnComment, readMerged, readReviews } from './pull-requests.ts'
import { digestsOf, type PlanRecord, planeOf, readRecord } from './record.ts'
import { withGitHub } from './with-github.ts'

export interface Approved {
  /** Select the approved changes, and have the policies at the bases of the pull requests that approve them. */
  readonly manifests: Manifests
  readonly judgement: Judgement
  /** The pull requests with open changes. */
  readonly approvals: readonly Approval[]
}

const OLDEST_DAYS = 30
const DAY_MS = 86_400_000

/**
 * @returns `undefined` if the branch has a newer commit with other manifests. A newer run applies that.
 * @throws {EspalierError} `E_INPUT` without a token or a branch, `E_NOT_APPROVED` if GitHub cannot be read, `E_GIT` if a
 *   base cannot be read.
 */
export const findApproved = async (job: Job, manifests: Manifests): Promise<Approved | undefined> => {
  const { runner, cwd, event } = job
  if (job.inputs.githubToken === '' || event.branch === undefined) {
    throw new EspalierError('E_INPUT', '`require-approval` needs the input github-token, and an event on a branch.')
  }
  const { branch } = event
  const commit = await commitOf(cwd, 'HEAD')
  const open = await withGitHub(job, READING, (github) => openOf(job, github, { branch, commit, manifests }))
  if (open === undefined) return undefined
  const bases = await readBases(job, manifests, open)
  const { result, observed } = await withReadClient(job, (api) =>
    planLive(api, manifests, { clock: job.clock, readsOperations: false }),
  )
  const { changes, projects } = result.plan
  const introduced = new Set(
    [...bases.values()].flatMap(({ manifests: base }) =>
      originOf(planOfBase(base, projects, observed), result.plan).introduced.map(({ id }) => id),
    ),
  )
  const isIntroduced = ({ id }: Change): boolean => introduced.has(id)
  const judgement = judge(changes, isIntroduced, open)
  const blocked = new Set(judgement.lacking.map(({ change }) => change.project))
  const chosen = judgement.approved.filter(({ project }) => !blocked.has(project))
  if (judgement.drift.length > 0) {
    runner.notice(`Not applied, because this drift is not approved: ${titles(judgement.drift)}.`)
  }
  for (const { number, approved } of open) {
    runner.print(`#${number}: ${typeof approved === 'string' ? approved : 'approved'}.`)
  }
  const earlier = [...bases.values()].map(({ commit: at, manifests: base }) => {
    const own = chosen.filter((change) => approversOf(change, open).some(({ record }) => record?.base === at))
    return { manifests: base, changes: new Set(own.map(({ id }) => id)) }
  })
  const selected = await select(manifests, { projects: job.inputs.project, changes: chosen.map(({ id }) => id) })
  return { manifests: withEarlier(selected, earlier), judgement, approvals: open }
}

const READING = {
  warning: 'The approvals could not be read',
  permission: 'pull-requests: read',
  onRefused: (message: string): never => {
    throw new EspalierError('E_NOT_APPROVED', `${message} Nothing was changed.`, {
      hint: 'Run the job again.',
      exitCode: EXIT.stale,
    })
  },
}

interface Checkout {
  readonly branch: string
  readonly commit: string
  readonly manifests: Manifests
}

/** The merged pull requests with a record of changes that were not all applied yet. */
const openOf = async (job: Job, github: GitHub, checkout: Checkout): Promise<readonly Approval[] | undefined> => {
  const { runner, clock } = job
  const since = clock.date() - OLDEST_DAYS * DAY_MS
  const { head, pulls, isCut } = await readMerged(github, checkout.branch, since)
  if (head !== checkout.commit && (await isSuperseded(github, checkout, head))) return undefined
  if (isCut) runner.warning(`Only the ${pulls.length} merged pull requests that were updated last are read.`)
  const open = pulls.map((pull) => recordOn(pull, job)).filter(({ isOpen }) => isOpen)
  const old = open.filter(({ pull }) => pull.mergedAt < since)
  if (old.length > 0) {
    const names = old.map(({ pull: { number } }) => `#${number}`).join(', ')
    runner.warning(`Merged more than ${OLDEST_DAYS} days ago, so their approvals no longer count: ${names}.`)
  }
  const recent = open.filter(({ pull }) => pull.mergedAt >= since)
  const approvals = await mapConcurrently(recent, 4, async ({ pull, record }) => {
    const contained = await github.compare(pull.commit, checkout.commit)
    if (contained?.status !== 'ahead' && contained?.status !== 'identical') return []
    return [approvalOf(await readReviews(github, pull.number), record)]
  })
  return approvals.flat()
}

/** GitHub lists no more files than this. */
const MOST_FILES = 300

/** Whether the branch contains other manifests or policies than the checked-out commit. */
const isSuperseded = async (
  github: GitHub,
  { commit, manifests }: Checkout,
  head: string | undefined,
): Promise<boolean> => {
  const found = head === undefined ? undefined : await github.compare(commit, head)
  const { status = '', files = [] } = found ?? {}
  const named = manifests.policyPaths ?? []
  const isRead = (path: string): boolean => /\.ya?ml$/.test(path) || named.some((one) => path.endsWith(one))
  const names = files.flatMap(({ filename, previous_filename: before }) => [filename, before ?? filename])
  return status !== 'ahead' || files.length >= MOST_FILES || names.some(isRead)
}

const DONE = /^<!-- espalier done ([0-9a-f]{40,64}) -->$/m

/** The hidden line in the outcome that says that nothing of the pull request's record is left. */
export const doneLine = ({ record }: Approval): string => `<!-- espalier done ${record?.head} -->\n`

/** The newest comment with this marker. */
export const newest = (comments: readonly OwnComment[], marker: string): OwnComment | undefined =>
  comments.findLast(({ body }) => body.startsWith(marker))

/** Finds the record in the comment with this job's plan, or why there is none that counts. */
export const recordIn = (comments: readonly OwnComment[], head: string, job: Job): PlanRecord | string => {
  const comment = newest(comments, markerOf('plan', job))
  if (comment?.editor !== undefined) {
    return `${comment.url} was edited by ${plainText(comment.editor)}, so it does not count`
  }
  const record = readRecord(comment?.body ?? '')
  return record?.head === head && record.plane === planeOf(job)
    ? record
    : 'no plan of its last commit for this branch is recorded'
}

const recordOn = (pull: MergedPull, job: Job) => {
  const { comments, head } = pull
  const record = recordIn(comments, head, job)
  const outcome = newest(comments, markerOf('outcome', job))
  const isDone = outcome?.editor === undefined && DONE.exec(outcome?.body ?? '')?.[1] === head
  const isPlanned = newest(comments, markerOf('plan', job)) !== undefined
  return { pull, record, isOpen: isPlanned && !isDone && (typeof record === 'string' || record.shown.size > 0) }
}

/** The bases of the records, and the commit that a push has moved the branch from, by commit. */
const readBases = async (
  job: Job,
  manifests: Manifests,
  open: readonly Approval[],
): Promise<ReadonlyMap<string, Base>> => {
  const { cwd, runner, event } = job
  const commits = new Set([...open.map(({ record }) => record?.base), event.before])
  const bases = new Map<string, Base>()
  for (const commit of commits) {
    if (commit === undefined || commit === 'none') continue
    const base = await readBase(() => fetchIfMissing(cwd, commit), manifests, cwd)
    bases.set(commit, base)
    if (hasErrors(base.manifests.loaded.diagnostics) && base.manifests.paths.length > 0) {
      runner.warning(`The manifests at ${commit.slice(0, 12)} have errors, so every change counts as introduced.`)
    }
  }
  return bases
}

const MOST_LISTED = 20

const titles = (changes: readonly Change[]): string => {
  const more = changes.length - MOST_LISTED
  const words = changes.slice(0, MOST_LISTED).map(changeWords)
  return plainText([...words, ...(more > 0 ? [`${more} more`] : [])].join('; '))
}

const changeWords = (change: Change): string => {
  const values = change.attributes.map(({ path, beforeText, afterText }) =>
    beforeText === undefined ? `${path} ${afterText}` : `${path} ${beforeText} → ${afterText}`,
  )
  return `${changeTitle(change)} in ${change.project}${values.length === 0 ? '' : ` (${values.join(', ')})`}`
}

/** One sentence for each change without approval. */
export const unapprovedLines = (lacking: readonly Unapproved[]): readonly string[] => {
  const more = lacking.length - MOST_LISTED
  return [
    ...lacking
      .slice(0, MOST_LISTED)
      .map(({ change, why }) => plainText(`Not approved: ${changeWords(change)}: ${why}.`)),
    ...(more > 0 ? [`${more} more changes are not approved.`] : []),
  ]
}

/** @throws {EspalierError} `E_NOT_APPROVED` if the project changed so that the plan contains something else. */
export const refuseUnapproved = (changes: readonly Change[], { approvals }: Approved): void => {
  const { lacking } = judge(changes, () => true, approvals)
  if (lacking.length === 0) return
  throw new EspalierError('E_NOT_APPROVED', `${unapprovedLines(lacking).join(' ')} Nothing was changed.`, {
    hint: HOW_TO_APPROVE,
    exitCode: EXIT.stale,
  })
}

/**
 * Whether nothing is left to do of what the pull request showed. Drift that it showed only after the approval is not. An
 * introduced change that no pull request shows is: it may be a change of this one, from another live value.
 */
export const isSettled = (
  own: Approval,
  { judgement: { approved, lacking }, approvals }: Approved,
  { plan, outcome }: { readonly plan: Plan; readonly outcome: Outcome },
): boolean => {
  const statuses = new Map(outcome.steps.map(({ step, status }) => [step, status]))
  const isDone = ({ id }: Change): boolean => {
    const steps = plan.steps.filter(({ change }) => change === id)
    return steps.length > 0 && steps.every((step) => statuses.get(step.id) === 'done')
  }
  const isShown = (change: Change, { record }: Approval): boolean =>
    digestsOf(change).some((digest) => record?.shown.has(digest))
  const isLacking = lacking.some(
    ({ change }) => isShown(change, own) || !approvals.some((approval) => isShown(change, approval)),
  )
  return !isLacking && approved.filter((change) => isShown(change, own)).every(isDone)
}

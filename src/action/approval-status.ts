/** Sets the commit status that says before the merge whether the changes of a pull request are approved. */
import type { Change } from '../model/index.ts'
import { type Approval, approvalOf, judge } from './approval.ts'
import type { CommitStatus, GitHub } from './github.ts'
import type { Job } from './job.ts'
import { readOwnComments, readQueued, readReviews } from './pull-requests.ts'
import { recordIn } from './require-approval.ts'
import { withGitHub } from './with-github.ts'

/** GitHub refuses longer descriptions. */
const LONGEST = 140

/**
 * Judges the introduced changes as `apply` will after the merge. Does nothing without `require-approval`, or on a push.
 *
 * @param changes `undefined` if the manifests were only validated.
 */
export const reportApproval = async (
  job: Job,
  changes: readonly Change[] | undefined,
  introduced: readonly Change[] = [],
): Promise<void> => {
  const { inputs, event, runner } = job
  if (!inputs.requireApproval || (event.pullRequest ?? event.mergeGroupBase) === undefined) return
  const setting = { warning: 'The status of the approval was not set', permission: 'statuses: write' }
  await withGitHub(job, setting, async (github) => {
    const ids = new Set(introduced.map(({ id }) => id))
    const own = changes?.filter(({ id, refused }) => ids.has(id) && refused === undefined)
    const [state, words] =
      own === undefined ? NOT_JUDGED : verdictOf(own, own.length === 0 ? [] : await approvalsOf(job, github))
    const context = ['espalier/approval', inputs.label].filter((part) => part !== '').join(' ')
    runner.print(`${context}: ${words}`)
    const description = words.length <= LONGEST ? words : `${words.slice(0, LONGEST - 1)}…`
    await github.setStatus(event.sha, { context, state, description })
  })
}

type Verdict = readonly [state: CommitStatus['state'], words: string]

const NOT_JUDGED: Verdict = ['pending', 'not judged: the manifests are valid, but were not planned']

const verdictOf = (introduced: readonly Change[], approvals: readonly Approval[]): Verdict => {
  const { lacking } = judge(introduced, () => true, approvals)
  const [first] = lacking
  if (first === undefined) return ['success', introduced.length === 0 ? 'no change needs an approval' : 'approved']
  return ['pending', `not yet: ${first.why}${lacking.length > 1 ? ` (and ${lacking.length - 1} more)` : ''}`]
}

/** Those of the pull request or, in a merge group, of each pull request in it. */
const approvalsOf = async (job: Job, github: GitHub): Promise<readonly Approval[]> => {
  const { pullRequest: pull, mergeGroupBase: base = '', branch = '', sha: head } = job.event
  const numbers = pull === undefined ? await readQueued(github, { branch, head, base }) : [pull.number]
  return Promise.all(
    numbers.map(async (number) => {
      const reviews = await readReviews(github, number)
      return approvalOf(reviews, recordIn(await readOwnComments(github, number), reviews.head, job))
    }),
  )
}

/** Shows the result of a command on the pull request, as a comment and annotations. */
import { EspalierError } from '../base/index.ts'
import type { Change } from '../model/index.ts'
import { type Annotation, COMMENT_LIMIT, type Limit } from '../report/index.ts'
import { COMMENT_OVERHEAD, type CommentKind, markerOf, upsertComment } from './comment.ts'
import type { GitHub } from './github.ts'
import type { Job } from './job.ts'
import { readReviews } from './pull-requests.ts'
import { nextRecord, type PlanRecord, planeOf, readRecord, writeRecord } from './record.ts'
import { withGitHub } from './with-github.ts'

/** Returns the hidden record of the changes that a comment shows. */
export type RecordOf = (shown: readonly Change[]) => string

export interface CommentText {
  readonly kind: CommentKind
  /** @param recordOf absent if nothing can be recorded, because GitHub's time is unknown. */
  readonly body: (limit: Limit, recordOf?: RecordOf) => string
  /** Whether, with `comment: auto`, to update an existing comment but never create one. */
  readonly onlyUpdate?: boolean
  /** The pull request to comment on. The default is the one of the event or, after a merge, of the commit. */
  readonly issue?: number
  /** The base of the plan, for its record. Absent if there is no plan: the record of the previous one is kept. */
  readonly recordedBase?: string
}

export interface Report extends CommentText {
  readonly annotations: readonly Annotation[]
}

export const publish = async (job: Job, report: Report): Promise<void> => {
  await comment(job, report)
  job.runner.annotate(report.annotations)
}

/**
 * Creates or edits the comment and sets its URL as an output. If the token is not permitted to comment, the job fails
 * only if the input says `comment: always`.
 */
export const comment = async (job: Job, given: CommentText): Promise<void> => {
  const { inputs, runner } = job
  const issue = given.issue ?? (await pullRequestOf(job))
  if (issue === undefined || inputs.comment === 'never') return
  if (inputs.githubToken === '') {
    if (inputs.comment === 'always')
      throw new EspalierError('E_INPUT', '`comment: always` requires the input github-token.')
    return
  }
  const writing = {
    warning: 'No comment was made',
    permission: 'pull-requests: write',
    onRefused: (message: string, cause: Error): void => {
      if (inputs.comment === 'always') throw new EspalierError('E_COMMENT', message, { cause })
      runner.warning(`${message} See the job summary for the full text.`)
    },
  }
  const done = await withGitHub(job, writing, (github) => write(job, github, issue, given))
  if (done !== undefined) runner.output('comment-url', done.url)
  if (done?.isTakenOver === true) runner.warning(TAKEN_OVER)
}

/** If it takes longer than this to write the comment, its record would name a time at which nobody could see it. */
const LATEST_S = 30
const ATTEMPTS = 3

const write = async (job: Job, github: GitHub, issue: number, given: CommentText): ReturnType<typeof upsertComment> => {
  const { kind, onlyUpdate = false } = given
  let first: { readonly replaced: string | undefined; readonly isTakenOver?: boolean } | undefined
  for (let attempt = 1; ; attempt += 1) {
    if (kind === 'plan' && (await hasNewerHead(job, github))) {
      job.runner.notice('The pull request has a newer commit, so no comment was written.')
      return undefined
    }
    const now = attempt > ATTEMPTS ? undefined : github.answeredAt()
    const done = await upsertComment(github, issue, {
      marker: markerOf(kind, job),
      body: (before) => {
        // A later attempt replaces the text of the first one, whose times are too early.
        first ??= { replaced: before }
        return textOf(job, given, now, first.replaced)
      },
      onlyUpdate: onlyUpdate && job.inputs.comment === 'auto',
      run: runOf(job),
      mustNotify: async (text) =>
        attempt === 1 && isLonger(readRecord(text), first?.replaced) && (await isApproved(job, github, issue)),
    })
    first = { replaced: undefined, isTakenOver: false, ...first, ...(attempt === 1 ? done : {}) }
    const isLate = kind === 'plan' && now !== undefined && (github.answeredAt() ?? now) - now > LATEST_S
    if (!isLate) return done && { ...done, isTakenOver: first.isTakenOver === true }
  }
}

/** @param now the time to record. Without it, nothing is recorded that was not recorded before. */
const textOf = (
  job: Job,
  { kind, body, recordedBase }: CommentText,
  now: number | undefined,
  before: string | undefined,
): string => {
  const most = COMMENT_LIMIT.most - COMMENT_OVERHEAD
  const previous = kind === 'plan' && before !== undefined ? readRecord(before) : undefined
  const { sha: head } = job.event
  if (recordedBase !== undefined) {
    const about = { head, base: recordedBase, plane: planeOf(job) }
    const recordOf =
      now === undefined ? undefined : (shown: readonly Change[]) => writeRecord(nextRecord(about, shown, now, previous))
    return body({ ...COMMENT_LIMIT, most }, recordOf)
  }
  const kept = previous?.head === head ? writeRecord(previous) : ''
  return `${body({ ...COMMENT_LIMIT, most: most - kept.length })}${kept}`
}

/** Whether the record contains a change that the replaced comment did not show for the same head. */
const isLonger = (record: PlanRecord | undefined, replaced: string | undefined): boolean => {
  const before = readRecord(replaced ?? '')
  if (record === undefined || before?.head !== record.head) return false
  return [...record.shown.keys()].some((digest) => !before.shown.has(digest) && !before.earlier.has(digest))
}

const isApproved = async ({ event }: Job, github: GitHub, issue: number): Promise<boolean> => {
  const { reviews } = await readReviews(github, issue)
  return reviews.some(({ state, commit }) => state === 'APPROVED' && commit === event.sha)
}

/** A run that takes long must not replace the plan of a newer commit, whose run may have ended before. */
const hasNewerHead = async ({ event: { pullRequest: pull } }: Job, github: GitHub): Promise<boolean> => {
  const now = pull && (await github.pullRequest(pull.number))
  return now !== undefined && now.headSha !== pull?.headSha
}

const TAKEN_OVER =
  'Another step of this run wrote the same comment, and this step has replaced it. Give each step a different `label`.'

/** Identifies the run and the command, so that a step notices if another step of the run wrote the same comment. */
const runOf = ({ env, inputs }: Job): string => {
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '1' } = env
  return /^\d+$/.test(id) && /^\d+$/.test(attempt) ? `${id}.${attempt} ${inputs.command}` : ''
}

const FINDING = { warning: 'The merged pull request could not be found', permission: 'pull-requests: read' }

const pullRequestOf = async (job: Job): Promise<number | undefined> => {
  const { inputs, event } = job
  // Only the command apply reports on a pull request that is already merged.
  if (event.pullRequest !== undefined || inputs.command !== 'apply') return event.pullRequest?.number
  if (inputs.githubToken === '' || inputs.comment === 'never' || event.sha === '') return undefined
  return withGitHub(job, FINDING, (github) => github.mergedPullRequest(event.sha))
}

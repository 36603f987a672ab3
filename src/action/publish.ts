/** Shows the result of a command on the pull request, as a comment and annotations. */
import { EspalierError } from '../base/index.ts'
import { type Annotation, COMMENT_LIMIT, type Limit } from '../report/index.ts'
import { COMMENT_OVERHEAD, type CommentKind, markerOf, upsertComment } from './comment.ts'
import type { GitHub } from './github.ts'
import type { Job } from './job.ts'
import { withGitHub } from './with-github.ts'

export interface CommentText {
  readonly kind: CommentKind
  readonly body: (limit: Limit) => string
  /** Whether, with `comment: auto`, to update an existing comment but never create one. */
  readonly onlyUpdate?: boolean
  /** Hidden text to add at the end of the comment. */
  readonly record?: string
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
export const comment = async (
  job: Job,
  { kind, body, onlyUpdate = false, record = '' }: CommentText,
): Promise<void> => {
  const { inputs, runner } = job
  const issue = await pullRequestOf(job)
  if (issue === undefined || inputs.comment === 'never') return
  if (inputs.githubToken === '') {
    if (inputs.comment === 'always')
      throw new EspalierError('E_INPUT', '`comment: always` requires the input github-token.')
    return
  }
  const most = COMMENT_LIMIT.most - COMMENT_OVERHEAD - record.length
  const text = `${body({ ...COMMENT_LIMIT, most })}${record}`
  const writing = {
    warning: 'No comment was made',
    permission: 'pull-requests: write',
    onRefused: (message: string, cause: Error): void => {
      if (inputs.comment === 'always') throw new EspalierError('E_COMMENT', message, { cause })
      runner.warning(`${message} See the job summary for the full text.`)
    },
  }
  const done = await withGitHub(job, writing, async (github) => {
    if (kind === 'plan' && (await hasNewerHead(job, github))) {
      runner.notice('The pull request has a newer commit, so no comment was written.')
      return undefined
    }
    return upsertComment(github, issue, {
      marker: markerOf(kind, job),
      body: text,
      onlyUpdate: onlyUpdate && inputs.comment === 'auto',
      run: runOf(job),
    })
  })
  if (done !== undefined) runner.output('comment-url', done.url)
  if (done?.isTakenOver === true) runner.warning(TAKEN_OVER)
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
  return withGitHub(job, FINDING, async (github) => (await github.mergedPullRequests(event.sha))[0]?.number)
}

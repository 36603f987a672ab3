/** Shared by the Action's commands. */
import { relative, resolve, sep } from 'node:path'
import type { OnSignal } from '../base/index.ts'
import { type Clock, EspalierError, shardText } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { COMMENT_LIMIT, type Limit } from '../report/index.ts'
import { type Connection, connect as connectTo } from '../workflow/index.ts'
import { COMMENT_OVERHEAD, type CommentKind, identityOf, markerOf, upsertComment } from './comment.ts'
import type { WorkflowEvent } from './event.ts'
import type { FailureReason } from './failure.ts'
import { GitHubError, openGitHub } from './github.ts'
import { type Environment, type Inputs, masked } from './inputs.ts'
import { linkTo } from './link.ts'
import type { Runner } from './runner.ts'

export interface Job {
  readonly env: Environment
  readonly clock: Required<Clock>
  readonly onSignal: OnSignal
  readonly inputs: Inputs
  readonly event: WorkflowEvent
  readonly runner: Runner
  /** Whether the API key may have been used. */
  readonly key: { isUsed: boolean }
  /** The working directory, absolute. Inputs are relative to it. */
  readonly cwd: string
  /** The same relative to the repository's root, with a `/` at its end; empty for the root. */
  readonly prefix: string
}

/** The result of a command. A failure always has a reason. */
export type Ending = { readonly isFailed: false } | { readonly isFailed: true; readonly reason: FailureReason }

export const prefixOf = (root: string, cwd: string): string => {
  const path = relative(root, cwd).split(sep).join('/')
  return path === '' ? '' : `${path}/`
}

/** Content common to all comments and summaries. */
export const frameOf = (job: Job, kind: CommentKind) => {
  const { event, inputs, prefix } = job
  const name = nameOf(job)
  return {
    ...(name === '' ? {} : { name }),
    marker: markerOf(kind, identityOf(inputs, prefix)),
    commit: event.sha,
    whole: 'the job summary, and as JSON in the file of the output `json-plan-path`',
    linkTo: (file: string, line: number): string | undefined => linkTo(job, file, line),
  }
}

const LONGEST_NAME = 80

/** A name for the heading, if there are several comments; empty for the default paths. */
const nameOf = ({ inputs: { label, paths, shard, project }, prefix }: Job): string => {
  const parts = [
    ...(label !== '' ? [label] : [prefix, ...paths]),
    ...project,
    ...(shard === undefined ? [] : [shardText(shard)]),
  ]
  const name = parts.filter((part) => part !== '').join(' ')
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

/** Whether there is a live project to read: there is a key or a sandbox. */
export const hasLive = ({ inputs }: Job): boolean => inputs.apiKey !== '' || inputs.sandbox !== ''

/** @throws {EspalierError} `E_KEY` if there is neither a key nor a sandbox; or if the sandbox cannot start. */
export const connect = async ({ inputs, clock, cwd, key }: Job): Promise<Connection> => {
  const { sandbox, apiKey, baseUrl, shard } = inputs
  const options = {
    userAgent: `espalier-action/${VERSION}`,
    clock,
    ...(shard === undefined ? {} : { clients: shard.count }),
  }
  if (sandbox !== '') return connectTo({ sandbox: { seed: resolve(cwd, sandbox), background: false } }, options)
  if (apiKey !== '') {
    key.isUsed = true
    return connectTo({ apiKey, baseUrl }, options)
  }
  throw new EspalierError('E_KEY', 'There is no API key.', {
    hint: 'Set the input api-key from a secret of the repository; to try it without an account, set the input sandbox.',
  })
}

export interface CommentOptions {
  /** With `comment: auto`, only update an existing comment. */
  readonly onlyUpdate?: boolean
  /** A hidden part at the end. */
  readonly record?: string
}

/**
 * Creates or edits the comment and sets its URL as an output. If the token cannot comment, the job fails only with
 * `comment: always`.
 */
export const comment = async (
  job: Job,
  issue: number | undefined,
  kind: CommentKind,
  body: (limit: Limit) => string,
  { onlyUpdate = false, record = '' }: CommentOptions = {},
): Promise<void> => {
  const { env, inputs, event, runner, prefix } = job
  if (issue === undefined || inputs.comment === 'never') return
  if (inputs.githubToken === '') {
    if (inputs.comment === 'always') throw new EspalierError('E_INPUT', 'Comments need the input github-token.')
    return
  }
  const github = openGitHub(env, inputs.githubToken, event.repository)
  try {
    const marker = markerOf(kind, identityOf(inputs, prefix))
    const most = COMMENT_LIMIT.most - COMMENT_OVERHEAD - record.length
    const text = `${masked(inputs, body({ ...COMMENT_LIMIT, most }))}${record}`
    const mayLeaveOut = onlyUpdate && inputs.comment === 'auto'
    const done = await upsertComment(github, issue, marker, text, {
      onlyUpdate: mayLeaveOut,
      run: runOf(job),
      mode: inputs.commentMode,
    })
    if (done !== undefined) runner.output('comment-url', done.url)
    if (done?.isTakenOver === true) runner.warning(TAKEN_OVER)
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error
    const hint =
      error.status === 403 || error.status === 404 ? ' The job needs the permission `pull-requests: write`.' : ''
    if (inputs.comment === 'always') throw new EspalierError('E_COMMENT', `${error.message}${hint}`, { cause: error })
    runner.warning(`No comment was made. ${error.message}${hint} See the job summary for the full text.`)
  } finally {
    await github.close()
  }
}

const TAKEN_OVER =
  'Another step of this run wrote the same comment, and this step has replaced it. Give each step an input `label`.'

/** Identifies the run and command, so that steps notice if they write the same comment. */
const runOf = ({ env, inputs }: Job): string => {
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '1' } = env
  return /^\d+$/.test(id) && /^\d+$/.test(attempt) ? `${id}.${attempt} ${inputs.command}` : ''
}

export const pullRequestOf = async ({ env, inputs, event, runner }: Job): Promise<number | undefined> => {
  if (event.pullRequest !== undefined) return event.pullRequest.number
  // Only an apply belongs to a pull request that is already merged.
  if (inputs.command !== 'apply') return undefined
  if (inputs.githubToken === '' || inputs.comment === 'never' || event.sha === '') return undefined
  const github = openGitHub(env, inputs.githubToken, event.repository)
  try {
    return (await github.mergedPullRequests(event.sha))[0]?.number
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error
    runner.warning(`The merged pull request could not be found. ${error.message}`)
    return undefined
  } finally {
    await github.close()
  }
}

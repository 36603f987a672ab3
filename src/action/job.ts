/** Everything that the commands of the Action share. */
import { relative, sep } from 'node:path'
import type { ApiOptions } from '../api/index.ts'
import { EspalierError } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { COMMENT_LIMIT, type Limit } from '../report/index.ts'
import { upsertComment } from './comment.ts'
import type { WorkflowEvent } from './event.ts'
import type { FailureReason } from './failure.ts'
import { GitHubError, openGitHub } from './github.ts'
import type { Environment, Inputs } from './inputs.ts'
import { linkTo } from './link.ts'
import type { Runner } from './runner.ts'

export interface Job {
  readonly env: Environment
  readonly inputs: Inputs
  readonly event: WorkflowEvent
  readonly runner: Runner
  /** The working directory. */
  readonly cwd: string
  /** The same from the repository's root on, with `/` at its end; empty for the root. */
  readonly prefix: string
}

/** What a command ended with. */
export interface Ending {
  readonly isFailed: boolean
  readonly reason?: FailureReason
}

export const prefixOf = (root: string, cwd: string): string => {
  const path = relative(root, cwd).split(sep).join('/')
  return path === '' ? '' : `${path}/`
}

/** What every comment and summary has around it. */
export const frameOf = (job: Job, marker: string) => ({
  marker,
  commit: job.event.sha,
  whole: 'the job summary, and all of it in the file of the output `json-plan-path`',
  linkTo: (file: string, line: number): string | undefined => linkTo(job, file, line),
})

/** Whether the live project can be looked at: with a key, or on a sandbox. */
export const hasLive = ({ inputs }: Job): boolean => inputs.apiKey !== '' || inputs.sandbox !== ''

export interface Connection {
  readonly options: ApiOptions
  close(): Promise<void>
}

/** @throws {EspalierError} `E_KEY` where there is no key and no sandbox; what a sandbox throws. */
export const connect = async ({ inputs }: Job): Promise<Connection> => {
  const userAgent = `espalier-action/${VERSION}`
  if (inputs.sandbox !== '') {
    const { readSeed, startSandbox } = await import('../sandbox/index.ts')
    const sandbox = await startSandbox({ seed: await readSeed(inputs.sandbox), background: false })
    return {
      options: { userAgent, baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey },
      close: () => sandbox.close(),
    }
  }
  if (inputs.apiKey === '') {
    throw new EspalierError('E_KEY', 'There is no API key.', {
      hint: 'Give the input api-key, from a secret of the repository; to try it without an account, the input sandbox.',
    })
  }
  return {
    options: { userAgent, apiKey: inputs.apiKey, ...(inputs.baseUrl === '' ? {} : { baseUrl: inputs.baseUrl }) },
    close: async () => undefined,
  }
}

/**
 * Makes or edits the comment and tells its address as an output. A token that may not comment fails the job only where
 * `comment: always` insists on it.
 */
export const comment = async (
  job: Job,
  issue: number | undefined,
  marker: string,
  body: (limit: Limit) => string,
  onlyUpdate = false,
): Promise<void> => {
  const { env, inputs, event, runner } = job
  if (issue === undefined || inputs.comment === 'never') return
  if (inputs.githubToken === '') {
    if (inputs.comment === 'always') throw new EspalierError('E_INPUT', 'To comment, the input github-token is needed.')
    return
  }
  const github = openGitHub(env, inputs.githubToken, event.repository)
  try {
    const mayLeaveOut = onlyUpdate && inputs.comment === 'auto'
    const url = await upsertComment(github, issue, marker, body(COMMENT_LIMIT), { onlyUpdate: mayLeaveOut })
    if (url !== undefined) runner.output('comment-url', url)
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error
    const hint =
      error.status === 403 || error.status === 404 ? ' The job needs the permission `pull-requests: write`.' : ''
    if (inputs.comment === 'always') throw new EspalierError('E_COMMENT', `${error.message}${hint}`, { cause: error })
    runner.warning(`No comment was made. ${error.message}${hint} The job summary has all of it.`)
  } finally {
    await github.close()
  }
}

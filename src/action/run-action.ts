/** Runs one step that uses the GitHub Action. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Clock, EspalierError, type OnSignal, parentsOf } from '../base/index.ts'
import { CHANGE_KINDS } from '../model/index.ts'
import { readEvent } from './event.ts'
import { type FailureReason, reasonOfError } from './failure.ts'
import type { GitHubError } from './github.ts'
import { type Environment, type Inputs, readDescribingInputs, readInputs, secretsOf } from './inputs.ts'
import { type Ending, type Job, prefixOf, withReadClient } from './job.ts'
import { annotateError, reportFailure } from './report-failure.ts'
import { runApply } from './run-apply.ts'
import { runImport } from './run-import.ts'
import { runPlan } from './run-plan.ts'
import { runValidate } from './run-validate.ts'
import { openRunner, type Runner } from './runner.ts'
import { withGitHub } from './with-github.ts'

/** All of the Action's access to the outside world goes through this interface. Only main.ts uses `process`. */
interface ActionIo {
  readonly env: Environment
  /** The absolute path of the folder that the step runs in. */
  readonly cwd: string
  /** Writes to the step's log. */
  readonly write: (text: string) => void
  readonly clock: Required<Clock>
  readonly onSignal: OnSignal
}

const RUNS = { validate: runValidate, plan: runPlan, apply: runApply, import: runImport } as const

/** @returns the exit code. Does not throw, unless reporting a failure itself fails unexpectedly. */
export const runAction = async (io: ActionIo): Promise<0 | 1> => {
  const { env, write } = io
  const runner = openRunner(env, write, '')
  for (const secret of secretsOf(env)) runner.mask(secret)
  presetOutputs(runner)
  let job: Job | undefined
  try {
    job = jobOf(readInputs(env), io)
    checkFolder(job)
    checkEvent(job)
    job = await forNamedPullRequest(job)
    const ending = await RUNS[job.inputs.command](job)
    await reportKeyKind(job)
    return end(runner, ending)
  } catch (error) {
    const code = end(runner, reasonOfError(error))
    annotateError(runner, error)
    if (env.RUNNER_DEBUG === '1' && error instanceof Error) write(`${error.stack}\n`)
    const known = job ?? describedJob(io)
    if (known !== undefined) await reportFailure(known, error)
    return code
  }
}

const jobOf = (inputs: Inputs, { env, write, clock, onSignal, ...io }: ActionIo): Job => {
  const root = env.GITHUB_WORKSPACE || io.cwd
  const cwd = resolve(root, inputs.workingDirectory)
  const prefix = prefixOf(root, cwd)
  const runner = openRunner(env, write, prefix)
  return { env, inputs, event: readEvent(env), runner, clock, onSignal, key: { isUsed: false }, cwd, prefix }
}

/**
 * Rejects an event whose payload lacks the pull request, because its manifests would be treated as already merged.
 *
 * @throws {EspalierError} `E_INPUT` if the event is for a pull request or merge group, but its payload contains none.
 */
const checkEvent = ({ event, env }: Job): void => {
  const isReadable = event.name === 'merge_group' ? event.mergeGroupBase : event.pullRequest
  if (!/^(pull_request|merge_group)/.test(event.name) || isReadable !== undefined) return
  throw new EspalierError('E_INPUT', `The payload of the event ${event.name} does not match GitHub's documentation.`, {
    hint: `It is read from ${env.GITHUB_EVENT_PATH || 'GITHUB_EVENT_PATH, which is not set'}. Check the runner.`,
  })
}

/** @throws {EspalierError} `E_INPUT` if the working directory is missing. */
const checkFolder = ({ cwd, inputs }: Job): void => {
  let cause: unknown
  try {
    if (statSync(cwd).isDirectory()) return
  } catch (error) {
    cause = error
  }
  throw new EspalierError('E_INPUT', `The input working-directory is not a folder: ${inputs.workingDirectory}`, {
    hint: 'It is relative to GITHUB_WORKSPACE. Run actions/checkout first.',
    cause,
  })
}

/**
 * Returns the job with only the inputs that identify its comment, so that the comment can report that another input is
 * invalid. Returns `undefined` if one of the identifying inputs is invalid too.
 */
const describedJob = (io: ActionIo): Job | undefined => {
  try {
    return jobOf(readDescribingInputs(io.env), io)
  } catch (error) {
    if (error instanceof EspalierError) return undefined
    throw error
  }
}

const COUNTS = [
  ...CHANGE_KINDS.map((kind) => `to-${kind}`),
  ...['restarts', 'may-restart', 'disconnects', 'refused', 'unmanaged', 'introduced', 'drifted', 'scheduled'],
]

/** Sets initial values in case the process is killed. Without them, an expression would treat an empty output as 0. */
const presetOutputs = (runner: Runner): void => {
  runner.output('failure-reason', 'interrupted' satisfies FailureReason)
  for (const name of ['has-changes', 'cost-increase', ...COUNTS]) runner.output(name, 'unknown')
}

const end = (runner: Runner, ending: Ending): 0 | 1 => {
  runner.output('failure-reason', ending)
  return ending === '' ? 0 : 1
}

// Reports the kind of API key, so that reviewers see what the workflow has access to.

const KINDS = {
  personal: 'It can write to every project of its owner. For one project, a project-scoped key is enough.',
  organization: 'It belongs to an organization. The service does not report whether it covers all projects or one.',
  unknown: 'The service does not report its kind.',
} as const

/** Writes the kind of key to the summary and to an output. Called at the end, so that it does not delay the plan. */
const reportKeyKind = async (job: Job): Promise<void> => {
  const { runner, key } = job
  if (!key.isUsed) return
  const account = await withReadClient(job, (api) => api.account())
  const kind = account?.keyKind ?? 'unknown'
  runner.output('key-kind', kind)
  runner.summary(`<sub>API key: ${kind}. ${KINDS[kind]} No kind of key is read-only.</sub>`)
}

// Implements the input `pull-request`, which names the pull request to plan. It is for workflows that run for another
// event, such as the merge of another pull request.

/**
 * Returns the job as if the pull request had triggered it.
 *
 * @throws {EspalierError} `E_INPUT` if the checked-out commit is not the pull request's merge commit, `E_PULL_REQUEST`
 *   if GitHub could not be read.
 */
const forNamedPullRequest = async (job: Job): Promise<Job> => {
  const { inputs, event, cwd } = job
  const { pullRequest: number } = inputs
  if (number === undefined || event.pullRequest !== undefined) return job
  if (inputs.githubToken === '') {
    throw new EspalierError('E_INPUT', 'The input pull-request requires the input github-token.', {
      hint: 'Remove the empty value: the default is the token of the job.',
    })
  }
  const reading = {
    warning: `Pull request #${number} could not be read`,
    permission: 'pull-requests: read',
    onRefused: (message: string, cause: GitHubError): never => {
      throw new EspalierError('E_PULL_REQUEST', message, {
        hint: isTemporary(cause) ? 'Run the job again.' : undefined,
        cause,
      })
    },
  }
  const found = await withGitHub(job, reading, (github) => github.pullRequest(number))
  if (found === undefined) {
    throw new EspalierError(
      'E_INPUT',
      `${event.repository} has no pull request #${number}, or the job cannot read it.`,
      {
        hint: 'Check the number. The job needs the permission `pull-requests: read`.',
      },
    )
  }
  const [baseSha, headSha] = await parentsOf(cwd, 'HEAD')
  if (baseSha === undefined || headSha !== found.headSha) {
    throw new EspalierError('E_INPUT', `The checked-out commit is not the merge of pull request #${number}.`, {
      hint: `Check out with \`ref: refs/pull/${number}/merge\` and \`fetch-depth: 2\`. A pull request with conflicts has no merge commit.`,
    })
  }
  return { ...job, event: { ...event, sha: headSha, pullRequest: { ...found, baseSha } } }
}

const isTemporary = ({ status }: GitHubError): boolean => status === 429 || (status !== undefined && status >= 500)

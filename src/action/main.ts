/** The GitHub Action: inputs and event in; comment, annotations, summary and outputs out. */
import { resolve } from 'node:path'
import { CHANGE_KINDS, EspalierError } from '../model/index.ts'
import { readEvent } from './event.ts'
import { type FailureReason, reasonOfError } from './failure.ts'
import { type Inputs, readDescribingInputs, readInputs, secretsOf } from './inputs.ts'
import { type Job, prefixOf } from './job.ts'
import { annotateError, reportFailure } from './report-failure.ts'
import { runApply } from './run-apply.ts'
import { runMerge } from './run-merge.ts'
import { runPlan } from './run-plan.ts'
import { runValidate } from './run-validate.ts'
import { openRunner, type Runner } from './runner.ts'

const RUNS = { validate: runValidate, plan: runPlan, apply: runApply, merge: runMerge } as const

const write = (text: string): void => void process.stdout.write(text)

const main = async (): Promise<void> => {
  const { env } = process
  const runner = openRunner(env, write, '')
  for (const secret of secretsOf(env)) runner.mask(secret)
  presetOutputs(runner)
  let job: Job | undefined
  try {
    job = jobOf(readInputs(env))
    enter(job)
    const ending = await RUNS[job.inputs.command](job)
    end(runner, ending.isFailed ? ending.reason : undefined)
  } catch (error) {
    end(runner, reasonOfError(error))
    annotateError(runner, error)
    if (env.RUNNER_DEBUG === '1' && error instanceof Error) write(`${error.stack}\n`)
    const known = job ?? describedJob()
    if (known !== undefined) await reportFailure(known, error)
  }
}

const jobOf = (inputs: Inputs): Job => {
  const { env } = process
  const root = env.GITHUB_WORKSPACE || process.cwd()
  const cwd = resolve(root, inputs.workingDirectory)
  const prefix = prefixOf(root, cwd)
  return { env, inputs, event: readEvent(env), runner: openRunner(env, write, prefix), cwd, prefix }
}

/** @throws {EspalierError} `E_INPUT` where there is no such folder. */
const enter = ({ cwd, inputs }: Job): void => {
  try {
    process.chdir(cwd)
  } catch (cause) {
    throw new EspalierError('E_INPUT', `The input working-directory names no folder: ${inputs.workingDirectory}`, {
      hint: 'It is relative to the root of the repository, which actions/checkout must have checked out before.',
      cause,
    })
  }
}

/** Where an input is wrong: as much as is needed to find the comment. `undefined`: not even that can be read. */
const describedJob = (): Job | undefined => {
  try {
    return jobOf(readDescribingInputs(process.env))
  } catch (error) {
    if (error instanceof EspalierError) return undefined
    throw error
  }
}

const COUNTS = [...CHANGE_KINDS.map((kind) => `to-${kind}`), 'restarts', 'drifted', 'scheduled']

/** Until something is known, and if the process is killed before: an empty output would read as 0 in an expression. */
const presetOutputs = (runner: Runner): void => {
  runner.output('failure-reason', 'interrupted' satisfies FailureReason)
  for (const name of ['has-changes', ...COUNTS]) runner.output(name, 'unknown')
}

const end = (runner: Runner, reason: FailureReason | undefined): void => {
  runner.output('failure-reason', reason ?? '')
  process.exitCode = reason === undefined ? 0 : 1
}

void main()

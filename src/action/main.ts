/** The GitHub Action: inputs and event in; comment, annotations, summary and outputs out. */
import { resolve } from 'node:path'
import { EspalierError } from '../model/index.ts'
import { plainText } from '../report/index.ts'
import { readEvent } from './event.ts'
import { reasonOfError } from './failure.ts'
import { readInputs } from './inputs.ts'
import { type Ending, type Job, prefixOf } from './job.ts'
import { runApply } from './run-apply.ts'
import { runPlan } from './run-plan.ts'
import { runValidate } from './run-validate.ts'
import { openRunner } from './runner.ts'

const RUNS = { validate: runValidate, plan: runPlan, apply: runApply } as const

const write = (text: string): void => void process.stdout.write(text)

const main = async (): Promise<void> => {
  const { env } = process
  const plain = openRunner(env, write, '')
  try {
    const inputs = readInputs(env)
    if (inputs.apiKey !== '') plain.mask(inputs.apiKey)
    if (inputs.githubToken !== '') plain.mask(inputs.githubToken)
    const root = env.GITHUB_WORKSPACE || process.cwd()
    const cwd = resolve(root, inputs.workingDirectory)
    process.chdir(cwd)
    const prefix = prefixOf(root, cwd)
    const job: Job = { env, inputs, event: readEvent(env), runner: openRunner(env, write, prefix), cwd, prefix }
    end(plain.output, await RUNS[inputs.command](job))
  } catch (error) {
    const reason = reasonOfError(error)
    end(plain.output, { isFailed: true, ...(reason === undefined ? {} : { reason }) })
    if (error instanceof EspalierError) {
      plain.error(error.code, plainText(error.hint === undefined ? error.message : `${error.message} ${error.hint}`))
      return
    }
    const message = error instanceof Error ? error.message : String(error)
    plain.error('Bug', `This is a bug in espalier: ${message}. Please report it at the issue tracker of the project.`)
    if (env.RUNNER_DEBUG === '1' && error instanceof Error) write(`${error.stack}\n`)
  }
}

const end = (output: (name: string, value: string) => void, { isFailed, reason }: Ending): void => {
  output('failure-reason', reason ?? '')
  process.exitCode = isFailed ? 1 : 0
}

void main()

/** Applies what was merged: the saved plan where one is given, else the plan as of now. */
import { createWriteApi, systemClock } from '../api/index.ts'
import { applyPlan, whatMoved } from '../apply/index.ts'
import { type ApplyEvent, hasErrors, isEmptyPlan, leftOutIds, type Outcome, type Plan } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import { diagnosticAnnotations, eventLine, outcomeComment, SUMMARY_LIMIT, terminalPlan } from '../report/index.ts'
import {
  applicablePlan,
  coveredBy,
  keepToBudgets,
  look,
  manifestsOf,
  nothingChanged,
  onInterrupt,
  readManifests,
  readPlanFile,
  seedNote,
  staleError,
  withoutProjects,
} from '../workflow/index.ts'
import { markerOf } from './comment.ts'
import { reasonOfOutcome } from './failure.ts'
import { GitHubError, openGitHub } from './github.ts'
import { comment, connect, type Ending, frameOf, type Job } from './job.ts'
import { reportProblems } from './problems.ts'
import { tellOutputs } from './run-plan.ts'
import { refuseToApply } from './stranger.ts'

const CONCURRENCY = 16
const OPERATION_TIMEOUT_MS = 600_000
const LOCK_TIMEOUT_MS = 600_000
const STYLE = { color: false, width: 100 }

export const runApply = async (job: Job): Promise<Ending> => {
  refuseToApply(job)
  const { inputs, runner, cwd } = job
  const file = inputs.planFile === '' ? undefined : await readPlanFile(inputs.planFile)
  const given = file === undefined ? inputs.paths : manifestsOf(file, inputs.planFile, inputs.paths, cwd)
  const manifests = coveredBy(file?.plan, await readManifests(given, { cwd }))
  for (const path of manifests.loaded.seeds) runner.print(seedNote(path))
  const { loaded } = manifests
  if (hasErrors(loaded.diagnostics)) return reportProblems(job, loaded.diagnostics)
  const connection = await connect(job)
  const api = createWriteApi({ ...connection.options, lockTimeoutMs: LOCK_TIMEOUT_MS })
  try {
    const { observed, result } = await look(api, manifests, { concurrency: CONCURRENCY, estimate: true })
    if (file !== undefined) {
      const moved = whatMoved(file, result, observed, loaded.digest)
      if (moved.length > 0) throw staleError(inputs.planFile, moved)
    }
    const problems = result.ok ? [] : result.diagnostics
    const plan = applicablePlan(result, inputs.keepGoing, file?.plan)
    if (plan === undefined) {
      const why = nothingChanged(result.plan, '`keep-going: true`')
      return reportProblems(job, [...loaded.diagnostics, ...problems], [why])
    }
    runner.annotate(diagnosticAnnotations(problems))
    tellOutputs(job, plan, originOf(undefined, plan), false)
    runner.group(
      'Plan',
      terminalPlan(plan, STYLE, {
        takenAt: observed.takenAt,
        now: new Date(systemClock.now()).toISOString(),
      }),
    )
    keepToBudgets(plan, budgetsOf(job))
    if (isEmptyPlan(plan)) {
      runner.output('scheduled', 0)
      if (plan.leftOut !== undefined) return await tell(job, plan, { steps: [], interrupted: false, notes: [] })
      runner.summary('### Espalier: nothing to apply\n\nThe live project is as the manifests say.\n')
      return { isFailed: false }
    }
    // A cancelled workflow sends SIGINT, and SIGTERM some seconds later.
    const { stop, abort, release } = onInterrupt(runner.print)
    try {
      const outcome = await runner.withoutCommands(() =>
        applyPlan({
          plan,
          observed,
          api,
          consent: { allow: inputs.allow },
          ignoreWindows: inputs.now,
          clock: systemClock,
          concurrency: CONCURRENCY,
          operationTimeoutMs: OPERATION_TIMEOUT_MS,
          stop,
          abort,
          onEvent: teller(plan, runner.print),
          replan: async (pinAliases) =>
            (
              await look(api, withoutProjects(manifests, leftOutIds(plan)), {
                concurrency: CONCURRENCY,
                estimate: false,
                pinAliases,
              })
            ).result,
        }),
      )
      return await tell(job, plan, outcome)
    } finally {
      release()
    }
  } finally {
    await api.close()
    await connection.close()
  }
}

const budgetsOf = ({ inputs: { maxRestarts, maxDeletes, maxCuIncrease } }: Job) => ({
  ...(maxRestarts === undefined ? {} : { maxRestarts }),
  ...(maxDeletes === undefined ? {} : { maxDeletes }),
  ...(maxCuIncrease === undefined ? {} : { maxCuIncrease }),
})

const teller = (plan: Plan, print: (line: string) => void): ((event: ApplyEvent) => Promise<void>) => {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  return async (event) => {
    const line = eventLine(event, STYLE, steps)
    if (line !== undefined) print(line)
  }
}

const tell = async (job: Job, plan: Plan, outcome: Outcome): Promise<Ending> => {
  const marker = markerOf('outcome', job.prefix)
  const view = { ...frameOf(job, marker), whole: 'the job summary', plan, outcome }
  const scheduled = outcome.steps.filter(({ status }) => status === 'scheduled')
  job.runner.output('scheduled', scheduled.length)
  job.runner.summary(outcomeComment(view, SUMMARY_LIMIT))
  await comment(job, await pullRequestOf(job), marker, (limit) => outcomeComment(view, limit))
  const [first] = scheduled.flatMap(({ opensAt }) => opensAt ?? []).sort()
  if (scheduled.length > 0) {
    const when = first === undefined ? '' : ` The first one opens at ${first}.`
    job.runner.notice(`Not done yet: ${scheduled.length} of the steps wait for their restart window.${when}`)
  }
  const reason = reasonOfOutcome(outcome) ?? (leftOutIds(plan).length > 0 ? 'partially-applied' : undefined)
  return reason === undefined ? { isFailed: outcome.interrupted } : { isFailed: true, reason }
}

/** The one that was merged, or the one that this runs for. */
const pullRequestOf = async ({ env, inputs, event, runner }: Job): Promise<number | undefined> => {
  if (event.pullRequest !== undefined) return event.pullRequest.number
  if (inputs.githubToken === '' || inputs.comment === 'never' || event.sha === '') return undefined
  const github = openGitHub(env, inputs.githubToken, event.repository)
  try {
    return await github.mergedPullRequest(event.sha)
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error
    runner.warning(`The merged pull request could not be found. ${error.message}`)
    return undefined
  } finally {
    await github.close()
  }
}

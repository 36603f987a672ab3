/** Applies what was merged: the saved plan where one is given, else the plan as of now. */
import { resolve } from 'node:path'
import { createWriteApi } from '../api/index.ts'
import { applyPlan, type PlanFile } from '../apply/index.ts'
import {
  type ApplyEvent,
  EspalierError,
  hasErrors,
  isEmptyPlan,
  leftOutIds,
  type Outcome,
  type Plan,
  parseShard,
  shardText,
} from '../model/index.ts'
import { diagnosticAnnotations, eventLine, outcomeComment, SUMMARY_LIMIT, terminalPlan } from '../report/index.ts'
import {
  applicablePlan,
  checkSavedPlan,
  coveredBy,
  keepShard,
  keepToBudgets,
  look,
  manifestsOf,
  nothingChanged,
  onInterrupt,
  pathsOf,
  readManifests,
  readPlanFile,
  seedNote,
  withoutProjects,
} from '../workflow/index.ts'
import { reasonOfOutcome } from './failure.ts'
import { comment, connect, type Ending, frameOf, type Job, pullRequestOf } from './job.ts'
import { reportProblems } from './problems.ts'
import { setOutputs } from './run-plan.ts'

const CONCURRENCY = 16
const OPERATION_TIMEOUT_MS = 600_000
const LOCK_TIMEOUT_MS = 600_000
const STYLE = { color: false, width: 100 }

export const runApply = async (job: Job): Promise<Ending> => {
  refuseUnmerged(job)
  const { inputs, runner, cwd } = job
  const file = inputs.planFile === '' ? undefined : await readPlanFile(resolve(cwd, inputs.planFile))
  if (file !== undefined) await refuseOtherPlan(job, file)
  const given = file === undefined ? inputs.paths : manifestsOf(file, inputs.planFile, inputs.paths, cwd)
  const shard = file?.shard === undefined ? inputs.shard : parseShard(file.shard)
  const manifests = coveredBy(file?.plan, keepShard(await readManifests(given, { cwd }), shard))
  for (const path of manifests.loaded.seeds) runner.print(seedNote(path))
  const { loaded } = manifests
  if (hasErrors(loaded.diagnostics)) return reportProblems(job, loaded.diagnostics)
  const connection = await connect(job)
  const api = createWriteApi({ ...connection.options, lockTimeoutMs: LOCK_TIMEOUT_MS })
  try {
    const seen = await look(api, manifests, { concurrency: CONCURRENCY, estimate: true })
    if (file !== undefined) checkSavedPlan(file, inputs.planFile, manifests, seen)
    const { observed, result } = seen
    const problems = result.ok ? [] : result.diagnostics
    const plan = applicablePlan(result, inputs.keepGoing, file?.plan)
    if (plan === undefined) {
      const why = nothingChanged(result.plan, '`keep-going: true`')
      return reportProblems(job, [...loaded.diagnostics, ...problems], [why])
    }
    runner.annotate(diagnosticAnnotations(problems))
    setOutputs(job, plan, plan.changes.length)
    runner.group(
      'Plan',
      terminalPlan(plan, STYLE, {
        takenAt: observed.takenAt,
        now: new Date(job.clock.date()).toISOString(),
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
    const { stop, abort, release } = onInterrupt(runner.print, job.onSignal)
    try {
      const outcome = await runner.withoutCommands(() =>
        applyPlan({
          plan,
          observed,
          api,
          consent: { allow: inputs.allow },
          ignoreWindows: inputs.now,
          clock: job.clock,
          concurrency: CONCURRENCY,
          operationTimeoutMs: OPERATION_TIMEOUT_MS,
          stop,
          abort,
          onEvent: teller(plan, runner.print),
          replan: async (pinAliases, read) =>
            (
              await look(api, withoutProjects(manifests, leftOutIds(plan)), {
                concurrency: CONCURRENCY,
                estimate: false,
                pinAliases,
                read,
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

/** @throws {EspalierError} `E_NOT_MERGED` where what would be applied may yet be rejected, or be a stranger's. */
const refuseUnmerged = ({ event }: Job): void => {
  const isOpen = event.pullRequest !== undefined && !event.pullRequest.isMerged
  if (!isOpen && event.mergeGroupBase === undefined) return
  throw new EspalierError('E_NOT_MERGED', 'Nothing is applied for a pull request before it is merged.', {
    hint: 'Plan here, and apply in a workflow that runs on push.',
  })
}

/**
 * A job may have several saved plans at hand: this step must mean this one.
 *
 * @throws {EspalierError} `E_OTHER_PLAN` where the plan was saved with another label or shard, or from other manifests.
 */
const refuseOtherPlan = async (
  { inputs, cwd }: Job,
  { label = '', shard, manifests = [] }: PlanFile,
): Promise<void> => {
  const differs = (what: string, saved: string, here: string): EspalierError =>
    new EspalierError(
      'E_OTHER_PLAN',
      `The saved plan ${inputs.planFile} was made with the ${what} ${saved || '(none)'}, and this step has ${here || '(none)'}. Nothing was changed.`,
      { hint: 'Give `apply` the same paths, label and shard as the `plan` step whose plan it should apply.' },
    )
  if (label !== inputs.label) throw differs('label', label, inputs.label)
  const own = inputs.shard === undefined ? undefined : shardText(inputs.shard)
  if (own !== undefined && own !== shard) throw differs('shard', shard ?? '', own)
  // A label names the plan as well as its manifests do.
  if (label !== '' && inputs.paths.length === 0) return
  const found = await pathsOf(inputs.paths, cwd).catch((error: unknown) => {
    if (error instanceof EspalierError) return []
    throw error
  })
  const [saved = '', here = ''] = [manifests, found].map((paths) => paths.toSorted().join(' '))
  if (saved !== here) throw differs('paths', saved, here)
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
  const view = { ...frameOf(job, 'outcome'), whole: 'the job summary', plan, outcome }
  const scheduled = outcome.steps.filter(({ status }) => status === 'scheduled')
  job.runner.output('scheduled', scheduled.length)
  job.runner.summary(outcomeComment(view, SUMMARY_LIMIT))
  await comment(job, await pullRequestOf(job), 'outcome', (limit) => outcomeComment(view, limit))
  const [first] = scheduled.flatMap(({ opensAt }) => opensAt ?? []).sort()
  if (scheduled.length > 0) {
    const when = first === undefined ? '' : ` The first one opens at ${first}.`
    job.runner.notice(`Not done yet: ${scheduled.length} of the steps wait for their restart window.${when}`)
  }
  const reason = reasonOfOutcome(outcome) ?? (leftOutIds(plan).length > 0 ? 'partially-applied' : undefined)
  return reason === undefined ? { isFailed: false } : { isFailed: true, reason }
}

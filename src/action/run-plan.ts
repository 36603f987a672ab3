/** The plan of a pull request, of a push, or on a schedule. Changes nothing. */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { createReadApi } from '../api/index.ts'
import { jsonPlan } from '../apply/index.ts'
import { type Desired, hasErrors, isEmptyPlan, type Plan, shardText } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import { changeAnnotations, type PlanView, planComment, SUMMARY_LIMIT, terminalPlan } from '../report/index.ts'
import { encodeSavedPlan, keepShard, type Look, look, type Manifests, readManifests } from '../workflow/index.ts'
import { baseOf, type Parted, partBy, partByBase, present } from './base.ts'
import { hidingFor } from './hide-undeclared.ts'
import { comment, connect, type Ending, frameOf, hasLive, type Job } from './job.ts'
import { reportProblems } from './problems.ts'
import { stepFiles, writeFile } from './step-files.ts'
import { isStrangers, readStrangers, type StrangersManifests } from './stranger.ts'

const OFFLINE =
  'This pull request comes from a fork, where no secret is: its manifests were validated, and not planned against the live project.'
const HIDDEN =
  'Live values of Postgres settings, and names that only the live project has, are not shown: anybody can open such a pull request.'
const CONCURRENCY = 16

export const runPlan = async (job: Job): Promise<Ending> => {
  const { inputs, event, runner, cwd } = job
  const strangers = isStrangers(job) ? await readStrangers(job) : undefined
  const manifests = keepShard(strangers?.head ?? (await readManifests(inputs.paths, { cwd })), inputs.shard)
  const diagnostics = [...manifests.loaded.diagnostics, ...(strangers?.refused ?? [])]
  if (hasErrors(diagnostics)) return reportProblems(job, diagnostics)
  if (!hasLive(job) && event.pullRequest?.isFork === true) {
    runner.notice(OFFLINE)
    return reportProblems(job, diagnostics, [OFFLINE])
  }
  const seen = await observe(job, manifests, strangers?.base.loaded.desired)
  const { observed, result } = seen
  const hiding = strangers && hidingFor(strangers.base.loaded.desired, manifests.loaded.desired, observed)
  if (!result.ok) {
    return reportProblems(job, [...diagnostics, ...(hiding?.diagnostics(result.diagnostics) ?? result.diagnostics)])
  }
  const parted = await partByOrigin(job, manifests, strangers, seen, result.plan)
  const all = {
    plan: { ...result.plan, warnings: [...result.plan.warnings, ...(parted.warnings ?? [])] },
    origin: parted.origin,
  }
  const { plan, origin } = hiding?.shown(all) ?? all
  const introducedBy = introducerOf(job)

  // Without a pull request nobody introduces anything: whatever differs has drifted.
  const drift = introducedBy === undefined ? plan.changes : parted.base === undefined ? undefined : origin.drift
  setOutputs(job, plan, drift?.length)
  const files = stepFiles(job)
  const view = jsonPlan(plan, {
    ...(parted.base === undefined ? {} : { origin: { base: parted.base, ...origin } }),
    ...(inputs.shard === undefined ? {} : { shard: shardText(inputs.shard) }),
  })
  writeFile(files.view, view)
  runner.output('json-plan-path', files.view)
  // Nothing of a stranger's is to be applied before it is merged, so there is nothing to save for that.
  if (strangers === undefined) {
    const path = inputs.planFile === '' ? files.plan : resolve(cwd, inputs.planFile)
    writeFile(path, encodeSavedPlan(result.plan, observed, manifests, inputs.label))
    runner.output('plan-path', path)
  }
  const notes = [...(strangers?.notes ?? []), ...parted.notes, ...(hiding === undefined ? [] : [HIDDEN])]
  return showPlan(job, { plan, origin, notes, takenAt: observed.takenAt, ...(introducedBy && { introducedBy }) })
}

/** In the log, on the manifests' lines, in the summary and in the comment. */
export const showPlan = async (
  job: Job,
  shown: Pick<PlanView, 'plan' | 'origin' | 'notes' | 'takenAt' | 'introducedBy' | 'missing'>,
): Promise<Ending> => {
  const { runner, event } = job
  const { plan, origin, takenAt, missing = [] } = shown
  runner.annotate(changeAnnotations(plan.changes, origin.drift))
  runner.group('Plan', terminalPlan(plan, { color: false, width: 100 }, takenAt === undefined ? {} : { takenAt }))
  const view = { ...frameOf(job, 'plan'), ...shown }
  runner.summary(planComment(view, SUMMARY_LIMIT))
  const isQuiet = isEmptyPlan(plan) && missing.length === 0
  await comment(job, event.pullRequest?.number, 'plan', (limit) => planComment(view, limit), isQuiet)
  if (missing.length > 0) {
    runner.error(
      'Incomplete',
      `There is no plan of ${missing.length === 1 ? 'shard' : 'shards'} ${missing.join(', ')}.`,
    )
    return { isFailed: true, reason: 'incomplete' }
  }
  return mustFail(job, plan) ? { isFailed: true, reason: 'fail-on' } : { isFailed: false }
}

const partByOrigin = async (
  { event, cwd }: Job,
  manifests: Manifests,
  strangers: StrangersManifests | undefined,
  { observed }: Look,
  plan: Plan,
): Promise<Parted> => {
  if (strangers !== undefined) return partBy(strangers.base, strangers.baseSha, observed, plan)
  const { pullRequest: pull, mergeGroupBase: group } = event
  if (pull !== undefined) return partByBase(() => baseOf(cwd, pull), manifests, observed, plan, cwd)
  if (group !== undefined) return partByBase(() => present(cwd, group), manifests, observed, plan, cwd)
  return { origin: originOf(undefined, plan), notes: [] }
}

export const introducerOf = ({ event }: Job): PlanView['introducedBy'] =>
  event.pullRequest !== undefined
    ? 'this pull request'
    : event.mergeGroupBase !== undefined
      ? 'this merge group'
      : undefined

const observe = async (job: Job, manifests: Manifests, guard: Desired | undefined): Promise<Look> => {
  const connection = await connect(job)
  const api = createReadApi(connection.options)
  try {
    const options = { concurrency: CONCURRENCY, estimate: true, ...(guard === undefined ? {} : { guard }) }
    return await look(api, manifests, options)
  } finally {
    await api.close()
    await connection.close()
  }
}

/** @param drifted `undefined`: it is not known what drifted. */
export const setOutputs = ({ runner }: Job, plan: Plan, drifted: number | undefined): void => {
  const { summary } = plan
  runner.output('has-changes', !isEmptyPlan(plan))
  runner.output('to-add', summary.add)
  runner.output('to-change', summary.change)
  runner.output('to-destroy', summary.destroy)
  runner.output('restarts', summary.restarts)
  runner.output('moves', summary.moves)
  if (drifted !== undefined) runner.output('drifted', drifted)
  runner.output('plan-hash', createHash('sha256').update(jsonPlan(plan)).digest('hex'))
}

const mustFail = ({ inputs, runner }: Job, plan: Plan): boolean => {
  const { summary } = plan
  const counts = {
    error: 0,
    changes: plan.changes.length,
    restarts: summary.restarts + summary.mayRestart,
    deletes: summary.destroy,
  }
  const hit = inputs.failOn.filter((what) => counts[what] > 0)
  if (hit.length === 0) return false
  runner.error('fail-on', `The plan has ${hit.map((what) => `${what}: ${counts[what]}`).join(', ')}.`)
  return true
}

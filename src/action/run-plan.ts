/** The plan of a pull request, of a push, or on a schedule. Changes nothing. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createReadApi } from '../api/index.ts'
import { PRIVATE } from '../base/index.ts'
import { type Desired, hasErrors, isEmptyPlan, type Origin, type Plan } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import { changeAnnotations, jsonPlan, planComment, SUMMARY_LIMIT, terminalPlan } from '../report/index.ts'
import { encodeSavedPlan, type Look, look, type Manifests, readManifests } from '../workflow/index.ts'
import { type Parted, partBy, partByBase } from './base.ts'
import { markerOf } from './comment.ts'
import { comment, connect, type Ending, frameOf, hasLive, type Job } from './job.ts'
import { reportProblems } from './problems.ts'
import { isStrangers, readStrangers } from './stranger.ts'

const OFFLINE =
  'This pull request comes from a fork, where no secret is: its manifests were validated, and not planned against the live project.'
const CONCURRENCY = 16

export const runPlan = async (job: Job): Promise<Ending> => {
  const { inputs, event, runner, cwd } = job
  const strangers = isStrangers(job) ? await readStrangers(job) : undefined
  const manifests = strangers?.head ?? (await readManifests(inputs.paths, { cwd }))
  const diagnostics = [...manifests.loaded.diagnostics, ...(strangers?.refused ?? [])]
  if (hasErrors(diagnostics)) return reportProblems(job, diagnostics)
  if (!hasLive(job) && event.pullRequest?.isFork === true) {
    runner.notice(OFFLINE)
    return reportProblems(job, diagnostics, [OFFLINE])
  }
  const seen = await observe(job, manifests, strangers?.base.loaded.desired)
  if (!seen.result.ok) return reportProblems(job, [...diagnostics, ...seen.result.diagnostics])
  const { plan } = seen.result
  const pull = event.pullRequest
  const {
    origin,
    notes,
    warnings = [],
  }: Parted = strangers !== undefined
    ? partBy(strangers.base, seen.observed, plan)
    : pull === undefined
      ? { origin: originOf(undefined, plan), notes: [] }
      : await partByBase(pull, manifests, seen.observed, plan, cwd)

  tellOutputs(job, plan, origin, pull !== undefined)
  saveView(job, plan)
  // Nothing of a stranger's is to be applied before it is merged, so there is nothing to save for that.
  if (strangers === undefined) savePlan(job, plan, seen, manifests)
  runner.annotate(changeAnnotations(origin.introduced))
  const { takenAt } = seen.observed
  const told = { ...plan, warnings: [...plan.warnings, ...warnings] }
  runner.group('Plan', terminalPlan(told, { color: false, width: 100 }, { takenAt }))
  const marker = markerOf('plan', job.prefix)
  const view = {
    ...frameOf(job, marker),
    plan: told,
    origin,
    takenAt,
    notes: [...(strangers?.notes ?? []), ...notes],
    isPullRequest: pull !== undefined,
  }
  runner.summary(planComment(view, SUMMARY_LIMIT))
  await comment(job, pull?.number, marker, (limit) => planComment(view, limit), isEmptyPlan(plan))
  return { isFailed: mustFail(job, plan) }
}

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

export const tellOutputs = ({ runner }: Job, plan: Plan, origin: Origin, isPullRequest: boolean): void => {
  const { summary } = plan
  runner.output('has-changes', !isEmptyPlan(plan))
  runner.output('to-add', summary.add)
  runner.output('to-change', summary.change)
  runner.output('to-destroy', summary.destroy)
  runner.output('restarts', summary.restarts)
  runner.output('moves', summary.moves)
  // Without a pull request nobody introduces anything: whatever differs has drifted.
  runner.output('drifted', (isPullRequest ? origin.drift : plan.changes).length)
  runner.output('plan-hash', createHash('sha256').update(jsonPlan(plan)).digest('hex'))
}

/** For `apply` after the merge. */
const savePlan = (job: Job, plan: Plan, { observed }: Look, manifests: Manifests): void => {
  const { inputs, runner, cwd } = job
  const path = inputs.planFile === '' ? join(scratch(job), 'espalier-plan.json') : resolve(cwd, inputs.planFile)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, encodeSavedPlan(plan, observed, manifests), { mode: PRIVATE })
  runner.output('plan-path', path)
}

/** For programs. */
const saveView = (job: Job, plan: Plan): void => {
  const path = join(scratch(job), 'espalier-plan-view.json')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, jsonPlan(plan), { mode: PRIVATE })
  job.runner.output('json-plan-path', path)
}

const scratch = ({ env }: Job): string => env.RUNNER_TEMP || tmpdir()

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

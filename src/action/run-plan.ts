/** The plan of a pull request, of a push, or on a schedule. Changes nothing. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createReadApi } from '../api/index.ts'
import { hasErrors, isEmptyPlan, type Origin, type Plan } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import { changeAnnotations, jsonPlan, planComment, SUMMARY_LIMIT, terminalPlan } from '../report/index.ts'
import { encodeSavedPlan, type Look, look, type Manifests, readManifests } from '../workflow/index.ts'
import { type Parted, partByBase } from './base.ts'
import { markerOf } from './comment.ts'
import { comment, connect, type Ending, frameOf, hasLive, type Job } from './job.ts'
import { reportProblems } from './problems.ts'

const OFFLINE =
  'This pull request comes from a fork, where no secret is: its manifests were validated, and not planned against the live project.'
const CONCURRENCY = 8

export const runPlan = async (job: Job): Promise<Ending> => {
  const { inputs, event, runner, cwd } = job
  const manifests = await readManifests(inputs.paths, { cwd })
  const { diagnostics } = manifests.loaded
  if (hasErrors(diagnostics)) return reportProblems(job, diagnostics)
  if (!hasLive(job) && event.pullRequest?.isFork === true) {
    runner.notice(OFFLINE)
    return reportProblems(job, diagnostics, [OFFLINE])
  }
  const seen = await observe(job, manifests)
  if (!seen.result.ok) return reportProblems(job, [...diagnostics, ...seen.result.diagnostics])
  const { plan } = seen.result
  const pull = event.pullRequest
  const { origin, notes }: Parted =
    pull === undefined
      ? { origin: originOf(undefined, plan), notes: [] }
      : await partByBase(pull, manifests, seen.observed, plan, cwd)

  tellOutputs(job, plan, origin, pull !== undefined)
  save(job, plan, seen, manifests)
  runner.annotate(changeAnnotations(origin.introduced))
  const { takenAt } = seen.observed
  runner.group('Plan', terminalPlan(plan, { color: false, width: 100 }, { takenAt }))
  const marker = markerOf('plan', job.prefix)
  const view = { ...frameOf(job, marker), plan, origin, takenAt, notes, isPullRequest: pull !== undefined }
  runner.summary(planComment(view, SUMMARY_LIMIT))
  await comment(job, pull?.number, marker, (limit) => planComment(view, limit), isEmptyPlan(plan))
  return { isFailed: mustFail(job, plan) }
}

const observe = async (job: Job, manifests: Manifests): Promise<Look> => {
  const connection = await connect(job)
  const api = createReadApi(connection.options)
  try {
    return await look(api, manifests, { concurrency: CONCURRENCY, estimate: true })
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

/** For `apply` after the merge, and for programs. */
const save = ({ env, inputs, runner, cwd }: Job, plan: Plan, { observed }: Look, manifests: Manifests): void => {
  const folder = env.RUNNER_TEMP || tmpdir()
  const planPath = inputs.planFile === '' ? join(folder, 'espalier-plan.json') : resolve(cwd, inputs.planFile)
  const jsonPath = join(folder, 'espalier-plan-view.json')
  const file = encodeSavedPlan(plan, observed, manifests)
  for (const [path, text] of [
    [planPath, file],
    [jsonPath, jsonPlan(plan)],
  ] as const) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  runner.output('plan-path', planPath)
  runner.output('json-plan-path', jsonPath)
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

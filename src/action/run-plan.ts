/** Plans the changes for a pull request, a push or a scheduled run. Does not change anything. */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { ApiError } from '../api/index.ts'
import { jsonPlan } from '../apply/index.ts'
import { defined, EspalierError } from '../base/index.ts'
import {
  CHANGE_KINDS,
  hasErrors,
  isDelete,
  isEmptyPlan,
  isOrMayBeRestart,
  likelyOf,
  madeChanges,
  type Observed,
  type Plan,
} from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import {
  changeAnnotations,
  diagnosticAnnotations,
  isReleasing,
  type PlanView,
  planComment,
  planVerdict,
  SUMMARY_LIMIT,
  terminalPlan,
} from '../report/index.ts'
import {
  checkOverrides,
  encodeSavedPlan,
  fileNotes,
  isUsableBase,
  type Manifests,
  onlyProjects,
  type Planned,
  planLive,
  planSnapshot,
  readManifests,
  select,
  withReview,
} from '../workflow/index.ts'
import { reportApproval } from './approval-status.ts'
import {
  type Base,
  baseOf,
  changedProjects,
  fetchIfMissing,
  isSameContent,
  readBase,
  withPoliciesBefore,
} from './base.ts'
import { type Ending, frameOf, hasLive, type Job, stepFiles, withReadClient, writeFile } from './job.ts'
import { publicPlan, publicSnapshot } from './public-snapshot.ts'
import { publish } from './publish.ts'
import { reportProblems } from './report-failure.ts'
import { isUntrusted, readUntrusted, type UntrustedManifests } from './untrusted-pull-request.ts'

const OFFLINE =
  'This pull request is from a fork, which has no access to secrets. Its manifests were only validated, not planned against the live project.'
const HIDDEN =
  'Live values of Postgres settings are hidden, and branches and computes that no manifest declares are left out: anyone can open such a pull request.'

const SAME = 'No manifest and no policy differs from the base, so nothing was planned. Existing drift is not shown.'

export const runPlan = async (job: Job): Promise<Ending> => {
  const { inputs, event, runner, cwd } = job
  const untrusted = isUntrusted(job) ? await readUntrusted(job) : undefined
  const read = untrusted?.head ?? (await readManifests(inputs.paths, { cwd, policyPaths: inputs.policy }))
  const introducedBy = introducerOf(job)
  const hasBase = introducedBy !== undefined
  const hasEarlier = hasBase || event.before !== undefined
  const reviewed = await withReview(read, inputs, { env: job.env, hasBase: hasEarlier })
  const all = await select(reviewed, { projects: inputs.project })
  for (const note of fileNotes(all)) runner.print(note)
  const diagnostics = [...all.loaded.diagnostics, ...(untrusted?.refused ?? [])]
  if (hasErrors(diagnostics)) return reportProblems(job, diagnostics)
  if (!hasLive(job) && event.pullRequest?.isFork === true) {
    runner.notice(OFFLINE)
    return reportProblems(job, diagnostics, [OFFLINE])
  }
  const manifests = hasBase ? all : await withPoliciesBefore(job, all)
  const base = await findBase(job, manifests, untrusted)
  setProjects(job, read, base?.manifests)
  checkOverrides(manifests, base?.manifests)
  const publicPart =
    untrusted &&
    ((observed: Observed) => publicSnapshot(untrusted.base.loaded.desired, manifests.loaded.desired, observed))
  const isSame = base !== undefined && isSameContent(base.manifests, manifests)
  const planned = isSame
    ? planNothing(job, manifests)
    : await withReadClient(job, (api) =>
        planLive(api, manifests, { clock: job.clock, base: base?.manifests, publicPart }),
      ).catch((error: unknown) => {
        throw untrusted === undefined ? error : withoutDetails(error)
      })
  const { observed, result, comparison } = planned
  if (!result.ok && result.plan.projects.length === 0) {
    return reportProblems(job, [...diagnostics, ...result.diagnostics])
  }
  const origin = comparison?.origin ?? originOf(undefined, result.plan)
  const plan = untrusted === undefined ? result.plan : publicPlan(result.plan)
  // If the base has errors, or nothing was planned, it is unknown which changes correct drift. Without a pull request, all of them do.
  const baseCommit = base !== undefined && isUsableBase(base.manifests) ? base.commit : undefined
  const drift = !hasBase ? plan.changes : baseCommit === undefined || isSame ? undefined : origin.drift
  setOutputs(job, plan, drift?.length)
  if (baseCommit !== undefined) runner.output('introduced', origin.introduced.length)
  const files = stepFiles(job)
  const view = baseCommit === undefined ? {} : { origin: { base: baseCommit, ...origin } }
  await writeFile(files.view, jsonPlan(plan, view))
  runner.output('json-plan-path', files.view)
  // The plan of an untrusted pull request is never applied, so it is not saved.
  if (untrusted === undefined) {
    const path = inputs.planFile === '' ? files.plan : resolve(cwd, inputs.planFile)
    await writeFile(path, encodeSavedPlan(planned, inputs.label))
    runner.output('plan-path', path)
  }
  const notes = [...(untrusted?.notes ?? []), ...(isSame ? [SAME] : untrusted === undefined ? [] : [HIDDEN])]
  const takenAt = isSame ? undefined : observed.takenAt
  const shown = { plan, origin, notes, ...defined({ takenAt, introducedBy }) }
  await showPlan(job, shown, base?.commit ?? 'none')
  await reportApproval(job, plan.changes, origin.introduced)
  return endingOf(job, plan)
}

/** A plan of no project. Nothing is read, so that a required check is quick for pull requests about something else. */
const planNothing = ({ clock }: Job, { selecting: _, ...manifests }: Manifests): Planned =>
  planSnapshot(
    { takenAt: new Date(clock.date()).toISOString(), projects: [], missing: [] },
    onlyProjects(manifests, () => false),
  )

/** The message of a failed request may quote a live value. */
const withoutDetails = (error: unknown): unknown =>
  error instanceof ApiError
    ? new EspalierError(
        error.code,
        'The live project could not be read. The reason is hidden, because anyone can open such a pull request.',
      )
    : error

/** Reports the plan in the log, as annotations, in the summary and in the comment. */
const showPlan = async (
  job: Job,
  shown: Pick<PlanView, 'plan' | 'origin' | 'notes' | 'takenAt' | 'introducedBy'>,
  recordedBase: string,
): Promise<void> => {
  const { runner, inputs } = job
  const { plan, origin, takenAt } = shown
  const problems = (plan.leftOut ?? []).flatMap(({ diagnostics }) => diagnostics)
  runner.group('Plan', terminalPlan(plan, { color: false, width: 100 }, defined({ takenAt })))
  const view = { ...frameOf(job, 'plan'), ...shown, ...defined({ costThreshold: inputs.costThreshold }) }
  runner.summary(planComment(view, SUMMARY_LIMIT))
  // A run for another event, such as the merge of another pull request, says nothing about drift alone.
  const isUnasked = inputs.pullRequest !== undefined && origin.introduced.length === 0
  const isQuiet = (isEmptyPlan(plan) || isUnasked) && problems.length === 0 && !isReleasing(plan, origin)
  await publish(job, {
    kind: 'plan',
    body: (limit, recordOf) => planComment({ ...view, ...defined({ recordOf }) }, limit),
    onlyUpdate: isQuiet,
    recordedBase,
    annotations: [...diagnosticAnnotations(problems), ...changeAnnotations(plan.changes, origin.drift)],
  })
}

const endingOf = (job: Job, plan: Plan): Ending => {
  const { runner } = job
  if (plan.leftOut !== undefined) return 'validation-failed'
  const denied = deniedPolicies(plan)
  if (denied.length > 0) {
    runner.error('Policy', `Denied by ${denied.join(', ')}. See the summary for details.`)
    return 'policy-denied'
  }
  return mustFail(job, plan) ? 'fail-on' : ''
}

/** Sets the output `projects` to JSON that a workflow can use in a matrix. */
export const setProjects = ({ runner }: Job, head: Manifests, base: Manifests | undefined): void => {
  const known = base !== undefined && isUsableBase(base) ? base.loaded.desired : undefined
  runner.output('projects', JSON.stringify(changedProjects(head.loaded.desired, known)))
}

/** Returns the base, or `undefined` if there is none. @throws {EspalierError} `E_GIT` if it cannot be read. */
export const findBase = async (
  { event, cwd }: Job,
  manifests: Manifests,
  untrusted: UntrustedManifests | undefined,
): Promise<Base | undefined> => {
  if (untrusted !== undefined) return { commit: untrusted.baseSha, manifests: untrusted.base }
  const { pullRequest: pull, mergeGroupBase: group } = event
  if (pull !== undefined) return readBase(() => baseOf(cwd, pull), manifests, cwd)
  if (group !== undefined) return readBase(() => fetchIfMissing(cwd, group), manifests, cwd)
  return undefined
}

const introducerOf = ({ event }: Job): PlanView['introducedBy'] =>
  event.pullRequest !== undefined
    ? 'this pull request'
    : event.mergeGroupBase !== undefined
      ? 'this merge group'
      : undefined

/** @param drifted the number of changes that correct drift, or `undefined` if unknown. */
export const setOutputs = ({ runner }: Job, plan: Plan, drifted: number | undefined): void => {
  const { summary } = plan
  runner.output('has-changes', !isEmptyPlan(plan))
  for (const kind of CHANGE_KINDS) runner.output(`to-${kind}`, summary[kind])
  runner.output('restarts', summary.restarts)
  runner.output('may-restart', summary.mayRestart)
  runner.output('disconnects', summary.disconnects)
  runner.output('refused', summary.refused)
  runner.output('unmanaged', summary.unmanaged)
  runner.output('verdict', isEmptyPlan(plan) ? 'No changes.' : planVerdict(plan))
  if (drifted !== undefined) runner.output('drifted', drifted)
  runner.output('policies-denied', deniedPolicies(plan).join(','))
  if (plan.cost !== undefined) runner.output('cost-increase', likelyOf(plan.cost.total.delta) ?? UNKNOWN)
  runner.output('plan-hash', createHash('sha256').update(jsonPlan(plan)).digest('hex'))
}

/** The names of the policies that denied the plan, sorted. */
export const deniedPolicies = ({ policies }: Plan): readonly string[] => {
  const denied = policies?.results.filter(({ outcome }) => outcome === 'denied') ?? []
  return [...new Set(denied.map(({ policy }) => policy))].sort()
}

const UNKNOWN = 'unknown'

/** Below 10, rounded as in the comment. An unknown increase may exceed any limit. */
export const costIncrease = ({ total }: NonNullable<Plan['cost']>): number | typeof UNKNOWN => {
  const likely = likelyOf(total.delta)
  return likely === null ? UNKNOWN : Math.max(0, Number(likely.toFixed(1)))
}

const mustFail = ({ inputs, runner }: Job, plan: Plan): boolean => {
  const made = madeChanges(plan)
  const counts = {
    error: 0,
    changes: made.length,
    restarts: made.filter(isOrMayBeRestart).length,
    deletes: made.filter(isDelete).length,
    policies: (plan.policies?.results ?? []).filter(({ outcome }) => outcome === 'denied' || outcome === 'warned')
      .length,
    cost: plan.cost === undefined ? 0 : costIncrease(plan.cost),
  }
  const hit = inputs.failOn.filter((what) => counts[what] === UNKNOWN || counts[what] > 0)
  if (hit.length === 0) return false
  runner.error('fail-on', `The plan has ${hit.map((what) => `${what}: ${counts[what]}`).join(', ')}.`)
  return true
}

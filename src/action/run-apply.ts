/** Applies changes after a merge. If there is a saved plan, it is applied; otherwise, a new plan is made. */
import { resolve } from 'node:path'
import { counted, EspalierError, plainValue } from '../base/index.ts'
import { hasErrors, isEmptyPlan, leftOutIds, type Plan } from '../model/index.ts'
import {
  applyLog,
  diagnosticAnnotations,
  HOW_TO_APPROVE,
  type Limit,
  openSteps,
  outcomeComment,
  SUMMARY_LIMIT,
  terminalPlan,
} from '../report/index.ts'
import {
  type Applied,
  apply,
  checkOverrides,
  fileNotes,
  manifestPaths,
  openWriteClient,
  type PlannedApply,
  pathsOf,
  readManifests,
  readSavedPlan,
  type SavedPlan,
  select,
  selectionNote,
  type Watcher,
  withReview,
} from '../workflow/index.ts'
import { withPoliciesBefore } from './base.ts'
import { reasonOfOutcome } from './failure.ts'
import { connect, type Ending, frameOf, type Job } from './job.ts'
import { comment } from './publish.ts'
import { reportProblems } from './report-failure.ts'
import {
  type Approved,
  doneLine,
  findApproved,
  isSettled,
  refuseUnapproved,
  unapprovedLines,
} from './require-approval.ts'
import { deniedPolicies, setOutputs } from './run-plan.ts'

const STYLE = { color: false, width: 100 }

export const runApply = async (job: Job): Promise<Ending> => {
  refuseUnmerged(job)
  const { inputs, runner, cwd } = job
  if (inputs.requireApproval && inputs.planFile !== '') {
    throw new EspalierError(
      'E_INPUT',
      '`require-approval` makes its own plan, so it cannot be combined with `plan-file`.',
    )
  }
  const saved = inputs.planFile === '' ? undefined : await readSavedPlan(inputs.planFile, resolve(cwd, inputs.planFile))
  if (saved !== undefined) await refuseOtherPlan(job, saved)
  const paths = saved === undefined ? inputs.paths : manifestPaths(saved, inputs.paths, cwd)
  const read = await readManifests(paths, { cwd, policyPaths: inputs.policy })
  const reviewed = await withReview(read, inputs, { env: job.env, hasBase: true })
  // A saved plan was already limited to the selected projects when it was made.
  const all = saved === undefined ? await select(reviewed, { projects: inputs.project }) : reviewed
  const { diagnostics } = all.loaded
  for (const note of fileNotes(all)) runner.print(note)
  const mustApprove = inputs.requireApproval && !hasErrors(diagnostics)
  const approved = mustApprove ? await findApproved(job, all) : undefined
  if (mustApprove && approved === undefined) return superseded(job)
  const manifests = approved?.manifests ?? (await withPoliciesBefore(job, all))
  checkOverrides(manifests)
  const applied = await apply({
    manifests,
    saved,
    cwd,
    open: async () => openWriteClient(await connect(job)),
    clock: job.clock,
    consent: { allow: inputs.allow },
    ignoreWindows: inputs.now,
    // A cancelled job receives SIGINT, and some seconds later SIGTERM.
    onSignal: job.onSignal,
    notify: runner.print,
    onPlan: (planned) => {
      showPlan(job, planned)
      if (approved !== undefined) refuseUnapproved(planned.plan.changes, approved)
    },
    watch: ({ plan }) => watch(plan, job),
  })
  switch (applied.kind) {
    case 'invalid':
      return reportProblems(job, applied.diagnostics)
    case 'unplannable':
      return reportProblems(job, [...diagnostics, ...applied.diagnostics], ['Nothing was changed.'])
    case 'ended':
      return report(job, applied, approved)
    case 'declined':
      throw new Error('nobody was asked')
  }
}

const superseded = ({ runner }: Job): Ending => {
  runner.notice(
    'Superseded: the branch has newer manifests. Nothing was changed, and the newer run applies all of them.',
  )
  runner.summary('### Espalier: superseded by a newer commit\n')
  return ''
}

const showPlan = (job: Job, { plan, problems, observed }: PlannedApply): void => {
  const { runner } = job
  runner.annotate(diagnosticAnnotations(problems))
  setOutputs(job, plan, plan.changes.length)
  const shown = { takenAt: observed.takenAt, now: new Date(job.clock.date()).toISOString() }
  runner.group('Plan', terminalPlan(plan, STYLE, shown))
  const note = selectionNote(plan)
  if (note !== undefined) runner.notice(note)
}

/** @throws {EspalierError} `E_NOT_MERGED` for a pull request that is not merged. */
const refuseUnmerged = ({ event }: Job): void => {
  const isOpen = event.pullRequest !== undefined && !event.pullRequest.isMerged
  if (!isOpen && event.mergeGroupBase === undefined) return
  throw new EspalierError('E_NOT_MERGED', 'The changes in a pull request are applied only after it is merged.', {
    hint: 'Plan here, and apply in a workflow that runs on push.',
  })
}

/**
 * Checks that the saved plan belongs to this step, because a job may have several plan steps.
 *
 * @throws {EspalierError} `E_OTHER_PLAN` if the plan was saved with another label, or from other manifests.
 */
const refuseOtherPlan = async (
  { inputs, cwd }: Job,
  { file: { label = '', manifests = [] }, path }: SavedPlan,
): Promise<void> => {
  const differs = (what: string, saved: string, here: string): EspalierError =>
    new EspalierError(
      'E_OTHER_PLAN',
      `The saved plan ${path} was made with the ${what} ${saved || '(none)'}, but this step has ${here || '(none)'}. Nothing was changed.`,
      { hint: 'Give `apply` the same paths and label as the `plan` step whose plan it should apply.' },
    )
  if (label !== inputs.label) throw differs('label', label, inputs.label)
  // A label is enough to identify the plan.
  if (label !== '' && inputs.paths.length === 0) return
  const found = await pathsOf(inputs.paths, cwd).catch((error: unknown) => {
    if (error instanceof EspalierError) return []
    throw error
  })
  const [saved = '', here = ''] = [manifests, found].map((paths) => paths.toSorted().join(' '))
  if (saved !== here) throw differs('paths', saved, here)
}

/** The printed lines may quote responses of the service, so the runner must not treat them as commands. */
const watch = (plan: Plan, { runner, clock }: Job): Watcher => {
  const resumeCommands = runner.stopCommands()
  const log = applyLog(plan, STYLE, runner.print, clock.date)
  return {
    event: (event) => {
      log.report(event)
      if (event.type === 'outcome') openSteps(plan, plainValue(event.outcome), STYLE, true).forEach(runner.print)
    },
    end: async () => {
      log.end()
      resumeCommands()
    },
  }
}

const report = async (
  job: Job,
  { plan, outcome }: Pick<Extract<Applied, { kind: 'ended' }>, 'plan' | 'outcome'>,
  approved: Approved | undefined,
): Promise<Ending> => {
  const lacking = unapprovedLines(approved?.judgement.lacking ?? [])
  const scheduled = outcome.steps.filter(({ status }) => status === 'scheduled')
  job.runner.output('scheduled', scheduled.length)
  const isNothing = isEmptyPlan(plan) && plan.leftOut === undefined && lacking.length === 0
  const view = { ...frameOf(job, 'outcome'), whole: 'the job summary', plan, outcome, lacking }
  job.runner.summary(outcomeComment(view, SUMMARY_LIMIT))
  if (lacking.length > 0) job.runner.error('E_NOT_APPROVED', [...lacking, HOW_TO_APPROVE].join(' '))
  const text = { kind: 'outcome', body: (limit: Limit) => outcomeComment(view, limit) } as const
  if (approved !== undefined) {
    for (const pull of approved.approvals) {
      const end = isSettled(pull, approved, { plan, outcome }) ? doneLine(pull) : ''
      await comment(job, { ...text, issue: pull.number, body: (limit) => `${text.body(limit)}${end}` })
    }
  }
  if (isNothing && job.inputs.comment !== 'always') return ''
  if (approved === undefined || approved.approvals.length === 0) await comment(job, text)
  if (lacking.length > 0) return 'not-approved'
  const [first] = scheduled.flatMap(({ opensAt }) => opensAt ?? []).sort()
  if (scheduled.length > 0) {
    const when = first === undefined ? '' : ` The first window opens at ${first}.`
    job.runner.notice(`Waiting for a restart window: ${counted(scheduled.length, 'step')}.${when}`)
  }
  const failure = reasonOfOutcome(outcome)
  // If nothing more specific explains the failure, the policy is the reason.
  const isUnexplained = failure === 'apply-failed' || failure === 'partially-applied'
  if (isUnexplained && deniedPolicies(plan).length > 0) return 'policy-denied'
  return failure ?? (leftOutIds(plan).length > 0 ? 'partially-applied' : '')
}

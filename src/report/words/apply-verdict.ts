/** The summary of an apply, and what the user should do next. */
import { counted, group } from '../../base/index.ts'
import {
  CONSENT_OF,
  type Consent,
  isScheduled,
  type Outcome,
  type Plan,
  repairCommand,
  STEP_STATUSES,
  type Step,
  type StepStatus,
} from '../../model/index.ts'
import { minuteOf } from './counts.ts'
import { deniedBy, projectsLeftOut } from './plan-lines.ts'

/** `not allowed` for `not-allowed`. */
export const statusWords = (status: StepStatus): string => status.replace('-', ' ')

interface ApplyVerdict {
  readonly kind: 'complete' | 'scheduled' | 'incomplete'
  /** `2 done, 1 failed`. */
  readonly counts: string
  /** `Apply incomplete: 2 done, 1 failed.` */
  readonly words: string
}

/**
 * @param outcome absent if the run was cut off before it ended.
 * @param ends the status of each step, or `undefined` for a step whose status is unknown.
 */
export const applyVerdict = (
  plan: Plan,
  outcome: Outcome | undefined,
  ends: readonly (StepStatus | undefined)[] = outcome?.steps.map(({ status }) => status) ?? [],
): ApplyVerdict => {
  const count = (wanted: StepStatus | undefined): number => ends.filter((status) => status === wanted).length
  const leftOut = projectsLeftOut(plan)
  const unknown = count(undefined)
  const counts = [
    ...STEP_STATUSES.filter((status) => status === 'done' || count(status) > 0).map(
      (status) => `${group(count(status))} ${statusWords(status)}`,
    ),
    ...(unknown === 0 ? [] : [`${group(unknown)} unknown`]),
    ...(leftOut === undefined ? [] : [`${leftOut} left out`]),
  ].join(', ')
  const isCovered = leftOut === undefined && unknown === 0
  const isWhole = isCovered && outcome?.converged !== false && outcome?.interrupted === false
  const open = outcome !== undefined && isScheduled(outcome) ? 'scheduled' : 'incomplete'
  const done = count('done') === ends.length ? 'complete' : open
  const kind = isWhole ? done : 'incomplete'
  return { kind, counts, words: `Apply ${kind}: ${counts}.` }
}

/** @param inJob whether a workflow applies, in which there is no command line. */
export const nextSteps = (plan: Plan, outcome: Outcome, inJob = false): readonly string[] => {
  const { steps, interrupted, converged } = outcome
  const has = (wanted: StepStatus): boolean => steps.some(({ status }) => status === wanted)
  const reasons = new Set(steps.map(({ reason }) => reason))
  const missing = missingConsents(plan, outcome)
  const { policies } = deniedBy(plan)
  const failed = new Set(steps.flatMap(({ reason, step }) => (reason === 'operation-failed' ? [step] : [])))
  const failedIn = [...new Set(plan.steps.flatMap(({ id, project }) => (failed.has(id) ? [project] : [])))]
  const [firstFailed] = failedIn
  // Only a step that is planned again continues. After a failed operation, the values may be as declared already.
  const continues = !reasons.has('operation-failed') && !reasons.has('operation-timeout')
  const projectOf = new Map(plan.steps.map(({ id, project }) => [id, project]))
  const repairs = steps.flatMap(({ step, repair, computeId = '' }) =>
    repair === undefined ? [] : [repairCommand(repair, computeId, projectOf.get(step) ?? '')],
  )
  const isOver = steps.every(({ status }) => status === 'done' || status === 'scheduled')
  const [opensAt] = steps.flatMap((step) => (step.status === 'scheduled' ? (step.opensAt ?? []) : [])).sort()
  const from = opensAt === undefined ? '' : ` from ${minuteOf(opensAt)} on`
  const lines: readonly (readonly [applies: boolean, line: string, ofJob?: string])[] = [
    [
      missing.length > 0,
      `Next: to allow ${reasons.has('refused') ? 'the steps that are not refused' : 'these steps'}, run \`espalier apply --allow ${missing.join(',')}\`.`,
      `Next: to allow what is not allowed, write \`${missing.join(',')}\` in the input \`allow\` of the workflow, and run it again.`,
    ],
    [
      policies.length > 0 && reasons.has('refused'),
      `Next: change what ${policies.length === 1 ? 'the policy denies' : 'the policies deny'}, or run \`espalier apply${policies.map((name) => ` --override ${name}=REASON`).join('')}\`.`,
      `Next: change what ${policies.length === 1 ? 'the policy denies' : 'the policies deny'}, or give a reason in the input \`override\` of the workflow.`,
    ],
    [interrupted, `Next: to continue, run \`espalier apply\` again.`, 'Next: to continue, run the workflow again.'],
    [
      has('scheduled'),
      `Next: run \`espalier apply\` again in the restart window${from}, or with --now to interrupt immediately.`,
      `Next: the scheduled workflow runs these steps in the restart window${from}; connections may drop then. Without a scheduled workflow, run this one in that window.`,
    ],
    [
      converged === false && isOver,
      `The project does not match the manifests yet (not-converged)${remaining(outcome)}. Next: to see the remaining changes, run \`espalier plan\`.`,
      'Next: run the workflow again, because the live project still differs from the manifests.',
    ],
    [
      has('stale'),
      `Next: run \`espalier plan\` to review the project as it is now, then apply again.`,
      'Next: run the workflow again to plan the project as it is now.',
    ],
    [
      !interrupted && steps.some(({ status, reason }) => status === 'failed' && reason !== 'operation-failed'),
      `Next: fix the cause of each failure, then run \`espalier apply\` again.${continues ? ' It continues where it stopped.' : ''}`,
      'Next: fix the cause of each failure, then run the workflow again.',
    ],
    [
      firstFailed !== undefined,
      `Next: find out why operations failed${failedIn.length > 1 ? ` in ${failedIn.length} projects, for example` : ''} in project ${firstFailed}: run \`espalier operations list --project ${firstFailed}\`.`,
      `Next: fix what made the operation fail${repairs.length > 0 ? '' : ', then run the workflow again'}.`,
    ],
    [
      repairs.length > 0,
      `Next: the new values are stored but probably not in effect. Once the cause is fixed, run \`${repairs[0]}\`${repairs.length > 1 ? `, and likewise for ${counted(repairs.length - 1, 'other compute')}` : ''}.`,
    ],
  ]
  return lines.filter(([applies]) => applies).map(([, line, ofJob = line]) => (inJob ? ofJob : line))
}

const missingConsents = (plan: Plan, { steps }: Outcome): readonly Consent[] => {
  const refused = new Set(steps.filter(({ reason }) => reason === 'not-consented').map(({ step }) => step))
  return [...new Set(plan.steps.filter(({ id }) => refused.has(id)).flatMap(consentsOf))]
}

/** If a compute was idle when the plan was made and has started since, its step may need a different consent. */
const consentsOf = ({ consents, unlessIdle }: Step): readonly Consent[] => {
  const active = consents.length > 0 || unlessIdle === undefined ? undefined : CONSENT_OF[unlessIdle]
  return active === undefined ? consents : [active]
}

/** How many of the remaining changes are listed. `plan` shows all of them. */
const MOST_REMAINING = 3

const remaining = ({ left = [] }: Outcome): string => {
  if (left.length === 0) return ''
  const more = left.length > MOST_REMAINING ? `; and ${left.length - MOST_REMAINING} more` : ''
  return `: ${left.slice(0, MOST_REMAINING).join('; ')}${more}`
}

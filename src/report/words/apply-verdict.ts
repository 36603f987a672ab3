/** The verdict on an apply, for all renderers. */
import { isScheduled, type Outcome, type Plan, STEP_STATUSES, type StepStatus } from '../../model/index.ts'
import { group, projectsLeftOut } from './counts.ts'

export const STATUS_WORDS: Readonly<Record<StepStatus, string>> = {
  done: 'done',
  failed: 'failed',
  stale: 'stale',
  skipped: 'skipped',
  'not-allowed': 'not allowed',
  scheduled: 'scheduled',
}

export interface ApplyVerdict {
  readonly kind: 'complete' | 'scheduled' | 'incomplete'
  /** `2 done, 1 failed`. */
  readonly counts: string
  /** `Apply incomplete: 2 done, 1 failed.` */
  readonly words: string
}

/**
 * @param ends the status of each step; `undefined` if unknown.
 * @param outcome absent if the run was cut off.
 */
export const applyVerdict = (
  plan: Plan,
  ends: readonly (StepStatus | undefined)[],
  outcome: Outcome | undefined,
): ApplyVerdict => {
  const count = (wanted: StepStatus | undefined): number => ends.filter((status) => status === wanted).length
  const leftOut = projectsLeftOut(plan)
  const unknown = count(undefined)
  const counts = [
    ...STEP_STATUSES.filter((status) => status === 'done' || count(status) > 0).map(
      (status) => `${group(count(status))} ${STATUS_WORDS[status]}`,
    ),
    ...(unknown === 0 ? [] : [`${group(unknown)} unknown`]),
    ...(leftOut === undefined ? [] : [`${leftOut} left out`]),
  ].join(', ')
  const kind = kindOf(leftOut === undefined && unknown === 0, count('done') === ends.length, outcome)
  return { kind, counts, words: `Apply ${kind}: ${counts}.` }
}

const kindOf = (isCovered: boolean, isDone: boolean, outcome: Outcome | undefined): ApplyVerdict['kind'] => {
  if (!isCovered || outcome === undefined || outcome.converged === false || outcome.interrupted) return 'incomplete'
  return isDone ? 'complete' : isScheduled(outcome) ? 'scheduled' : 'incomplete'
}

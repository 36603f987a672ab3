/** What an apply did to the computes, as far as that is known: the plan says what was meant, not what happened. */
import { groupBy } from '../../base/index.ts'
import {
  type CapacityTotal,
  type Change,
  type ChangeCounts,
  countChanges,
  type Plan,
  type Step,
  type StepOutcome,
  worstImpact,
} from '../../model/index.ts'

export interface Effects {
  /** With the impact of the steps that were done. */
  readonly done: readonly Change[]
  /** Their steps were sent and did not end well, so that nobody knows who noticed. */
  readonly uncertain: readonly Change[]
  readonly counts: ChangeCounts
  readonly capacity: Plan['summary']['capacity']
}

export const effectsOf = (plan: Plan, outcomeOf: (step: Step) => StepOutcome | undefined): Effects => {
  const steps = groupBy(plan.steps, ({ change }) => change)
  const done: Change[] = []
  const uncertain: Change[] = []
  let after = plan.summary.capacity.before
  for (const change of plan.changes) {
    const own = steps.get(change.id) ?? []
    const ended = own.filter((step) => outcomeOf(step)?.status === 'done')
    const broken = own.filter((step) => mayHaveHappened(outcomeOf(step)))
    if (ended.length > 0) done.push(asFarAs(change, own, ended))
    if (broken.length > 0) uncertain.push({ ...change, impact: worstImpact(broken.map(({ impact }) => impact)) })
    if (ended.length === own.length && own.length > 0) after = plus(plus(after, change.before, -1), change.after, 1)
    else if (isGone(change, ended)) after = plus(after, change.before, -1)
  }
  return { done, uncertain, counts: countChanges(done), capacity: { before: plan.summary.capacity.before, after } }
}

/** The request was accepted, or interrupted while it was pending. */
const mayHaveHappened = (outcome: StepOutcome | undefined): boolean =>
  outcome?.status === 'failed' && (outcome.operations.length > 0 || outcome.reason === 'interrupted')

const isGone = ({ kind }: Change, ended: readonly Step[]): boolean =>
  kind === 'replace' && ended.some((step) => step.kind === 'delete')

const asFarAs = (change: Change, own: readonly Step[], ended: readonly Step[]): Change => {
  if (ended.length === own.length) return change
  if (isGone(change, ended)) return { ...change, kind: 'delete', impact: 'delete' }
  return { ...change, attributes: [], impact: worstImpact(ended.map(({ impact }) => impact)) }
}

const plus = (total: CapacityTotal, part: Change['before'], sign: 1 | -1): CapacityTotal =>
  part === undefined
    ? total
    : {
        computes: total.computes + sign,
        minCu: total.minCu + sign * part.size.min,
        maxCu: total.maxCu + sign * part.size.max,
        ramGb: total.ramGb + sign * part.ramGb,
        maxConnections: total.maxConnections + sign * part.maxConnections,
      }

/** Finds out what effects an apply had, as far as they are known. */
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
  /** Changes with at least one completed step. Their impact is the impact of the completed steps. */
  readonly done: readonly Change[]
  /** Changes with a step that was sent but failed, which is why their impact is unknown. */
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
    if (ended.length > 0) done.push(partiallyDone(change, own, ended))
    if (broken.length > 0) uncertain.push({ ...change, impact: worstImpact(broken.map(({ impact }) => impact)) })
    if (ended.length === own.length && own.length > 0) after = plus(plus(after, change.before, -1), change.after, 1)
    else if (isGone(change, ended)) after = plus(after, change.before, -1)
  }
  return { done, uncertain, counts: countChanges(done), capacity: { before: plan.summary.capacity.before, after } }
}

/** Whether a failed step may have had an effect: its request was accepted, or was pending at the interruption. */
const mayHaveHappened = (outcome: StepOutcome | undefined): boolean =>
  outcome?.status === 'failed' && (outcome.operations.length > 0 || outcome.reason === 'interrupted')

const isGone = ({ kind }: Change, ended: readonly Step[]): boolean =>
  kind === 'replace' && ended.some((step) => step.kind === 'delete')

const partiallyDone = (change: Change, own: readonly Step[], ended: readonly Step[]): Change => {
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

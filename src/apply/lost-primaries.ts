/** Follows the primaries that a run takes away: which branches have none now, and which steps give them another. */
import { type Handover, handoversIn, type Plan, type Step, type StepOutcome, stepsOfHandover } from '../model/index.ts'

type Outcomes = ReadonlyMap<string, StepOutcome>

export interface LostPrimary extends Handover {
  /** Whether it is unknown if the primary was taken away. */
  readonly isLossUncertain: boolean
  /** Whether it is unknown if the branch has a primary again. */
  readonly isGainUncertain: boolean
}

export interface LostPrimaries {
  /** Whether the step is needed to give a branch its primary, because an earlier step of this run took it away. */
  restores(step: Step, outcomes: Outcomes): boolean
  /** The branches that this run leaves without their declared primary. */
  in(outcomes: Outcomes): readonly LostPrimary[]
  /** The step that must follow a step that takes a primary away. */
  following(step: Step): Step | undefined
}

export const lostPrimariesOf = (plan: Plan): LostPrimaries => {
  const handovers = handoversIn(plan)
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const neededFor = new Map<string, readonly Handover[]>()
  for (const handover of handovers) {
    for (const id of stepsOfHandover(handover, steps)) neededFor.set(id, [...(neededFor.get(id) ?? []), handover])
  }
  return {
    restores: ({ id }, outcomes) =>
      (neededFor.get(id) ?? []).some(
        ({ frees, fills }) => outcomes.get(frees.id)?.status === 'done' && !outcomes.has(fills.id),
      ),
    in: (outcomes) =>
      handovers.flatMap((handover) => {
        const [loss, gain] = [outcomes.get(handover.frees.id), outcomes.get(handover.fills.id)]
        const isLossUncertain = mayHaveActed(loss)
        if ((loss?.status !== 'done' && !isLossUncertain) || gain?.status === 'done') return []
        // A step is stale if someone else has given the branch a primary, but also for other reasons.
        return [{ ...handover, isLossUncertain, isGainUncertain: gain?.status === 'stale' || mayHaveActed(gain) }]
      }),
    following: ({ id }) => handovers.find(({ frees }) => frees.id === id)?.fills,
  }
}

/** Whether a step that failed may have taken effect: the service did not reject it. */
const mayHaveActed = (outcome: StepOutcome | undefined): boolean => {
  if (outcome?.status !== 'failed') return false
  const { httpStatus = 0, operations } = outcome
  return operations.length > 0 || httpStatus < 400 || httpStatus >= 500
}

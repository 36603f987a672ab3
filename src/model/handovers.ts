/** A branch has at most one primary: which steps take it away, and which steps give the branch its declared one. */
import type { BranchName, Plan, Step } from './plan.ts'

/** The branches, by id, that a step leaves without a primary, and that it gives one. */
export interface StepSlots {
  readonly frees?: string
  readonly fills?: string
}

type SlotStep = Pick<Step, 'kind' | 'branch' | 'compute'>

/** @param from for a move, the branch that the compute leaves. */
export const slotsOfStep = ({ kind, branch, compute }: SlotStep, from: BranchName | undefined): StepSlots => {
  if (compute.type !== 'read_write' || kind === 'update') return {}
  return {
    ...(kind === 'delete' && { frees: branch.id }),
    ...(kind === 'move' && from !== undefined && { frees: from.id }),
    ...(kind !== 'delete' && { fills: branch.id }),
  }
}

/** Two steps that only run together, because the branch would otherwise lose its declared primary. */
export interface Handover<S = Step> {
  /** Takes the primary of the branch away. */
  readonly frees: S
  /** Gives the branch its declared primary. */
  readonly fills: S
}

export interface StepWithSlots<S> extends StepSlots {
  readonly step: S
}

/** @param steps of any number of projects. The steps that free a branch are in the order in which they run. */
export const handoversOf = <S extends Pick<Step, 'project' | 'reason'>>(
  steps: readonly StepWithSlots<S>[],
): readonly Handover<S>[] => {
  const key = ({ project }: S, branch: string): string => `${project} ${branch}`
  const freedBy = new Map<string, S>()
  for (const { step, frees } of steps) {
    // A parked compute is on the branch of its change's origin only before its first move.
    if (frees !== undefined && !freedBy.has(key(step, frees))) freedBy.set(key(step, frees), step)
  }
  return steps.flatMap(({ step, fills: branch }) => {
    const frees = branch === undefined ? undefined : freedBy.get(key(step, branch))
    // Parking takes a branch for a moment, and no primary is declared for it.
    return frees === undefined || step.reason === 'PARKED' ? [] : [{ frees, fills: step }]
  })
}

/** The steps between the two, and the last one. */
export const stepsOfHandover = ({ frees, fills }: Handover, steps: ReadonlyMap<string, Step>): ReadonlySet<string> => {
  const ids = new Set([fills.id])
  // A set also visits what is added to it meanwhile.
  for (const id of ids) {
    const { after = [], inTurnAfter = [] } = steps.get(id) ?? {}
    for (const earlier of after) if (earlier !== frees.id && !inTurnAfter.includes(earlier)) ids.add(earlier)
  }
  return ids
}

/** The steps that run without a pause, by the step that begins them by taking a primary away. */
export const chainsIn = (plan: Pick<Plan, 'changes' | 'steps'>): ReadonlyMap<string, readonly Step[]> => {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const handovers = handoversIn(plan)
  const followers = new Set<string>()
  const chains = handovers.map(({ frees }) => {
    const ids = new Set([frees.id])
    for (const id of ids) {
      for (const handover of handovers)
        if (handover.frees.id === id) for (const next of stepsOfHandover(handover, steps)) ids.add(next)
    }
    for (const id of ids) if (id !== frees.id) followers.add(id)
    return [frees.id, plan.steps.filter(({ id }) => ids.has(id))] as const
  })
  return new Map(chains.filter(([id]) => !followers.has(id)))
}

export const handoversIn = ({ changes, steps }: Pick<Plan, 'changes' | 'steps'>): readonly Handover[] => {
  const origins = new Map(changes.map(({ id, from }) => [id, from]))
  return handoversOf(steps.map((step) => ({ step, ...slotsOfStep(step, origins.get(step.change)) })))
}

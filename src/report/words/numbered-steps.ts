import type { Plan, Step } from '../../model/index.ts'

/** A step with its number. Steps and changes are numbered from 1, in the order in which the plan lists them. */
export interface NumberedStep {
  readonly step: Step
  readonly number: number
  /** The number of the change that the step belongs to. */
  readonly change: number
  /** The numbers of the steps that must be done before this one. */
  readonly waitsFor: readonly number[]
}

export const numberedSteps = ({ steps, changes }: Plan): readonly NumberedStep[] => {
  const stepNumbers = new Map(steps.map(({ id }, index) => [id, index + 1]))
  const changeNumbers = new Map(changes.map(({ id }, index) => [id, index + 1]))
  return steps.map((step, index) => ({
    step,
    number: index + 1,
    change: changeNumbers.get(step.change) ?? 0,
    waitsFor: step.after.flatMap((id) => stepNumbers.get(id) ?? []),
  }))
}

/** Determines which steps must wait for a branch's only primary slot, until another step frees it. */
import { compare } from '../base/index.ts'
import type { StepDraft } from './steps.ts'

export interface PrimarySlots {
  /** The step that empties a branch's primary slot, by branch id. */
  readonly freedBy: ReadonlyMap<string, StepDraft>
  /** Cycles of moves, as step ids. Each move waits for the slot that the next move in the cycle frees. */
  readonly rings: readonly (readonly string[])[]
}

export const primarySlotsOf = (steps: readonly StepDraft[]): PrimarySlots => {
  const freedBy = new Map<string, StepDraft>()
  for (const step of steps) if (step.frees !== undefined) freedBy.set(step.frees, step)
  return { freedBy, rings: ringsOf(steps, freedBy) }
}

type FreedBy = Pick<PrimarySlots, 'freedBy'>

/** The step that must empty the slot that `step` fills. */
export const roomFor = ({ fills }: StepDraft, { freedBy }: FreedBy): StepDraft | undefined =>
  fills === undefined ? undefined : freedBy.get(fills)

/** The step, the one that makes room for it, the one that makes room for that, and so on, each once. */
export const chain = (
  start: StepDraft,
  slots: FreedBy,
  until: ReadonlySet<StepDraft> = new Set(),
): readonly StepDraft[] => {
  const steps = new Set<StepDraft>()
  let current: StepDraft | undefined = start
  while (current !== undefined && !until.has(current) && !steps.has(current)) {
    steps.add(current)
    current = roomFor(current, slots)
  }
  return [...steps]
}

/** At most one step frees the slot that a step fills, so each has at most one successor and cycles are simple rings. */
const ringsOf = (steps: readonly StepDraft[], freedBy: PrimarySlots['freedBy']): PrimarySlots['rings'] => {
  const settled = new Set<StepDraft>()
  return [...steps]
    .sort((a, b) => compare(a.step.id, b.step.id))
    .flatMap((start) => {
      const passed = chain(start, { freedBy }, settled)
      for (const step of passed) settled.add(step)
      const last = passed.at(-1)
      const next = last && roomFor(last, { freedBy })
      const first = next === undefined ? -1 : passed.indexOf(next)
      return first === -1 ? [] : [passed.slice(first).map(({ step }) => step.id)]
    })
}

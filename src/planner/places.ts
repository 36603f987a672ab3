/** A branch has one primary at most: which steps wait for each other's place. */
import { compare } from './sort.ts'
import type { StepDraft } from './steps.ts'

export interface Places {
  /** By branch id, the step that empties its primary place. */
  readonly freedBy: ReadonlyMap<string, StepDraft>
  /** Moves that each wait for the next one's place, the last for the first one's: step ids. */
  readonly rings: readonly (readonly string[])[]
}

export const placesOf = (drafts: readonly StepDraft[]): Places => {
  const freedBy = new Map<string, StepDraft>()
  for (const draft of drafts) if (draft.frees !== undefined) freedBy.set(draft.frees, draft)
  return { freedBy, rings: ringsOf(drafts, freedBy) }
}

/** A branch is filled by one step at most, so there is one way on from each step and every circle is a plain ring. */
const ringsOf = (drafts: readonly StepDraft[], freedBy: ReadonlyMap<string, StepDraft>): Places['rings'] => {
  const rings: (readonly string[])[] = []
  const settled = new Set<StepDraft>()
  for (const start of [...drafts].sort((a, b) => compare(a.step.id, b.step.id))) {
    const way = new Set<StepDraft>()
    let current: StepDraft | undefined = start
    while (current !== undefined && !settled.has(current) && !way.has(current)) {
      way.add(current)
      current = current.fills === undefined ? undefined : freedBy.get(current.fills)
    }
    for (const draft of way) settled.add(draft)
    if (current === undefined || !way.has(current)) continue
    const passed = [...way]
    rings.push(passed.slice(passed.indexOf(current)).map(({ step }) => step.id))
  }
  return rings
}

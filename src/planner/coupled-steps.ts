/**
 * Steps that run together or not at all. If a step only makes room for another one that is refused or lacks consent,
 * running it alone would leave a branch without its primary, or a compute on the branch it was parked on.
 */
import type { Consent } from '../model/index.ts'
import { type Draft, refuse } from './drafts.ts'
import { type PrimarySlots, roomFor } from './primary-slots.ts'

/** If a step is refused or needs consents, the same applies to the step that makes room for it. */
export const coupleSteps = (drafts: readonly Draft[], slots: PrimarySlots): readonly Draft[] => {
  const all = drafts.flatMap(({ steps }) => steps)
  const byId = new Map(all.map(({ step }) => [step.id, step]))
  const refused = new Map<string, string>()
  const consents = new Map<string, readonly Consent[]>()

  for (const ring of slots.rings) {
    const blocking = ring.map((id) => byId.get(id)).find((step) => step?.refused !== undefined)
    if (blocking === undefined) continue
    const why = `it is part of a cycle in which the move of ${blocking.compute.id} is refused (${blocking.refused})`
    for (const id of ring) refused.set(id, why)
  }
  for (const draft of all) {
    const room = roomFor(draft, slots)?.step
    if (room?.reason !== 'PRUNED') continue
    consents.set(room.id, draft.step.consents)
    const { compute, refused: why } = draft.step
    if (why !== undefined) {
      refused.set(room.id, `it makes room for ${compute.id ?? 'a new primary'}, whose step is refused (${why})`)
    }
  }
  return drafts.map((draft) => {
    const steps = draft.steps.map(({ step, ...rest }) => ({
      ...rest,
      step: { ...step, consents: [...new Set([...step.consents, ...(consents.get(step.id) ?? [])])] },
    }))
    return refuse(
      { ...draft, steps },
      steps.map(({ step }) => refused.get(step.id)).find((why) => why !== undefined),
    )
  })
}

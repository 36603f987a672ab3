/**
 * What must run together or not at all. A step that only makes room for another one would leave a branch without its
 * primary, or a compute on the branch it was parked on, where that other one is refused or not consented to.
 */
import type { Consent, Step } from '../model/index.ts'
import type { Draft } from './drafts.ts'
import type { Places } from './places.ts'

type Bonds = Map<string, { refused?: string; consents: readonly Consent[] }>

/** The drafts, with refusals and consents carried over to what makes room for them. */
export const bindTogether = (drafts: readonly Draft[], { freedBy, rings }: Places): readonly Draft[] => {
  const steps = new Map(drafts.flatMap((draft) => draft.steps.map(({ step }) => [step.id, step] as const)))
  const bonds: Bonds = new Map()

  for (const ring of rings) {
    const refused = ring.map((id) => steps.get(id)).find((step) => step?.refused !== undefined)
    if (refused === undefined) continue
    for (const id of ring) bonds.set(id, { refused: cycleRefusal(refused), consents: [] })
  }
  for (const { step, fills } of drafts.flatMap((draft) => draft.steps)) {
    const room = fills === undefined ? undefined : freedBy.get(fills)?.step
    if (room?.reason !== 'PRUNED') continue
    bonds.set(room.id, {
      ...(step.refused === undefined ? {} : { refused: roomRefusal(step) }),
      consents: step.consents,
    })
  }
  return bonds.size === 0 ? drafts : drafts.map((draft) => bound(draft, bonds))
}

const bound = (draft: Draft, bonds: Bonds): Draft => {
  const found = draft.steps.map(({ step }) => bonds.get(step.id)).find((bond) => bond !== undefined)
  if (found === undefined) return draft
  const refused = draft.change.refused ?? found.refused
  return {
    change: { ...draft.change, ...(refused === undefined ? {} : { refused }) },
    steps: draft.steps.map((one) => ({
      ...one,
      step: {
        ...one.step,
        consents: [...new Set([...one.step.consents, ...found.consents])],
        ...(refused === undefined ? {} : { refused }),
      },
    })),
  }
}

const cycleRefusal = ({ compute, refused }: Step | Omit<Step, 'after'>): string =>
  `it is one of a cycle of moves, and that of ${compute.id} is refused (${refused})`

const roomRefusal = ({ compute, refused }: Step | Omit<Step, 'after'>): string =>
  `it makes room for ${compute.id ?? 'a new primary'}, whose own step is refused (${refused})`

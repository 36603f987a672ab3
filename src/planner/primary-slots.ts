/** A branch has a single primary slot: which steps must wait for it, run together, or use another branch meanwhile. */
import { compare } from '../base/index.ts'
import { type BranchName, type Consent, type Diagnostic, type ObservedProject, problem } from '../model/index.ts'
import type { Declarations } from './declarations.ts'
import { type Draft, refuse } from './drafts.ts'
import type { Protection } from './permissions.ts'
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

/**
 * If a step is refused or needs consents, the same applies to the step that makes room for it. Running that one alone
 * would leave a branch without its primary, or a compute on the branch it was parked on.
 */
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

/**
 * The branches on which a primary may wait while two others swap branches: those that have no primary and will not get
 * one. A primary that will leave the branch
 * does not count, because an interrupted apply may have parked it there.
 */
export const parkingPlaces = (
  { computes }: ObservedProject,
  { parkOn, claims }: Declarations,
  protection: Protection,
): { readonly places: readonly BranchName[]; readonly diagnostics: readonly Diagnostic[] } => {
  const diagnostics: Diagnostic[] = []
  const places: BranchName[] = []
  const movesOn = new Set(
    claims
      .filter(({ observed, branch, type }) => type === observed?.type && branch.id !== observed.branchId)
      .map(({ observed }) => observed?.id),
  )
  for (const { reference, branch } of parkOn) {
    const occupant = computes.find(
      ({ id, branchId, type }) => branchId === branch.id && type === 'read_write' && !movesOn.has(id),
    )
    const declared = claims.some((claim) => claim.branch.id === branch.id && claim.type === 'read_write')
    const why =
      occupant !== undefined
        ? `it has the primary ${occupant.id}`
        : declared
          ? 'a primary is declared for it'
          : protection.has(branch.id)
            ? `it is protected (${protection.get(branch.id)})`
            : undefined
    if (why === undefined) places.push({ id: branch.id, name: branch.name })
    else {
      const message = `Branch \`${branch.name}\` cannot be used for parking: ${why}.`
      const hint = 'Use a branch that has no primary and for which none is declared.'
      diagnostics.push(problem('E_PARK_ON', message, hint, reference.source))
    }
  }
  return { places, diagnostics }
}

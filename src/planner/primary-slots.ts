/** A branch has a single primary slot: which steps must wait for it, run together, or use another branch meanwhile. */
import { compare, groupBy } from '../base/index.ts'
import {
  type BranchName,
  type Change,
  type Consent,
  type Diagnostic,
  handoversOf,
  type ObservedProject,
  problem,
} from '../model/index.ts'
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

/** The changes that only run together, because a branch would otherwise lose its declared primary. */
export const chainsOf = (drafts: readonly Draft[]): readonly (readonly Draft[])[] => {
  const chains = new Map(drafts.map((draft) => [draft.change.id, [draft]]))
  for (const { frees, fills } of handoversOf(drafts.flatMap(({ steps }) => steps))) {
    const [from = [], to = []] = [chains.get(frees.change), chains.get(fills.change)]
    if (from === to) continue
    const [small, large] = from.length < to.length ? [from, to] : [to, from]
    large.push(...small)
    for (const { change } of small) chains.set(change.id, large)
  }
  return [...new Set(chains.values())].filter(({ length }) => length > 1)
}

/**
 * If a change is refused, so are the others of its chain. A step that takes a branch's primary away also needs the
 * consents of the steps that must follow it.
 */
export const coupleSteps = (drafts: readonly Draft[]): readonly Draft[] => {
  const refused = new Map<string, string>()
  for (const chain of chainsOf(drafts)) {
    const [first] = chain.filter(({ change }) => change.refused !== undefined).sort(byId)
    if (first === undefined) continue
    const why = `it runs only together with ${chainWords(first.change)}, which is refused (${first.change.refused})`
    for (const { change } of chain) refused.set(change.id, why)
  }
  const followers = groupBy(handoversOf(drafts.flatMap(({ steps }) => steps)), ({ frees }) => frees.id)
  const byChange = new Map(drafts.map((draft) => [draft.change.id, draft.steps]))
  const consentsOf = (start: StepDraft): readonly Consent[] => {
    const needed = new Set([start])
    // A set also visits what is added to it meanwhile.
    for (const { step } of needed) {
      for (const { fills } of followers.get(step.id) ?? []) {
        for (const one of byChange.get(fills.change) ?? []) needed.add(one)
      }
    }
    return [...new Set([...needed].flatMap(({ step }) => step.consents))]
  }
  return drafts.map((draft) =>
    refuse(
      { ...draft, steps: draft.steps.map((one) => ({ ...one, step: { ...one.step, consents: consentsOf(one) } })) },
      refused.get(draft.change.id),
    ),
  )
}

const byId = (a: Draft, b: Draft): number => compare(a.change.id, b.change.id)

/** Names of branches are quoted, because a plan that is shown to others may have to hide them. */
export const chainWords = ({ kind, compute, branch }: Change): string => {
  const what = { create: 'creation', update: 'update', move: 'move', replace: 'replacement', delete: 'deletion' }[kind]
  return `the ${what} of ${compute.id ?? 'the primary'} ${kind === 'move' ? 'to' : 'on'} branch \`${branch.name}\``
}

/**
 * The branches on which a primary may wait while two others swap branches: those that have no primary and will not get
 * one. A primary that will leave the branch does not count, because an interrupted apply may have parked it there.
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
      const hint = 'Use an unprotected branch that has no primary and for which none is declared.'
      diagnostics.push(problem('E_PARK_ON', message, hint, reference.source))
    }
  }
  return { places, diagnostics }
}

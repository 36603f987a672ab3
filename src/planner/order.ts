/**
 * Orders one project's steps: at most one primary per branch at every moment, then as little disruption as possible.
 */
import { compare } from '../base/index.ts'
import { type BranchName, type Diagnostic, problem, type Step } from '../model/index.ts'
import { type PrimarySlots, roomFor } from './primary-slots.ts'
import { parkingSteps, type StepDraft } from './steps.ts'

export interface Ordered {
  /** In the order in which they will run. */
  readonly steps: readonly Step[]
  readonly diagnostics: readonly Diagnostic[]
}

interface Node {
  readonly step: StepDraft['step']
  readonly after: Set<string>
  /** A subset of `after`. */
  readonly inTurnAfter: Set<string>
}

const nodeOf = (
  step: Node['step'],
  after: readonly (string | undefined)[] = [],
  inTurnAfter: readonly string[] = [],
): Node => ({
  step,
  after: new Set([...after.filter((id) => id !== undefined), ...inTurnAfter]),
  inTurnAfter: new Set(inTurnAfter),
})

/** @param place a live branch without a primary, on which a primary may wait while others swap slots. */
export const order = (drafts: readonly StepDraft[], slots: PrimarySlots, [place]: readonly BranchName[]): Ordered => {
  const nodes = new Map(drafts.map(({ step, follows }) => [step.id, nodeOf(step, [follows])]))
  for (const draft of drafts) {
    const room = roomFor(draft, slots)?.step.id
    if (room === undefined) continue
    nodes.get(draft.step.id)?.after.add(room)
    // A compute whose replacement goes elsewhere is deleted only once the successor's slot is free.
    if (draft.follows !== undefined) nodes.get(draft.follows)?.after.add(room)
  }
  chainRestarts(nodes)

  const rings = slots.rings.map((ring) => ring.flatMap((id) => nodes.get(id) ?? []))
  if (place !== undefined) parkAll(rings, place, slots.freedBy.get(place.id)?.step.id, nodes)
  else if (rings.length > 0) return { steps: [], diagnostics: rings.map(cycleProblem) }
  return { steps: sortTopologically(nodes), diagnostics: [] }
}

/** Restarts one compute of a branch at a time, so that the others stay available, also if a restart fails. */
const chainRestarts = (nodes: ReadonlyMap<string, Node>): void => {
  const last = new Map<string, string>()
  const restarts = [...nodes.values()].filter(
    ({ step }) => step.kind === 'update' && (step.impact === 'restart' || step.impact === 'may-restart'),
  )
  for (const { step, after, inTurnAfter } of restarts.sort(byPriority)) {
    const earlier = last.get(step.branch.id)
    if (earlier !== undefined) {
      after.add(earlier)
      inTurnAfter.add(earlier)
    }
    last.set(step.branch.id, step.id)
  }
}

/**
 * Breaks each ring, one after the other, by parking one primary (an idle one if possible) on the empty branch.
 */
const parkAll = (
  rings: readonly (readonly Node[])[],
  place: BranchName,
  freeing: string | undefined,
  nodes: Map<string, Node>,
): void => {
  let previous: readonly string[] = []
  for (const ring of rings) {
    const parked = ring.find(({ step }) => step.compute.state === 'idle') ?? ring[0]
    if (parked === undefined) continue
    const [out, back] = parkingSteps(parked.step, place)
    nodes.set(out.id, nodeOf(out, previous.length === 0 ? [freeing] : [], previous))
    nodes.set(back.id, nodeOf(back, [...parked.after, out.id]))
    previous = [back.id]
  }
}

const cycleProblem = (ring: readonly Node[]): Diagnostic => {
  const moves = ring.map(({ step: { compute, branch } }) => `${compute.id} to \`${branch.name}\``)
  const message = `These moves form a cycle, because a branch can have only one primary: ${moves.join(', ')}.`
  const hint =
    'Set `parkOn` to an unprotected branch that has no primary: one of the computes is moved there temporarily.'
  return problem('E_PARK_ON', message, hint, ring[0]?.step.source)
}

/**
 * Of the steps that are ready, the lowest priority runs first: added capacity, harmless steps, replicas, primaries,
 * deletes.
 */
const priorityOf = ({ kind, impact, compute }: Node['step']): number => {
  if (kind === 'create') return 0
  if (kind === 'delete') return 9
  if (kind === 'move') return 7
  const replica = compute.type === 'read_only'
  switch (impact) {
    case 'none':
      return 1
    case 'may-restart':
      return replica ? 2 : 4
    case 'restart':
      return replica ? 3 : 5
    default:
      return 6
  }
}

/** A total order, independent of the order in which steps were found. */
const byPriority = (a: Node, b: Node): number =>
  priorityOf(a.step) - priorityOf(b.step) ||
  compare(a.step.branch.name, b.step.branch.name) ||
  compare(a.step.id, b.step.id)

const sortTopologically = (nodes: ReadonlyMap<string, Node>): readonly Step[] => {
  const waiting = new Map([...nodes].map(([id, { after }]) => [id, after.size]))
  const followers = new Map<string, Node[]>()
  for (const node of nodes.values()) {
    for (const id of node.after) followers.set(id, [...(followers.get(id) ?? []), node])
  }
  // Reversed, so that the next step is popped from the end.
  const ready = [...nodes.values()].filter(({ after }) => after.size === 0).sort((a, b) => byPriority(b, a))
  const steps: Step[] = []
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    const { step, after, inTurnAfter } = node
    const inTurn = inTurnAfter.size === 0 ? {} : { inTurnAfter: [...inTurnAfter].sort(compare) }
    steps.push({ ...step, after: [...after].sort(compare), ...inTurn })
    for (const follower of followers.get(step.id) ?? []) {
      const left = (waiting.get(follower.step.id) ?? 0) - 1
      waiting.set(follower.step.id, left)
      if (left === 0) ready.splice(positionIn(ready, follower), 0, follower)
    }
  }
  return steps
}

/** Index at which `node` belongs in `ready`, which is sorted in reverse. */
const positionIn = (ready: readonly Node[], node: Node): number => {
  let [low, high] = [0, ready.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = ready[middle]
    if (other !== undefined && byPriority(other, node) > 0) low = middle + 1
    else high = middle
  }
  return low
}

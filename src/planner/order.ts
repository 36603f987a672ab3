/** The order of one project's steps: one primary a branch at every moment, then as little disruption as can be. */
import type { BranchName, Diagnostic, Step } from '../model/index.ts'
import { problem } from './diagnostics.ts'
import { Heap } from './heap.ts'
import type { Places } from './places.ts'
import { compare } from './sort.ts'
import { parkingStep, type StepDraft } from './steps.ts'

export interface Ordered {
  /** In an order in which they can run. */
  readonly steps: readonly Step[]
  readonly diagnostics: readonly Diagnostic[]
}

interface Node {
  readonly step: Omit<Step, 'after'>
  readonly after: Set<string>
  /** Part of `after`. */
  readonly inTurnAfter: Set<string>
}

const nodeOf = (step: Node['step'], after: readonly string[], inTurnAfter: readonly string[] = []): Node => ({
  step,
  after: new Set([...after, ...inTurnAfter]),
  inTurnAfter: new Set(inTurnAfter),
})

/**
 * @param parkOn live branches that stay without a primary, on which one may wait while others swap their places.
 */
export const order = (
  drafts: readonly StepDraft[],
  { freedBy, rings }: Places,
  parkOn: readonly BranchName[],
): Ordered => {
  const nodes = new Map<string, Node>()
  for (const { step, follows } of drafts) {
    nodes.set(step.id, nodeOf(step, follows === undefined ? [] : [follows]))
  }
  for (const { step, fills, follows } of drafts) {
    const room = fills === undefined ? undefined : freedBy.get(fills)
    if (room === undefined) continue
    nodes.get(step.id)?.after.add(room.step.id)
    // What is deleted to be made again elsewhere goes only once there is a place for its successor.
    if (follows !== undefined) nodes.get(follows)?.after.add(room.step.id)
  }
  chainRestarts(nodes)

  const [place] = parkOn
  if (place === undefined && rings.length > 0) {
    return { steps: [], diagnostics: rings.map((ring) => cycleProblem(stepsOf(ring, nodes))) }
  }
  if (place !== undefined) parkAll(rings, place, freedBy.get(place.id)?.step.id, nodes)
  return { steps: sortTopologically(nodes), diagnostics: [] }
}

const stepsOf = (ids: readonly string[], nodes: ReadonlyMap<string, Node>): readonly Node['step'][] =>
  ids.map((id) => nodes.get(id)?.step).filter((step) => step !== undefined)

/** One restart at a time on a branch, so that some of its computes answer throughout; after a failure the rest stay up. */
const chainRestarts = (nodes: ReadonlyMap<string, Node>): void => {
  const last = new Map<string, string>()
  const restarts = [...nodes.values()].filter(
    ({ step }) => step.kind === 'update' && (step.impact === 'restart' || step.impact === 'may-restart'),
  )
  for (const { step, after, inTurnAfter } of restarts.sort(byPriority)) {
    const earlier = last.get(step.branch.id)
    if (earlier !== undefined && !after.has(earlier)) inTurnAfter.add(earlier)
    if (earlier !== undefined) after.add(earlier)
    last.set(step.branch.id, step.id)
  }
}

/**
 * From each ring the one whose connections cost least waits on the empty branch, one ring after the other. It sets out
 * only with consent to all moves of its ring: it would be left there otherwise.
 */
const parkAll = (
  rings: Places['rings'],
  place: BranchName,
  freeing: string | undefined,
  nodes: Map<string, Node>,
): void => {
  const first = freeing === undefined ? [] : [freeing]
  let before: readonly string[] = []
  for (const ring of rings) {
    const steps = stepsOf(ring, nodes)
    const parked = steps.find(({ compute }) => compute.state === 'idle') ?? steps[0]
    const node = parked && nodes.get(parked.id)
    if (parked === undefined || node === undefined) continue
    const consents = [...new Set(steps.flatMap((step) => step.consents))]
    const out = parkingStep(parked, place, consents)
    const back = { ...parked, id: `${parked.change}#2` }
    nodes.set(out.id, nodeOf(out, before.length === 0 ? first : [], before))
    nodes.set(back.id, nodeOf(back, [...node.after, out.id]))
    before = [back.id]
  }
}

const cycleProblem = (ring: readonly Node['step'][]): Diagnostic => {
  const moves = ring.map(({ compute, branch }) => `${compute.id} to \`${branch.name}\``)
  return problem(
    'E_MOVE_CYCLE',
    `These moves wait for each other, and a branch has one primary at most: ${moves.join(', ')}.`,
    'Name a branch without a primary in `parkOn:`, on which one of them can wait; or drop one of the pins and set `prune: true`, so that its compute is deleted and a new one made.',
    ring[0]?.source,
  )
}

/** Lower goes first among the steps that are ready: capacity, then what harms no one, replicas before primaries, deletes last. */
const priorityOf = ({ kind, impact, compute }: Omit<Step, 'after'>): number => {
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

/** A total order, whatever the order in which steps were found. */
const byPriority = (a: Node, b: Node): number =>
  priorityOf(a.step) - priorityOf(b.step) ||
  compare(a.step.branch.name, b.step.branch.name) ||
  compare(a.step.id, b.step.id)

const sortTopologically = (nodes: ReadonlyMap<string, Node>): readonly Step[] => {
  const waiting = new Map<string, number>()
  const followers = new Map<string, Node[]>()
  const ready = new Heap<Node>(byPriority)
  for (const node of nodes.values()) {
    waiting.set(node.step.id, node.after.size)
    if (node.after.size === 0) ready.push(node)
    for (const id of node.after) {
      const list = followers.get(id)
      if (list === undefined) followers.set(id, [node])
      else list.push(node)
    }
  }
  const steps: Step[] = []
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    const inTurnAfter = [...node.inTurnAfter].sort(compare)
    steps.push({
      ...node.step,
      after: [...node.after].sort(compare),
      ...(inTurnAfter.length === 0 ? {} : { inTurnAfter }),
    })
    for (const follower of followers.get(node.step.id) ?? []) {
      const left = (waiting.get(follower.step.id) ?? 0) - 1
      waiting.set(follower.step.id, left)
      if (left === 0) ready.push(follower)
    }
  }
  return steps
}

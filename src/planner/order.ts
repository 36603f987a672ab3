/** The order of one project's steps: one primary a branch at every moment, then as little disruption as can be. */
import type { BranchName, Diagnostic, ObservedProject, Step } from '../model/index.ts'
import { problem } from './diagnostics.ts'
import { type Draft, parkingStep, type StepDraft } from './drafts.ts'
import { Heap } from './heap.ts'
import { compare } from './resolve.ts'

export interface Ordered {
  /** In an order in which they can run. */
  readonly steps: readonly Step[]
  readonly diagnostics: readonly Diagnostic[]
}

interface Node {
  readonly step: Omit<Step, 'after'>
  readonly after: Set<string>
}

/**
 * @param parkOn live branches that stay without a primary, on which one may wait while others swap their places.
 */
export const order = (project: ObservedProject, drafts: readonly Draft[], parkOn: readonly BranchName[]): Ordered => {
  const nodes = new Map<string, Node>()
  const freedBy = new Map<string, StepDraft>()
  const stepDrafts = drafts.flatMap(({ steps }) => steps)
  for (const draft of stepDrafts) {
    nodes.set(draft.step.id, { step: draft.step, after: new Set(draft.follows === undefined ? [] : [draft.follows]) })
    if (draft.frees !== undefined) freedBy.set(draft.frees, draft)
  }

  const occupied = new Set(project.computes.filter(({ type }) => type === 'read_write').map(({ branchId }) => branchId))
  for (const draft of stepDrafts) {
    if (draft.fills === undefined || !occupied.has(draft.fills)) continue
    const freeing = freedBy.get(draft.fills)
    if (freeing !== undefined && freeing !== draft) nodes.get(draft.step.id)?.after.add(freeing.step.id)
  }

  const diagnostics = breakCycles(stepDrafts, nodes, freedBy, parkOn)
  return diagnostics.length > 0 ? { steps: [], diagnostics } : { steps: sortTopologically(nodes), diagnostics }
}

/** Every branch is filled by one step at most, so a cycle is a ring of moves that each wait for the next. */
const breakCycles = (
  drafts: readonly StepDraft[],
  nodes: Map<string, Node>,
  freedBy: ReadonlyMap<string, StepDraft>,
  parkOn: readonly BranchName[],
): readonly Diagnostic[] => {
  const diagnostics: Diagnostic[] = []
  const settled = new Set<StepDraft>()
  let lastParking: string | undefined
  for (const start of [...drafts].sort((a, b) => compare(a.step.id, b.step.id))) {
    const way: StepDraft[] = []
    let current: StepDraft | undefined = start
    while (current !== undefined && !settled.has(current) && !way.includes(current)) {
      way.push(current)
      current = current.fills === undefined ? undefined : freedBy.get(current.fills)
    }
    const ring = current !== undefined && !settled.has(current) ? way.slice(way.indexOf(current)) : []
    for (const draft of way) settled.add(draft)
    if (ring.length < 2) continue
    const [place] = parkOn
    if (place === undefined) {
      diagnostics.push(cycleProblem(ring))
      continue
    }
    lastParking = park(ring, place, nodes, lastParking)
  }
  return diagnostics
}

/** The one of the ring whose connections cost least waits on the empty branch; returns the step that empties it again. */
const park = (
  ring: readonly StepDraft[],
  place: BranchName,
  nodes: Map<string, Node>,
  lastParking: string | undefined,
): string => {
  const parked = ring.find(({ step }) => step.compute.state === 'idle') ?? ring[0]
  const node = parked && nodes.get(parked.step.id)
  if (parked === undefined || node === undefined) return ''
  const out = { ...parkingStep(parked.step, place), id: parked.step.id }
  const back = { ...parked.step, id: `${parked.step.change}#2` }
  nodes.set(out.id, { step: out, after: new Set(lastParking === undefined ? [] : [lastParking]) })
  nodes.set(back.id, { step: back, after: new Set([...node.after, out.id]) })
  return back.id
}

const cycleProblem = (ring: readonly StepDraft[]): Diagnostic => {
  const moves = ring.map(({ step }) => `${step.compute.id} to \`${step.branch.name}\``)
  return problem(
    'E_MOVE_CYCLE',
    `These moves wait for each other, and a branch has one primary at most: ${moves.join(', ')}.`,
    'Name an empty branch in `parkOn:` on which one of them can wait, or drop a pin and let that compute be replaced.',
    ring[0]?.step.source,
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

const sortTopologically = (nodes: ReadonlyMap<string, Node>): readonly Step[] => {
  const waiting = new Map<string, number>()
  const followers = new Map<string, Node[]>()
  const ready = new Heap<Node>(
    (a, b) =>
      priorityOf(a.step) - priorityOf(b.step) ||
      compare(a.step.branch.name, b.step.branch.name) ||
      compare(a.step.id, b.step.id),
  )
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
    steps.push({ ...node.step, after: [...node.after].sort(compare) })
    for (const follower of followers.get(node.step.id) ?? []) {
      const left = (waiting.get(follower.step.id) ?? 0) - 1
      waiting.set(follower.step.id, left)
      if (left === 0) ready.push(follower)
    }
  }
  return steps
}

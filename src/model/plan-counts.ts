/** What counts: a change that is refused or denied will not be made, so it counts nowhere, except as refused. */
import type { Capacity, CapacityTotal, Change, ChangeKind, Plan, PlanSummary } from './plan.ts'

export const isRefused = ({ refused }: Pick<Change, 'refused'>): boolean => refused !== undefined

/** The changes that the plan makes. */
export const madeChanges = ({ changes }: Pick<Plan, 'changes'>): readonly Change[] =>
  changes.filter((change) => !isRefused(change))

export const isRestart = ({ impact, attributes }: Change): boolean =>
  impact === 'restart' || attributes.some((attribute) => attribute.impact === 'restart')

const mayRestart = (change: Change): boolean =>
  !isRestart(change) && change.attributes.some(({ impact }) => impact === 'may-restart')

/** Whether the change counts towards a limit on restarts. */
export const isOrMayBeRestart = (change: Change): boolean => isRestart(change) || mayRestart(change)

/** Whether the change counts towards a limit on deletes. */
export const isDelete = ({ kind }: Change): boolean => kind === 'delete' || kind === 'replace'

export type ChangeCounts = Pick<PlanSummary, ChangeKind | 'restarts' | 'mayRestart' | 'disconnects' | 'refused'>

/** Counts changes by kind and by impact. */
export const countChanges = (changes: readonly Change[]): ChangeCounts => {
  const made = madeChanges({ changes })
  const count = (test: (change: Change) => boolean): number => made.filter(test).length
  const ofKind = (kind: ChangeKind): number => count((change) => change.kind === kind)
  return {
    create: ofKind('create'),
    update: ofKind('update'),
    move: ofKind('move'),
    replace: ofKind('replace'),
    delete: ofKind('delete'),
    restarts: count(isRestart),
    mayRestart: count(mayRestart),
    disconnects: count(({ attributes }) => attributes.some(({ impact }) => impact === 'disconnect')),
    refused: changes.length - made.length,
  }
}

export const NO_CAPACITY: CapacityTotal = { computes: 0, minCu: 0, maxCu: 0, ramGb: 0, maxConnections: 0 }

export const addCapacity = (
  total: CapacityTotal,
  { size, ramGb, maxConnections }: Capacity,
  sign: 1 | -1,
): CapacityTotal => ({
  computes: total.computes + sign,
  minCu: total.minCu + sign * size.min,
  maxCu: total.maxCu + sign * size.max,
  ramGb: total.ramGb + sign * ramGb,
  maxConnections: total.maxConnections + sign * maxConnections,
})

/** The counts, and the capacity before and after the changes. Computes of unknown size are not counted. */
export const summaryOf = (
  changes: readonly Change[],
  before: CapacityTotal,
): ChangeCounts & Pick<PlanSummary, 'capacity'> => {
  let after = before
  for (const change of changes) {
    if (isRefused(change)) continue
    if (change.before !== undefined) after = addCapacity(after, change.before, -1)
    if (change.after !== undefined) after = addCapacity(after, change.after, 1)
  }
  return { ...countChanges(changes), capacity: { before, after } }
}

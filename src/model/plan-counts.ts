import type { Change, ChangeKind, PlanSummary } from './plan.ts'

export type ChangeCounts = Pick<PlanSummary, ChangeKind | 'restarts' | 'mayRestart' | 'disconnects' | 'refused'>

/** Counts changes by kind and by impact. */
export const countChanges = (changes: readonly Change[]): ChangeCounts => {
  const count = (test: (change: Change) => boolean): number => changes.filter(test).length
  const restarts = ({ impact, attributes }: Change): boolean =>
    impact === 'restart' || attributes.some((attribute) => attribute.impact === 'restart')
  const ofKind = (kind: ChangeKind): number => count((change) => change.kind === kind)
  return {
    create: ofKind('create'),
    update: ofKind('update'),
    move: ofKind('move'),
    replace: ofKind('replace'),
    delete: ofKind('delete'),
    restarts: count(restarts),
    mayRestart: count(
      (change) => !restarts(change) && change.attributes.some(({ impact }) => impact === 'may-restart'),
    ),
    disconnects: count(({ attributes }) => attributes.some(({ impact }) => impact === 'disconnect')),
    refused: count(({ refused }) => refused !== undefined),
  }
}

import type { Change, PlanSummary } from './plan.ts'

export type ChangeCounts = Pick<
  PlanSummary,
  'add' | 'change' | 'destroy' | 'restarts' | 'mayRestart' | 'disconnects' | 'moves' | 'replaces' | 'refused'
>

/** What the changes do, and to how many computes. */
export const countChanges = (changes: readonly Change[]): ChangeCounts => {
  const count = (test: (change: Change) => boolean): number => changes.filter(test).length
  const restarts = ({ impact, attributes }: Change): boolean =>
    impact === 'restart' || attributes.some((attribute) => attribute.impact === 'restart')
  const replaces = count(({ kind }) => kind === 'replace')
  return {
    add: count(({ kind }) => kind === 'create') + replaces,
    change: count(({ kind }) => kind === 'update' || kind === 'move'),
    destroy: count(({ kind }) => kind === 'delete') + replaces,
    restarts: count(restarts),
    mayRestart: count(
      (change) => !restarts(change) && change.attributes.some(({ impact }) => impact === 'may-restart'),
    ),
    disconnects: count(({ attributes }) => attributes.some(({ impact }) => impact === 'disconnect')),
    moves: count(({ kind }) => kind === 'move'),
    replaces,
    refused: count(({ refused }) => refused !== undefined),
  }
}

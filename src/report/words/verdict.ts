/** Describes the effect of a plan in one sentence. */
import { counted, group } from '../../base/index.ts'
import type { Change } from '../../model/index.ts'

/** The wording for one compute, the wording for several, and a test for the changes that it describes. */
const EFFECTS: readonly (readonly [string, string, (change: Change) => boolean])[] = [
  [
    'restarts',
    'restart',
    ({ impact, attributes }) => impact === 'restart' || attributes.some((one) => one.impact === 'restart'),
  ],
  ['may restart', 'may restart', ({ impact }) => impact === 'may-restart'],
  ['disconnects', 'disconnect', ({ impact }) => impact === 'disconnect'],
  ['moves', 'move', ({ kind }) => kind === 'move'],
  ['is replaced (new host)', 'are replaced (new host)', ({ kind }) => kind === 'replace'],
  ['is created', 'are created', ({ kind }) => kind === 'create'],
  [
    'changes without interrupting anyone',
    'change without interrupting anyone',
    ({ kind, impact }) => kind === 'update' && impact === 'none',
  ],
  ['is deleted', 'are deleted', ({ kind }) => kind === 'delete'],
  [
    'waits for its restart window',
    'wait for their restart windows',
    ({ windows, impact }) => windows !== undefined && impact !== 'none',
  ],
  ['is refused', 'are refused', ({ refused }) => refused !== undefined],
]

/** `2 computes restart, 1 is created, none is deleted.` */
export const verdict = (changes: readonly Change[]): string => {
  const found = EFFECTS.map(([one, many, test]) => ({ one, many, count: changes.filter(test).length })).filter(
    // Deletions are mentioned even if there are none.
    ({ one, count }) => count > 0 || one === 'is deleted',
  )
  const phrases = found.map(({ one, many, count }, index) => {
    if (count === 0) return `none ${one}`
    return `${index === 0 ? counted(count, 'compute') : group(count)} ${count === 1 ? one : many}`
  })
  return `${phrases.join(', ')}.`
}

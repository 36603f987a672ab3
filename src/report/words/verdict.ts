/** The effect of a plan in one sentence. */
import type { Change } from '../../model/index.ts'

/** Words for one compute, words for several, and which changes they describe. */
const KINDS: readonly (readonly [string, string, (change: Change) => boolean])[] = [
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
]

/** `2 computes restart, 1 is created, none is deleted.` */
export const verdict = (changes: readonly Change[]): string => {
  const count = (test: (change: Change) => boolean): number => changes.filter(test).length
  const deleted = count(({ kind }) => kind === 'delete')
  const phrases = [
    ...KINDS.map(([one, many, test]) => phrase(count(test), one, many)),
    deleted === 0 ? 'none is deleted' : phrase(deleted, 'is deleted', 'are deleted'),
    phrase(
      count(({ windows, impact }) => windows !== undefined && impact !== 'none'),
      'waits for its restart window',
      'wait for their restart windows',
    ),
    phrase(
      count(({ refused }) => refused !== undefined),
      'is refused',
      'are refused',
    ),
  ].filter((words) => words !== '')
  // The first number is followed by the noun.
  return `${phrases.map((words, index) => (index === 0 ? words.replace(/^(\d+) /, withNoun) : words)).join(', ')}.`
}

const phrase = (number: number, one: string, many: string): string =>
  number === 0 ? '' : `${number} ${number === 1 ? one : many}`

const withNoun = (_all: string, number: string): string => `${number} ${number === '1' ? 'compute' : 'computes'} `

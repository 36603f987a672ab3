import { expect, test } from 'vitest'
import { whoMoved } from '../../src/planner/index.ts'
import { type DeclaredDocument, planOf, world } from './world.ts'

const live = world({ main: { primary: { id: 'ep-main', size: 2 } }, other: {} })
const movers = (base: DeclaredDocument | undefined, head: DeclaredDocument) =>
  whoMoved(base === undefined ? undefined : planOf(base, live), planOf(head, live)).map(
    ({ change, attribute, mover }) => `${attribute?.path ?? change.kind}: ${mover}`,
  )
const sized = (size: number): DeclaredDocument => ({ branches: { main: { primary: { size } } } })

test.each([
  ['the base wanted what is live', sized(2), sized(4), ['size: manifest']],
  ['base and head want the same', sized(4), sized(4), ['size: live']],
  ['all three differ', sized(1), sized(4), ['size: both']],
  ['the head took up what is live', sized(4), sized(2), []],
  ['there was no manifest', undefined, sized(4), ['size: manifest']],
  [
    'a compute that base and head declare is not there',
    { branches: { other: { primary: { size: 1 } } } },
    { branches: { other: { primary: { size: 1 } } } },
    ['create: live'],
  ],
  [
    'one of two attributes was edited',
    sized(4),
    { branches: { main: { primary: { size: 4, scaleToZero: 600 } } } },
    ['size: live', 'scaleToZero: manifest'],
  ],
])('%s', (_what, base, head, expected) => {
  expect(movers(base, head)).toEqual(expected)
})

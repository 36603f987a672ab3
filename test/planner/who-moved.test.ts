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
  ['the base manifest declares the live value', sized(2), sized(4), ['size: manifest']],
  ['the base and head manifests declare the same value', sized(4), sized(4), ['size: live']],
  ['the base, the head and the live value all differ', sized(1), sized(4), ['size: both']],
  ['the head manifest adopts the live value', sized(4), sized(2), []],
  ['there is no base manifest', undefined, sized(4), ['size: manifest']],
  [
    'a compute that the base and the head declare is missing',
    { branches: { other: { primary: { size: 1 } } } },
    { branches: { other: { primary: { size: 1 } } } },
    ['create: live'],
  ],
  [
    'a missing compute is declared differently',
    { branches: { other: { primary: { size: 1, scaleToZero: 600 } } } },
    { branches: { other: { primary: { size: 1 } } } },
    ['create: both'],
  ],
  [
    'the head manifest changes one of two attributes',
    sized(4),
    { branches: { main: { primary: { size: 4, scaleToZero: 600 } } } },
    ['size: live', 'scaleToZero: manifest'],
  ],
])('whoMoved names the source of the difference when %s', (_what, base, head, expected) => {
  expect(movers(base, head)).toEqual(expected)
})

/** `protect: true`: which changes a plan refuses because of it, and which it still makes. */
import { expect, test } from 'vitest'
import type { Plan } from '../../src/model/index.ts'
import { type DeclaredDocument, desired, planOf, world } from './world.ts'

const live = world({
  main: { primary: { id: 'ep-main', size: 1 } },
  restored: { primary: { id: 'ep-restored' } },
  empty: {},
  guarded: { primary: { id: 'ep-guarded' }, protected: true },
})
const PROTECTED = '(`protect: true` at espalier.yaml:2): nothing on it may be'

const refusals = ({ changes }: Plan): readonly (readonly [kind: string, refused: string | undefined])[] =>
  changes.map(({ kind, refused }) => [kind, refused])

test.each<readonly [string, DeclaredDocument['branches'], readonly (readonly [string, string | undefined])[]]>([
  [
    'a delete on a protected branch',
    { main: { protect: true, primary: 'absent' } },
    [['delete', `branch \`main\` is protected ${PROTECTED} deleted`]],
  ],
  [
    'a move from a protected branch',
    { main: { protect: true, primary: 'absent' }, empty: { primary: { id: 'ep-main' } } },
    [['move', `branch \`main\` is protected ${PROTECTED} moved`]],
  ],
  [
    'a move to a protected branch',
    { main: { primary: 'absent' }, empty: { protect: true, primary: { id: 'ep-main' } } },
    [['move', `branch \`empty\` is protected ${PROTECTED} moved`]],
  ],
])('%s is rejected', (_what, branches, expected) => {
  const made = planOf({ branches: branches ?? {} }, live)
  expect(refusals(made)).toEqual(expected)
  expect(made.steps.every(({ refused }) => refused === expected[0]?.[1])).toBe(true)
})

test.each<readonly [string, DeclaredDocument['branches'], string]>([
  ['a create on a protected branch', { empty: { protect: true, primary: { size: 1 } } }, 'create'],
  ['an update on a protected branch', { main: { protect: true, primary: { size: 2 } } }, 'update'],
  [
    'a move from a branch that the service protects',
    { guarded: { primary: 'absent' }, empty: { primary: { id: 'ep-guarded' } } },
    'move',
  ],
])('%s is allowed', (_what, branches, kind) => {
  expect(refusals(planOf({ branches: branches ?? {} }, live))).toEqual([[kind, undefined]])
})

test('a branch stays protected by the base when the head removes `protect: true`', () => {
  const baseSafeguards = desired({ branches: { main: { protect: true, primary: {} } } })
  const made = planOf({ branches: { main: { primary: 'absent' } } }, live, { baseSafeguards })
  expect(refusals(made)).toEqual([
    ['delete', 'branch `main` is protected (the base manifest says `protect: true`): nothing on it may be deleted'],
  ])
})

/** `protect: true`: which changes a plan refuses because of it, and which it still makes. */
import { expect, test } from 'vitest'
import type { Plan } from '../../src/model/index.ts'
import { removedSafeguards } from '../../src/planner/index.ts'
import { type DeclaredDocument, desired, planOf, world } from './world.ts'

const live = world({
  main: { primary: { id: 'ep-main', size: 1 } },
  restored: { primary: { id: 'ep-restored' } },
  empty: {},
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
])('%s is allowed', (_what, branches, kind) => {
  expect(refusals(planOf({ branches: branches ?? {} }, live))).toEqual([[kind, undefined]])
})

test('a branch stays protected by the base, with a warning, when the head removes `protect: true`', () => {
  const baseSafeguards = desired({ branches: { main: { protect: true, primary: {} } } })
  const made = planOf({ branches: { main: { primary: 'absent' } } }, live, { baseSafeguards })
  expect(refusals(made)).toEqual([
    ['delete', 'branch `main` is protected (the base manifest says `protect: true`): nothing on it may be deleted'],
  ])
  expect(made.warnings).toMatchObject([
    { code: 'W_SAFEGUARD_REMOVED', message: expect.stringMatching(/^Branch `main` of .* is no longer protected\.$/) },
  ])
})

test.each<readonly [string, DeclaredDocument, DeclaredDocument, readonly string[]]>([
  [
    'a head without `protect: true`',
    { branches: { main: { protect: true } } },
    { branches: { main: {} } },
    ['main is no longer protected'],
  ],
  ['a head without the branch', { branches: { main: { protect: true } } }, {}, ['main is no longer protected']],
  [
    'a head that keeps `protect: true`',
    { branches: { main: { protect: true } } },
    { branches: { main: { protect: true } } },
    [],
  ],
  ['a head without `protect: true`, like the base,', { branches: { main: {} } }, { branches: { main: {} } }, []],
  [
    'a head that newly prunes',
    { branches: { main: {}, empty: {} } },
    { prune: true, branches: { main: {} } },
    ['main is now pruned'],
  ],
  [
    'a head that prunes, like the base,',
    { prune: true, branches: { main: {} } },
    { prune: true, branches: { main: {} } },
    [],
  ],
])('removedSafeguards lists exactly the policies that %s removes', (_what, base, head, expected) => {
  const removed = removedSafeguards(desired(base), desired(head), live).map(({ message }) =>
    message.replace(/^Branch `(.*)` of project `.*` (is .*)\.$/, '$1 $2'),
  )
  expect(removed).toEqual(expected)
})

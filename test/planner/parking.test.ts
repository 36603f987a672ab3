/** Primaries that swap branches: which one is parked, the order of the steps, and the required consents. */
import { expect, test } from 'vitest'
import type { Consent, Plan, Step } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { desired, type LiveBranch, planOf, world } from './world.ts'

const consentsOf = (made: Plan, kind: Step['kind']): readonly (readonly Consent[])[] =>
  made.steps.filter((step) => step.kind === kind).map(({ consents }) => consents)

const SWAP = { a: { primary: { id: 'ep-2' } }, b: { primary: { id: 'ep-1' } } }
const swapped = (first: LiveBranch['primary'], park: LiveBranch) =>
  world({ a: { primary: { id: 'ep-1', ...first } }, b: { primary: { id: 'ep-2' } }, park, far: {} })

test('a swap parks the idle primary', () => {
  for (const [state, parked] of [
    ['active', 'ep-2'],
    ['idle', 'ep-1'],
  ] as const) {
    const { steps } = planOf({ branches: SWAP, parkOn: 'park' }, swapped({ state }, {}))
    expect(steps.filter(({ reason }) => reason === 'PARKED').map(({ compute }) => compute.id)).toEqual([parked])
  }
})

test('a primary is parked only after the current primary of the parking branch has moved away', () => {
  const { steps } = planOf(
    { branches: { ...SWAP, far: { primary: { id: 'ep-3' } } }, parkOn: 'park' },
    swapped({}, { primary: { id: 'ep-3' } }),
  )
  const parking = steps.find(({ reason }) => reason === 'PARKED')
  expect(parking?.after).toEqual([steps.find(({ compute }) => compute.id === 'ep-3')?.id])
})

test('pruning a primary to free its branch requires the consents for the move to that branch', () => {
  const made = planOf(
    { branches: { a: { primary: { id: 'ep-2', size: 2 } }, b: {} }, prune: true },
    world({ a: { primary: { id: 'ep-1' } }, b: { primary: { id: 'ep-2' } } }),
  )
  expect(consentsOf(made, 'move')).toEqual([['move', 'restart']])
  expect(consentsOf(made, 'delete')).toEqual([['delete', 'move', 'restart']])
})

test('a primary is not pruned when the move to its branch is rejected', () => {
  const made = planOf(
    { branches: { a: { primary: { id: 'ep-2' } }, b: { protect: true } }, prune: true },
    world({ a: { primary: { id: 'ep-1' } }, b: { primary: { id: 'ep-2' } } }),
  )
  expect(made.changes.map(({ kind, refused }) => [kind, refused !== undefined])).toEqual([
    ['delete', true],
    ['move', true],
  ])
})

test('a replaced compute is deleted only after the branch of its successor is free', () => {
  const made = planOf(
    { branches: { a: { primary: { id: 'ep-r' } }, b: { primary: { id: 'ep-a' } } } },
    world({ a: { primary: { id: 'ep-a' } }, b: { replicas: [{ id: 'ep-r' }] } }),
  )
  expect(made.steps.map(({ kind, compute }) => [kind, compute.id])).toEqual([
    ['move', 'ep-a'],
    ['delete', 'ep-r'],
    ['create', undefined],
  ])
  expect(made.steps[1]?.after).toEqual([made.steps[0]?.id])
})

test('a swap needs the consents for all its moves before it parks a primary', () => {
  const { steps } = planOf(
    { branches: { a: { primary: { id: 'ep-2', size: 2 } }, b: { primary: { id: 'ep-1' } } }, parkOn: 'park' },
    swapped({ state: 'idle' }, {}),
  )
  expect(steps[0]).toMatchObject({ reason: 'PARKED', compute: { id: 'ep-1' }, consents: ['move', 'restart'] })
})

test('two swaps use the parking branch one after the other', () => {
  const live = world({
    a: { primary: { id: 'ep-1' } },
    b: { primary: { id: 'ep-2' } },
    c: { primary: { id: 'ep-3' } },
    d: { primary: { id: 'ep-4' } },
    park: {},
  })
  const branches = { ...SWAP, c: { primary: { id: 'ep-4' } }, d: { primary: { id: 'ep-3' } } }
  const { steps } = planOf({ branches, parkOn: 'park' }, live)
  expect(steps.map(({ compute, branch }) => `${compute.id} to ${branch.name}`)).toEqual([
    'ep-2 to park',
    'ep-1 to b',
    'ep-2 to a',
    'ep-4 to park',
    'ep-3 to d',
    'ep-4 to c',
  ])
  expect(steps[3]).toMatchObject({ after: [steps[2]?.id], inTurnAfter: [steps[2]?.id] })
})

test('a plan with two cycles and no parking branch reports both', () => {
  const live = world({
    a: { primary: { id: 'ep-1' } },
    b: { primary: { id: 'ep-2' } },
    c: { primary: { id: 'ep-3' } },
    d: { primary: { id: 'ep-4' } },
  })
  const branches = { ...SWAP, c: { primary: { id: 'ep-4' } }, d: { primary: { id: 'ep-3' } } }
  const result = plan(desired({ branches }), live)
  const errors = result.ok ? [] : result.diagnostics.filter(({ severity }) => severity === 'error')
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringContaining('ep-2 to `a`, ep-1 to `b`'),
    expect.stringContaining('ep-4 to `c`, ep-3 to `d`'),
  ])
})

test('ready steps run in the order create, harmless update, restart, move, delete', () => {
  const { steps } = planOf(
    {
      prune: true,
      branches: {
        main: { primary: { size: 2 }, replicas: { new: { size: 1 }, r: { size: 1, scaleToZero: 600 } } },
        from: {},
        to: { primary: { id: 'ep-from' } },
        old: { replicas: {} },
      },
    },
    world({
      main: { primary: {}, replicas: [{ name: 'r' }] },
      from: { primary: { id: 'ep-from' } },
      to: {},
      old: { replicas: [{ name: 'x' }] },
    }),
  )
  expect(steps.map(({ kind, impact }) => `${kind} ${impact}`)).toEqual([
    'create none',
    'update none',
    'update restart',
    'move move',
    'delete delete',
  ])
})

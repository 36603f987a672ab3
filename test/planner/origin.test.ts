import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Change } from '../../src/model/index.ts'
import { originOf } from '../../src/planner/index.ts'
import { type DeclaredDocument, planOf, world } from './world.ts'

const live = world({
  main: { primary: { id: 'ep-main', size: 1 } },
  a: { primary: { id: 'ep-a', size: 1 } },
  b: { primary: { id: 'ep-b', size: 1 } },
  c: { primary: { id: 'ep-c', size: 1 } },
})
const origin = (base: DeclaredDocument | undefined, head: DeclaredDocument) =>
  originOf(base === undefined ? undefined : planOf(base, live), planOf(head, live))
const named = (changes: readonly Change[]) =>
  changes.map(({ branch, attributes }) => `${branch.name}: ${attributes.map(({ path }) => path).join(', ')}`)

const drifted = { a: { primary: { size: 2 } }, b: { primary: { size: 2 } }, c: { primary: { size: 2 } } }

test('one edit next to three drifted computes yields one introduced change and three drift changes', () => {
  const { introduced, drift, settled } = origin(
    { branches: { ...drifted, main: { primary: { size: 1 } } } },
    { branches: { ...drifted, main: { primary: { size: 4 } } } },
  )
  expect(named(introduced)).toEqual(['main: size'])
  expect(named(drift)).toEqual(['a: size', 'b: size', 'c: size'])
  expect(settled).toEqual([])
})

test('an edit to a drifted compute is split into an introduced change and drift, each with its own impact', () => {
  const { introduced, drift } = origin(
    { branches: { a: { primary: { size: 2 } } } },
    { branches: { a: { primary: { size: 2, scaleToZero: 600 } } } },
  )
  expect(named(introduced)).toEqual(['a: scaleToZero'])
  expect(introduced[0]?.impact).toBe('none')
  expect(named(drift)).toEqual(['a: size'])
  expect(drift[0]?.impact).toBe('restart')
})

test('a new value for a drifted attribute is introduced', () => {
  const { introduced, drift } = origin(
    { branches: { a: { primary: { size: 2 } } } },
    { branches: { a: { primary: { size: 4 } } } },
  )
  expect([named(introduced), drift]).toEqual([['a: size'], []])
})

test('a move to a different branch than the one in the base is introduced', () => {
  const empty = world({ main: { primary: { id: 'ep-main' } }, a: {}, b: {} })
  const to = (name: string) => planOf({ branches: { [name]: { primary: { id: 'ep-main' } } } }, empty)
  expect(originOf(to('a'), to('b')).introduced).toHaveLength(1)
  expect(originOf(to('a'), to('a')).drift).toHaveLength(1)
})

test('a drifted attribute is drift even if the pull request undoes a move of its compute', () => {
  const empty = world({ main: { primary: { id: 'ep-main', size: 1 } }, a: {} })
  const on = (name: string) => planOf({ branches: { [name]: { primary: { id: 'ep-main', size: 2 } } } }, empty)
  const { introduced, drift } = originOf(on('a'), on('main'))
  expect([introduced, named(drift)]).toEqual([[], ['main: size']])
})

test('a pull request that adopts the live value resolves the drift', () => {
  const { introduced, drift, settled } = origin({ branches: drifted }, { branches: { a: { primary: { size: 1 } } } })
  expect([introduced, drift, named(settled)]).toEqual([[], [], ['a: size', 'b: size', 'c: size']])
})

test('a create is drift only if the base plans exactly the same create', () => {
  const base = { branches: { main: { primary: {}, replicas: { r: { size: 1 } } } }, prune: true }
  const same = origin(base, base)
  expect([named(same.introduced), same.drift.map(({ kind }) => kind)]).toEqual([[], ['create']])
  const edited = origin(base, { branches: { main: { primary: {}, replicas: { r: { size: 2 } } } } })
  expect([edited.introduced.map(({ kind }) => kind), edited.drift]).toEqual([['create'], []])
  const shorter = origin(base, { branches: { main: { primary: {}, replicas: { r: {} } } } })
  expect([shorter.introduced.map(({ kind }) => kind), shorter.drift]).toEqual([['create'], []])
})

test('without a base, every change counts as introduced; with a base that equals the head, none does', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('main', 'a', 'b', 'c'), fc.constantFrom(0.5, 1, 2, 4)), (sizes) => {
      const head = {
        branches: Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, { primary: { size } }])),
      }
      const plan = planOf(head, live)
      expect(originOf(undefined, plan)).toEqual({ introduced: plan.changes, drift: [], settled: [], released: [] })
      expect(originOf(plan, plan)).toEqual({ introduced: [], drift: plan.changes, settled: [], released: [] })
    }),
  )
})

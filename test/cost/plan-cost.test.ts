import { expect, test } from 'vitest'
import { formatCuHours, formatDifference, formatMoney, planCost } from '../../src/cost/index.ts'
import type { Observed } from '../../src/model/index.ts'
import { originOf } from '../../src/planner/index.ts'
import { type DeclaredDocument, type LiveBranch, PROJECT, planOf, world } from '../planner/world.ts'

/** A project on 21 November, with the usage of its branches. */
const used = (
  branches: Readonly<Record<string, LiveBranch & { readonly used?: readonly [number, number] }>>,
): Observed => {
  const observed = world(branches)
  return {
    ...observed,
    takenAt: '2026-11-21T00:00:00Z',
    projects: observed.projects.map((project) => ({
      ...project,
      settings: { period: { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' } },
      branches: project.branches.map((branch) => {
        const [active, cuHours] = branches[branch.name]?.used ?? []
        return active === undefined || cuHours === undefined
          ? branch
          : { ...branch, usage: { activeSeconds: active * 3600, computeSeconds: cuHours * 3600 } }
      }),
    })),
  }
}

const costOf = (declared: DeclaredDocument, observed: Observed, price?: number) =>
  planCost(planOf(declared, observed), observed, {
    priceOf: () => (price === undefined ? undefined : { cuHour: price, currency: 'USD' }),
  })

const live = used({
  main: { primary: { size: { min: 1, max: 4 } }, used: [120, 192] },
  staging: { primary: { size: 1 }, used: [120, 120] },
})

test('a resize has its effect, the expected one from its active hours, and only changes count in the sums', () => {
  const cost = costOf({ branches: { main: { primary: { size: { min: 2, max: 8 } } } } }, live)
  expect(cost.computes).toEqual([
    {
      change: `${PROJECT}/br-main/primary`,
      delta: { low: 0, expected: 73, high: 730 },
      basis: { kind: 'measured', activeHoursPerDay: 6, since: '2026-11-01T00:00:00.000Z', averageCu: 1.6, flags: [] },
      sentence: 'active 6 h a day since 1 November, 1.6 CU on average',
    },
  ])
  expect(cost.total).toEqual({ delta: { low: 0, expected: 73, high: 730, unknown: 0 } })
})

test('a new compute is estimated from its settings, a deleted one saves what it costs', () => {
  const cost = costOf(
    {
      branches: {
        main: { replicas: { reports: { size: 2, scaleToZero: 300 } } },
        staging: { primary: 'absent' },
      },
    },
    live,
  )
  expect(cost.computes.map(({ delta, sentence }) => [delta, sentence])).toEqual([
    [{ low: 0, expected: null, high: 1460 }, 'an estimate from its settings'],
    [{ low: -182.5, expected: -182.5, high: -182.5 }, 'active 6 h a day since 1 November, 1 CU on average'],
  ])
  expect(cost.total.delta).toEqual({ low: -182.5, expected: -182.5, high: 1277.5, unknown: 1 })
})

test("a new compute without a size uses the project's default size, or its cost is unknown", () => {
  const declared = { branches: { main: { replicas: { reports: {} } } } }
  expect(costOf(declared, live).computes[0]?.delta).toEqual({ low: null, expected: null, high: null })
  const withDefaults = {
    ...live,
    projects: live.projects.map((project) => ({
      ...project,
      settings: { ...project.settings, computeDefaults: { size: { min: 0.25, max: 2 }, scaleToZero: 300 } },
    })),
  }
  expect(costOf(declared, withDefaults).computes[0]?.delta).toEqual({ low: 0, expected: null, high: 1460 })
})

test('a refused change counts nowhere', () => {
  const cost = costOf({ branches: { staging: { protect: true, primary: 'absent' } } }, live)
  expect(cost).toMatchObject({ total: { delta: { low: 0, expected: 0, high: 0, unknown: 0 } }, projects: [] })
  expect(cost.computes).toEqual([])
})

test('a move costs nothing, and a resize on the way only the resize', () => {
  const observed = world({ main: { primary: { id: 'ep-moved', size: { min: 1, max: 4 } } }, fresh: {} })
  const moved = (size: number | { min: number; max: number }) =>
    costOf({ branches: { fresh: { primary: { id: 'ep-moved', size } } } }, observed).total.delta
  expect(moved({ min: 1, max: 4 })).toEqual({ low: 0, expected: 0, high: 0, unknown: 0 })
  expect(moved({ min: 1, max: 2 })).toMatchObject({ low: -1460, high: 0 })
})

test('what the manifests introduce and existing drift have separate sums', () => {
  const observed = world({ main: { primary: { size: 1, scaleToZero: -1 } }, staging: { primary: { size: 1 } } })
  const base = planOf({ branches: { main: { primary: { size: 2 } } } }, observed)
  const declared = {
    branches: { main: { primary: { size: 2, scaleToZero: 300 } }, staging: { primary: { size: 2 } } },
  }
  const plan = planOf(declared, observed)
  const { drift } = originOf(base, plan)
  expect(planCost(plan, observed, { drift })).toMatchObject({
    total: { delta: { low: -730, high: 1460 } },
    introduced: { delta: { low: -1460, high: 730 } },
    drift: { delta: { low: 730, expected: 730, high: 730, unknown: 0 } },
  })
})

test('amounts of money appear only if a price is given', () => {
  const declared = { branches: { main: { primary: { size: { min: 2, max: 8 } } } } }
  expect(costOf(declared, live).total.money).toBeUndefined()
  expect(costOf(declared, live, 0.222).total.money).toEqual({
    price: { cuHour: 0.222, currency: 'USD' },
    low: 0,
    expected: 16.21,
    high: 162.06,
  })
})

test('figures below 10 have one decimal place, and larger ones have none', () => {
  expect([0, 7.26, 9.94, 9.96, 292.4, 1460, null].map(formatCuHours)).toEqual([
    '0',
    '7.3',
    '9.9',
    '10',
    '292',
    '1,460',
    'unknown',
  ])
  expect([73, -109.5, 0.01, null].map(formatDifference)).toEqual(['+73', '−110', '±0', 'unknown'])
  expect([1204.5, -3, null].map(formatMoney)).toEqual(['1,204.50', '−3.00', 'unknown'])
})

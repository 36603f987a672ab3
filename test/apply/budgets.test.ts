import { describe, expect, test } from 'vitest'
import { checkBudgets } from '../../src/apply/index.ts'
import type { ChangeCost, CostRange, Plan } from '../../src/model/index.ts'
import { planOf, world } from '../planner/world.ts'

const live = world({ main: { primary: { id: 'ep-1', size: 1 } }, other: { primary: { id: 'ep-2' } } })
const resized = planOf({ branches: { main: { primary: { size: 2 } }, other: { primary: 'absent' } } }, live)
const withSummary = (summary: Partial<Plan['summary']>): Plan => ({
  ...resized,
  summary: { ...resized.summary, ...summary },
})

describe('checking budgets', () => {
  test('returns no messages for a plan within its budgets', () => {
    expect(checkBudgets(resized, { maxRestarts: 1, maxDeletes: 1, maxCuIncrease: 0 })).toEqual([])
  })

  test('returns no messages without budgets', () => {
    expect(checkBudgets(resized, {})).toEqual([])
  })

  test('returns one sentence for each exceeded budget', () => {
    expect(checkBudgets(resized, { maxRestarts: 0, maxDeletes: 0, maxCuIncrease: -1 })).toEqual([
      'The plan restarts 1 compute; --max-restarts allows 0.',
      'The plan deletes 1 compute; --max-deletes allows 0.',
      'The plan adds 0 CU; --max-cu-increase allows -1.',
    ])
  })

  test('counts possible restarts as restarts', () => {
    expect(checkBudgets(withSummary({ restarts: 1, mayRestart: 2 }), { maxRestarts: 2 })).toEqual([
      'The plan restarts 3 computes; --max-restarts allows 2.',
    ])
  })

  test('counts replacements as deletes', () => {
    expect(checkBudgets(withSummary({ delete: 1, replace: 1 }), { maxDeletes: 1 })).toEqual([
      'The plan deletes 2 computes; --max-deletes allows 1.',
    ])
  })
})

describe('a plan that creates computes', () => {
  const creating = (size: object) => planOf({ branches: { main: { replicas: { r: size } } } }, live)

  test('fails --max-cu-increase if a compute has no size', () => {
    expect(checkBudgets(creating({}), { maxCuIncrease: 9 })).toEqual([
      'The plan creates a compute on branch `main` without a size, so --max-cu-increase cannot be checked: set its size in the manifest.',
    ])
    expect(checkBudgets(creating({}), { maxDeletes: 0 })).toEqual([])
  })

  test('fails --max-cu-increase if a replacement has no size', () => {
    const plan = creating({})
    const changes = plan.changes.map((change) => ({ ...change, kind: 'replace' as const }))
    expect(checkBudgets({ ...plan, changes }, { maxCuIncrease: 9 })).toHaveLength(1)
  })

  test('is within --max-cu-increase if every size is known and the sum fits', () => {
    expect(checkBudgets(creating({ size: 2 }), { maxCuIncrease: 2 })).toEqual([])
    expect(checkBudgets(creating({ size: 2 }), { maxCuIncrease: 1.75 })).toEqual([
      'The plan adds 2 CU; --max-cu-increase allows 1.75.',
    ])
  })
})

describe('the CU-hours budget', () => {
  const branches = ['a', 'b', 'c', 'd', 'e']
  const observed = world(Object.fromEntries(branches.map((name) => [name, { primary: { id: `ep-${name}` } }])))
  const plan = planOf(
    { branches: Object.fromEntries(branches.map((name) => [name, { primary: { size: 2 } }])) },
    observed,
  )
  const range = (expected: number | null, high: number | null): CostRange => ({ low: 0, expected, high })

  /** The plan with these increases, one for each of its changes. */
  const costing = (...deltas: readonly CostRange[]): Plan => {
    const computes = deltas.map((delta, at) => ({ change: plan.changes[at]?.id, delta }) as ChangeCost)
    return { ...plan, cost: { computes } as unknown as NonNullable<Plan['cost']> }
  }

  test('compares the sum of expected increases, rounded for the message', () => {
    const plan = costing(range(100, 900), range(60.5, 900), range(-10, 0))
    expect(checkBudgets(plan, { maxCuHoursIncrease: 150.5 })).toEqual([])
    expect(checkBudgets(plan, { maxCuHoursIncrease: 150 })).toEqual([
      'The plan adds 150.5 CU-hours a month; --max-cu-hours-increase allows 150.',
    ])
    expect(checkBudgets(costing(range(1.236, 9)), { maxCuHoursIncrease: 1 })[0]).toContain('adds 1.24 CU-hours')
  })

  test('uses the upper bound of a compute whose expected increase is unknown, and names the compute', () => {
    const plan = costing(range(100, 900), range(null, 50))
    expect(checkBudgets(plan, { maxCuHoursIncrease: 150 })).toEqual([])
    expect(checkBudgets(plan, { maxCuHoursIncrease: 149 })).toEqual([
      'The plan may add up to 150 CU-hours a month (unknown: primary on b); --max-cu-hours-increase allows 149.',
    ])
  })

  test('names at most three computes', () => {
    const unknown = range(null, 1)
    const message = (count: number) =>
      checkBudgets(costing(...Array(count).fill(unknown)), { maxCuHoursIncrease: 0 })[0]
    expect(message(3)).toContain('(unknown: primary on a, primary on b, primary on c);')
    expect(message(5)).toContain('(unknown: primary on a, primary on b, primary on c and 2 more);')
  })

  test.each([
    ['the plan has no cost estimate', plan],
    ['one compute has neither an expected value nor an upper bound', costing(range(1, 1), range(null, null))],
  ])('cannot be checked if %s', (_why, unknown) => {
    expect(checkBudgets(unknown, { maxCuHoursIncrease: 1_000_000 })).toEqual([
      'It is not known how many CU-hours the plan adds, so --max-cu-hours-increase cannot be checked.',
    ])
    expect(checkBudgets(unknown, { maxRestarts: 9 })).toEqual([])
  })
})

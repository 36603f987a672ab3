import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Costed,
  type Estimate,
  estimateCreate,
  estimateDelete,
  estimateUpdate,
  hoursToCome,
  usageOfBranch,
} from '../../src/cost/index.ts'
import {
  addCosts,
  type ComputeAttributes,
  type CostRange,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  roundCost,
  settingsOfCompute,
} from '../../src/model/index.ts'
import {
  branch,
  compute,
  FIXED_1,
  hoursAgo,
  NEVER,
  NOW,
  operations,
  project,
  RANGE,
  range,
  START,
  same,
} from './worlds.ts'

interface World {
  readonly of?: ObservedProject
  readonly on?: ObservedBranch
  readonly computes: readonly ObservedCompute[]
  readonly now?: number
}

const costed = ({ of = project(), on = branch(), computes, now = NOW }: World, index = 0): Costed => {
  const one = computes[index]
  if (one === undefined) throw new Error('there is no such compute')
  const usage = usageOfBranch(of, on, computes, now).get(one.id)
  return {
    settings: settingsOfCompute(one.attributes),
    ...(usage === undefined ? {} : { usage }),
    hours: hoursToCome(on.expiresAt, now),
  }
}

const update = (world: World, attributes: ComputeAttributes = {}, { index = 0, isMoved = false } = {}): Estimate => {
  const before = costed(world, index)
  const after = { ...world.computes[index]?.attributes, ...attributes }
  return estimateUpdate(before, { settings: settingsOfCompute(after), hours: before.hours }, isMoved)
}

const create = (attributes: ComputeAttributes): Estimate =>
  estimateCreate({ settings: settingsOfCompute(attributes), hours: 730 })

const fixed = (cu: number): ComputeAttributes => ({ size: { min: cu, max: cu } })
const sized = (min: number, max: number): ComputeAttributes => ({ size: { min, max } })
const one = (attributes: ComputeAttributes, hours?: readonly [number, number], more?: Partial<World>): World => ({
  computes: [compute(attributes)],
  on: branch(hours),
  ...more,
})
const suspended = (times: number) => ({
  of: project({ operationsSince: START, pastOperations: operations('ep-one', 120, times) }),
})
const fixed1 = one(FIXED_1, [120, 120])
const autoscaling = one(RANGE, [120, 192])
const two = (first: Partial<ObservedCompute>, second: Partial<ObservedCompute>) => [
  compute({}, first),
  compute({}, { id: 'ep-two', type: 'read_only', ...second }),
]
const primaryAwake = {
  computes: two(
    { attributes: { ...fixed(1), scaleToZero: NEVER }, state: 'active' },
    { attributes: { ...fixed(2), scaleToZero: 300 } },
  ),
  on: branch([528, 576]),
}
const shared = {
  computes: two({ attributes: RANGE }, { attributes: { ...fixed(0.5), scaleToZero: 300 } }),
  on: branch([200, 300]),
  of: project({
    operationsSince: START,
    pastOperations: [...operations('ep-one', 120, 10), ...operations('ep-two', 48, 8)],
  }),
}
const period = (start: string) => ({ of: project({ settings: { period: { start, end: '2026-12-01T00:00:00Z' } } }) })
const recent = period(hoursAgo(10))
const young = (expiresAt?: string): World => ({
  computes: [compute({ ...fixed(0.5), scaleToZero: 300 }, { createdAt: hoursAgo(48) })],
  on: branch([12, 6], { createdAt: hoursAgo(48), ...(expiresAt === undefined ? {} : { expiresAt }) }),
})
const successor: World = { computes: [compute(FIXED_1, { createdAt: hoursAgo(48) })], on: branch([24, 24]) }
const uncounted: World = {
  computes: [compute(FIXED_1, { state: 'active', startedAt: '2026-11-10T00:00:00Z' })],
  on: branch([0, 0]),
}

// The examples of docs/cost.md, calculated by hand.
const WORLDS: readonly (readonly [string, Estimate, CostRange, CostRange, CostRange, (readonly string[])?])[] = [
  ['1: fixed, renamed', update(fixed1), same(182.5), same(182.5), same(0)],
  [
    '1: fixed, resized on the 10th',
    update(one({ ...FIXED_1, ...fixed(4) }, [120, 300])),
    same(730),
    same(730),
    same(0),
  ],
  ['2: fixed 1 → 2', update(fixed1, fixed(2)), same(182.5), same(365), same(182.5)],
  [
    '3: range → 2–8',
    update(autoscaling, sized(2, 8)),
    range(182.5, 292, 730),
    range(365, 365, 1460),
    range(73, 73, 1168),
  ],
  [
    '4: range → 0.5–1',
    update(autoscaling, sized(0.5, 1)),
    range(182.5, 292, 730),
    range(91.25, 182.5, 182.5),
    range(-200.75, -109.5, -109.5),
    ['over-new-maximum'],
  ],
  ['5: range → fixed 2', update(autoscaling, fixed(2)), range(182.5, 292, 730), same(365), same(73)],
  [
    '6: fixed 4 → 1–4, never sleeps',
    update(one({ ...fixed(4), scaleToZero: NEVER }, [480, 1920]), sized(1, 4)),
    same(2920),
    range(730, 2920, 2920),
    range(-2190, 0, 0),
    ['was-fixed'],
  ],
  [
    '6: fixed 8 → 9, never sleeps, no history',
    update(one({ ...fixed(8), scaleToZero: NEVER }), fixed(9)),
    same(5840),
    same(6570),
    same(730),
  ],
  [
    '6: fixed 1 → 1–4, never sleeps, no history',
    update(one({ ...fixed(1), scaleToZero: NEVER }), sized(1, 4)),
    same(730),
    range(730, null, 2920),
    range(0, null, 2190),
  ],
  [
    '7: never → 5m',
    update(one({ ...fixed(1), scaleToZero: NEVER }, [480, 480]), { scaleToZero: 300 }),
    same(730),
    range(0, null, 730),
    range(-730, null, 0),
  ],
  [
    '8: 5m → never',
    update(autoscaling, { scaleToZero: NEVER }),
    range(182.5, 292, 730),
    range(730, 839.5, 1277.5),
    range(438, 547.5, 985.5),
  ],
  [
    '9: 5m → 35m, 48 suspends',
    update({ ...fixed1, ...suspended(48) }, { scaleToZero: 2100 }),
    same(182.5),
    range(182.5, 219, 219),
    range(0, 36.5, 36.5),
  ],
  [
    '10: 35m → 5m, 48 suspends',
    update({ ...one({ ...fixed(1), scaleToZero: 2100 }, [120, 120]), ...suspended(48) }, { scaleToZero: 300 }),
    same(182.5),
    range(0, 146, 146),
    range(-182.5, -36.5, -36.5),
  ],
  [
    '9: 5m → 35m, number of suspends unknown',
    update(fixed1, { scaleToZero: 2100 }),
    same(182.5),
    range(182.5, 182.5, 730),
    range(0, 0, 547.5),
    ['timeout-not-counted'],
  ],
  ['11: create', create({ ...fixed(2), scaleToZero: 300 }), same(0), range(0, null, 1460), range(0, null, 1460)],
  ['11: create, never sleeps', create({ ...fixed(2), scaleToZero: NEVER }), same(0), same(1460), same(1460)],
  [
    '12: create with the defaults of the project',
    create({ ...sized(0.25, 2), scaleToZero: 300 }),
    same(0),
    range(0, null, 1460),
    range(0, null, 1460),
  ],
  ['12: create, defaults unknown', create({}), same(0), range(null, null, null), range(null, null, null)],
  ['13: delete', estimateDelete(costed(fixed1)), same(182.5), same(0), same(-182.5)],
  ['13: disable', update(fixed1, { disabled: true }), same(182.5), same(0), same(-182.5)],
  [
    '13: enable again',
    update(one({ ...FIXED_1, disabled: true }, [120, 120]), { disabled: false }),
    same(0),
    range(0, null, 730),
    range(0, null, 730),
  ],
  [
    '14: move',
    update(autoscaling, {}, { isMoved: true }),
    range(182.5, 292, 730),
    range(182.5, 292, 730),
    range(-109.5, 0, 438),
  ],
  ['15: primary never sleeps', update(primaryAwake), same(730), same(730), same(0), ['split-evenly']],
  [
    '15: replica of a primary that never sleeps',
    update(primaryAwake, {}, { index: 1 }),
    same(146),
    same(146),
    same(0),
    ['split-evenly'],
  ],
  ['16: primary', update(shared), range(182.5, 346.75, 730), range(182.5, 346.75, 730), same(0)],
  ['16: replica', update(shared, {}, { index: 1 }), same(36.5), same(36.5), same(0)],
  [
    '17: period 10 h old',
    update(one(FIXED_1, [3, 3], recent), fixed(2)),
    range(0, null, 730),
    range(0, null, 1460),
    range(0, null, 730),
  ],
  [
    '17: period 10 h old, never sleeps',
    update(one({ ...fixed(1), scaleToZero: NEVER }, [3, 3], recent), fixed(2)),
    same(730),
    same(1460),
    same(730),
  ],
  ['18: branch 48 h old', update(young()), same(91.25), same(91.25), same(0), ['short-history']],
  ['18: expires in 24 h', update(young('2026-11-22T00:00:00Z')), same(3), same(3), same(0), ['short-history']],
  ['19: compute 48 h old on an old branch', update(successor), range(36.5, 365, 365), range(36.5, 365, 365), same(0)],
  ['20: unused', update(one(FIXED_1, [0, 0])), same(0), same(0), same(0)],
  ['20: active, but not counted', update(uncounted), range(0, null, 730), range(0, null, 730), same(0)],
  [
    '21: outside the period',
    update({ ...fixed1, now: Date.parse('2026-12-01T01:00:00Z') }),
    range(0, null, 730),
    range(0, null, 730),
    same(0),
  ],
  [
    '21: counters not reset yet',
    update({ ...fixed1, ...period('2026-11-22T00:00:00Z') }),
    range(0, null, 730),
    range(0, null, 730),
    same(0),
  ],
  [
    '21: more active hours than the period has',
    update(one(FIXED_1, [500, 500])),
    same(730),
    same(730),
    same(0),
    ['clamped'],
  ],
]

describe('the examples of docs/cost.md', () => {
  const examples = WORLDS.map(([name, ...rest]) => [name, rest] as const)
  test.each(examples)('the estimate matches example %s', (_, [estimate, before, after, delta, flags = []]) => {
    expect(roundCost(estimate.before)).toEqual(before)
    expect(roundCost(estimate.after)).toEqual(after)
    expect(roundCost(estimate.delta)).toEqual(delta)
    expect(estimate.flags).toEqual(flags)
  })
})

test('a compute created in this period is measured by its operations if they go back to its creation', () => {
  const of = project({
    operationsSince: START,
    pastOperations: operations('ep-one', 12, 1).map((one) => ({
      ...one,
      at: one.action === 'start_compute' ? hoursAgo(24) : hoursAgo(12),
    })),
  })
  expect(roundCost(update({ ...successor, of }).before)).toEqual(same(182.5))
})

test('a sum with an unknown bound has no bound on that side, and counts the parts that have no expected value', () => {
  const sum = addCosts([same(10), range(0, null, 730), range(null, null, null)])
  expect(sum).toEqual({ low: null, expected: 10, high: null, unknown: 2 })
})

test('costs are rounded to cents, with ties away from zero', () => {
  expect(roundCost(range(1.005, -1.005, -0.001))).toEqual(range(1.01, -1.01, 0))
})

const anySize = fc.constantFrom(0.25, 0.5, 1, 2, 4, 8, 16)
const anyAttributes = fc.oneof(
  fc.record({
    size: fc.tuple(anySize, anySize).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) })),
    scaleToZero: fc.constantFrom(NEVER, 0, 60, 300, 3600),
    disabled: fc.boolean(),
  }),
  fc.record({ scaleToZero: fc.constantFrom(NEVER, 300), disabled: fc.constant(false) }),
)
const anyWorld = fc.record({
  computes: fc
    .array(
      fc.record({
        attributes: anyAttributes,
        state: fc.constantFrom('active', 'idle'),
        createdAt: fc.constantFrom('2026-06-01T00:00:00Z', hoursAgo(100), hoursAgo(1)),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((list) => list.map((more, index) => compute(more.attributes, { ...more, id: `ep-${index}` }))),
  hours: fc.option(fc.tuple(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 20_000 })), {
    nil: undefined,
  }),
  suspends: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
})

const isOrdered = ({ low, expected, high }: CostRange): boolean =>
  (low ?? Number.NEGATIVE_INFINITY) <= (expected ?? low ?? Number.NEGATIVE_INFINITY) + 1e-9 &&
  (expected ?? low ?? Number.NEGATIVE_INFINITY) <= (high ?? Number.POSITIVE_INFINITY) + 1e-9

test('for any usage, low ≤ expected ≤ high, no cost is negative, and an unchanged compute has a difference of zero', () => {
  fc.assert(
    fc.property(anyWorld, anyAttributes, fc.boolean(), ({ computes, hours, suspends }, after, isMoved) => {
      const of = project(
        suspends === undefined ? {} : { operationsSince: START, pastOperations: operations('ep-0', 100, suspends) },
      )
      const world: World = { computes, on: branch(hours), of }
      const changed = update(world, after, { isMoved })
      for (const costs of [changed.before, changed.after, changed.delta]) expect(isOrdered(costs)).toBe(true)
      for (const costs of [changed.before, changed.after]) expect(costs.low ?? 0).toBeGreaterThanOrEqual(0)
      expect(update(world).delta).toEqual(same(0))
    }),
  )
})

test('the computes of a branch never have more active hours in total than the branch', () => {
  fc.assert(
    fc.property(anyWorld, ({ computes, hours = [100, 100] as [number, number] }) => {
      const usages = [...usageOfBranch(project(), branch(hours), computes, NOW).values()]
      const active = usages.reduce((total, usage) => total + usage.share.low * usage.hours, 0)
      expect(active).toBeLessThanOrEqual(hours[0] + 1e-6)
    }),
  )
})

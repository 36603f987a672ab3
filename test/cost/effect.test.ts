import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { costEffect, liveCosts, type Use, usageOfBranch } from '../../src/cost/index.ts'
import {
  addCosts,
  type ComputeAttributes,
  type ComputeSettings,
  type CostRange,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  roundCost,
  settingsOfCompute,
} from '../../src/model/index.ts'
import { costWords } from '../../src/report/words/cost.ts'
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

const H = 730

const settings = (min: number, max: number, scaleToZero = 300): ComputeSettings => ({
  size: { min, max },
  scaleToZero,
  disabled: false,
})
const DISABLED = { ...settings(2, 2), disabled: true }

/** With `active`, the hours a month with activity are known. */
const use = (active?: number, averageCu = 1, suspends?: number): Use => ({
  hours: H,
  ...(active !== undefined && {
    usage: {
      since: 0,
      hours: 480,
      share: { low: active / H, expected: active / H, high: active / H },
      averageCu,
      flags: [],
      ...(suspends !== undefined && { suspends }),
    },
  }),
})

const six = <T>(one: T): readonly T[] => Array.from({ length: 6 }, () => one)

type Pair = readonly [ComputeSettings | undefined, ComputeSettings | undefined]

// The examples of docs/explanation/cost.md, and two sums: bounds without history, bounds with 220 active hours a month, and the words without
// history.
test.each<readonly [string, readonly Pair[], readonly [number, number], readonly [number, number] | undefined, string]>(
  [
    ['1–8 → 1–4, sleeps', [[settings(1, 8), settings(1, 4)]], [-2920, 0], [-880, 0], 'not more than before'],
    ['six × (1–6 → 1–7), sleeps', six([settings(1, 6), settings(1, 7)]), [0, 4380], [0, 1320], 'at most +4,380'],
    ['1 → 0.5, never sleeps', [[settings(1, 1, NEVER), settings(0.5, 0.5, NEVER)]], [-365, -365], [-365, -365], '−365'],
    [
      '1 never → 0.25–4 sleeping',
      [[settings(1, 1, NEVER), settings(0.25, 4)]],
      [-730, 2190],
      [-730, 2190],
      'between −730 and +2,190',
    ],
    ['1 sleeps → 1 never', [[settings(1, 1), settings(1, 1, NEVER)]], [0, 730], [510, 510], 'at most +730'],
    [
      'quickstart',
      [
        [settings(1, 1, NEVER), settings(1, 4, NEVER)],
        [settings(0.25, 0.25), settings(1, 1)],
        [undefined, settings(1, 1)],
        [settings(0.5, 0.5), settings(0.5, 0.5, 600)],
      ],
      [0, 3832.5],
      undefined,
      'at most +3,833',
    ],
    ['2 sleeps → disabled', [[settings(2, 2), DISABLED]], [-1460, 0], [-440, -440], 'not more than before'],
    ['create 1–4 sleeping', [[undefined, settings(1, 4)]], [0, 2920], [220, 880], 'at most +2,920'],
    ['delete 1–4 never', [[settings(1, 4, NEVER), undefined]], [-2920, -730], [-2920, -730], 'at least −730'],
  ],
)('%s', (_, pairs, [low, high], known, words) => {
  const sum = (how: Use) =>
    roundCost(
      addCosts(
        pairs.map(([before, after]) =>
          costEffect(before, after, { ...how, isNeverIdle: before?.scaleToZero === NEVER }),
        ),
      ),
    )
  expect(sum(use())).toMatchObject({ low, high })
  if (known !== undefined) expect(sum(use(220))).toMatchObject({ low: known[0], high: known[1] })
  expect(costWords({ delta: sum(use()) }).replace(' CU-hours a month', '')).toBe(words)
})

describe('with history, the expected cost is that of the average load', () => {
  test.each<readonly [string, ...Pair, Use, CostRange]>([
    ['2–8 needs at least 2', settings(1, 4), settings(2, 8), use(182.5, 1.6), range(0, 73, 730)],
    ['0.5–1 needs at most 1', settings(1, 4), settings(0.5, 1), use(182.5, 1.6), range(-547.5, -109.5, 0)],
    ['the same size', settings(1, 4), settings(1, 4, 0), use(182.5, 1.6), same(0)],
    ['never: idle hours at the minimum', settings(1, 4), settings(1, 4, NEVER), use(182.5, 1.6), same(547.5)],
    ['5m → 35m, 48 suspends', settings(1, 1), settings(1, 1, 2100), use(182.5, 1, 48), range(0, 36.5, 547.5)],
    ['35m → 5m, 48 suspends', settings(1, 1, 2100), settings(1, 1), use(182.5, 1, 48), range(-182.5, -36.5, 0)],
    ['5m → 35m, suspends unknown', settings(1, 1), settings(1, 1, 2100), use(182.5, 1), range(0, null, 547.5)],
    [
      'never → 5m: nothing shows when it had nothing to do',
      settings(1, 1, NEVER),
      settings(1, 1),
      { ...use(730), isNeverIdle: true },
      range(-730, null, 0),
    ],
    [
      '1–4 → 1–2, never sleeps',
      settings(1, 4, NEVER),
      settings(1, 2, NEVER),
      { ...use(730, 3), isNeverIdle: true },
      range(-1460, -730, 0),
    ],
    ['an unknown size', undefined, { ...settings(1, 1), size: undefined }, use(), range(null, null, null)],
  ])('%s', (_, before, after, how, expected) => {
    expect(roundCost(costEffect(before, after, how))).toEqual(expected)
  })
})

const CU = [0.25, 0.5, 1, 2, 4, 8, 16]
const RANGES = CU.flatMap((min) => CU.flatMap((max) => (max >= min && max - min <= 8 ? [[min, max] as const] : [])))
const clip = (load: number, [min, max]: readonly [number, number]): number => Math.min(max, Math.max(min, load))

test('the bounds are those of a brute force over loads and active hours, for all sizes and sleep settings', () => {
  for (const from of RANGES) {
    for (const to of RANGES) {
      for (const [sleptBefore, sleepsAfter] of [
        [true, true],
        [true, false],
        [false, true],
        [false, false],
      ]) {
        const cost = (size: readonly [number, number], sleeps = true, h: number, load: number): number =>
          h * clip(load, size) + (sleeps ? 0 : (H - h) * size[0])
        const brute = [0, 146, 365, H].flatMap((h) =>
          [0, ...CU, 3, 6, 99].map((load) => cost(to, sleepsAfter, h, load) - cost(from, sleptBefore, h, load)),
        )
        const { low, high } = costEffect(
          settings(...from, sleptBefore ? 300 : NEVER),
          settings(...to, sleepsAfter ? 300 : NEVER),
          use(),
        )
        expect(low).toBeCloseTo(Math.min(...brute))
        expect(high).toBeCloseTo(Math.max(...brute))
        if (sleptBefore === sleepsAfter && to[0] <= from[0] && to[1] <= from[1]) expect(high).toBeLessThanOrEqual(0)
      }
    }
  }
})

test('a different timeout moves the active hours between those with load and all', () => {
  const timeout = fc.constantFrom(60, 300, 3600)
  const size = fc.constantFrom(...RANGES)
  const unit = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(size, size, timeout, timeout, unit, unit, unit, (from, to, is, becomes, share, more, load) => {
      const effect = costEffect(settings(...from, is), settings(...to, becomes), use())
      const h = share * H
      const moved = becomes > is ? more * (H - h) : becomes < is ? -more * h : 0
      const actual = h * (clip(16 * load, to) - clip(16 * load, from)) + moved * to[0]
      expect(actual).toBeGreaterThanOrEqual((effect.low ?? 0) - 1e-6)
      expect(actual).toBeLessThanOrEqual((effect.high ?? 0) + 1e-6)
    }),
  )
})

interface World {
  readonly of?: ObservedProject
  readonly on?: ObservedBranch
  readonly computes: readonly ObservedCompute[]
  readonly now?: number
}

const costOf = ({ of = project(), on = branch(), computes, now = NOW }: World, index = 0) => {
  const one = liveCosts({ ...of, branches: [on], computes }, now)[index]
  if (one === undefined) throw new Error('there is no such compute')
  return { cost: roundCost(one.cost), flags: one.usage?.flags ?? [] }
}

const fixed = (cu: number): ComputeAttributes => ({ size: { min: cu, max: cu } })
const one = (attributes: ComputeAttributes, hours?: readonly [number, number], more?: Partial<World>): World => ({
  computes: [compute(attributes)],
  on: branch(hours),
  ...more,
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
const primaryTooLarge = {
  ...primaryAwake,
  computes: two({ attributes: { ...fixed(20), scaleToZero: 300 }, state: 'active' }, primaryAwake.computes[1] ?? {}),
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

const WORLDS: readonly (readonly [string, CostRange, World, (readonly string[])?, number?])[] = [
  ['fixed', same(182.5), fixed1],
  ['fixed, resized on the 10th', same(730), one({ ...FIXED_1, ...fixed(4) }, [120, 300])],
  ['range', range(182.5, 292, 730), autoscaling],
  ['never sleeps, no history', range(730, null, 2920), one({ ...RANGE, scaleToZero: NEVER })],
  ['never sleeps', range(730, 1168, 2920), one({ ...RANGE, scaleToZero: NEVER }, [480, 768])],
  ['disabled', same(0), one({ ...FIXED_1, disabled: true }, [120, 120])],
  ['primary never sleeps', same(730), primaryAwake, ['split-evenly']],
  ['replica of a primary that never sleeps', same(146), primaryAwake, ['split-evenly'], 1],
  ['replica of a primary that is too large to sleep', same(146), primaryTooLarge, ['split-evenly'], 1],
  ['primary, measured', range(182.5, 346.75, 730), shared],
  ['replica, measured', same(36.5), shared, [], 1],
  ['period 10 h old', range(0, null, 730), one(FIXED_1, [3, 3], recent)],
  ['branch 48 h old', same(91.25), young(), ['short-history']],
  ['expires in 24 h', same(3), young('2026-11-22T00:00:00Z'), ['short-history']],
  ['compute 48 h old on an old branch', range(36.5, 365, 365), successor, ['short-history']],
  [
    'compute 48 h old, measured since its creation',
    same(182.5),
    {
      ...successor,
      of: project({
        operationsSince: START,
        pastOperations: operations('ep-one', 12, 1).map((past) => ({
          ...past,
          at: past.action === 'start_compute' ? hoursAgo(24) : hoursAgo(12),
        })),
      }),
    },
    ['short-history'],
  ],
  ['unused', same(0), one(FIXED_1, [0, 0])],
  ['active, but not counted', range(0, null, 730), uncounted],
  ['outside the period', range(0, null, 730), { ...fixed1, now: Date.parse('2026-12-01T01:00:00Z') }],
  ['counters not reset yet', range(0, null, 730), { ...fixed1, ...period('2026-11-22T00:00:00Z') }],
  ['more active hours than the period has', same(730), one(FIXED_1, [500, 500]), ['clamped']],
]

test.each(WORLDS.map(([name, ...rest]) => [name, rest] as const))(
  'the current cost: %s',
  (_, [cost, world, flags = [], index = 0]) => {
    expect(costOf(world, index)).toEqual({ cost, flags })
  },
)

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

test('for any usage, low ≤ expected ≤ high, no cost is negative, and an unchanged compute has no effect', () => {
  fc.assert(
    fc.property(anyWorld, anyAttributes, ({ computes, hours, suspends }, attributes) => {
      const of = project(
        suspends === undefined ? {} : { operationsSince: START, pastOperations: operations('ep-0', 100, suspends) },
      )
      const live = liveCosts({ ...of, branches: [branch(hours)], computes }, NOW)
      for (const one of live) {
        expect(isOrdered(one.cost)).toBe(true)
        expect(one.cost.low ?? 0).toBeGreaterThanOrEqual(0)
        expect(costEffect(one.settings, one.settings, one)).toEqual(same(0))
        expect(isOrdered(costEffect(one.settings, settingsOfCompute({ ...attributes }), one))).toBe(true)
      }
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

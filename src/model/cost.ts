/** Costs in CU-hours per month (docs/explanation/cost.md). `null` means unknown, which is different from 0. */

/** A month has 730 hours: a twelfth of a year. */
export const HOURS_PER_MONTH = 730

/** `low` and `high` are certain bounds, `expected` is estimated from measurements. */
export interface CostRange {
  readonly low: number | null
  readonly expected: number | null
  readonly high: number | null
}

export interface CostTotal extends CostRange {
  /** Number of computes without an expected cost. They count only in `low` and `high`. */
  readonly unknown: number
}

/** Reasons why the measured usage may be inaccurate. */
export const COST_FLAGS = ['short-history', 'clamped', 'split-evenly'] as const

export type CostFlag = (typeof COST_FLAGS)[number]

export interface CostBasis {
  /** `settings`: no measurement was needed, because the compute is new or never idle. */
  readonly kind: 'measured' | 'settings' | 'unknown'
  readonly activeHoursPerDay: number | null
  /** When the measurement started (ISO 8601). */
  readonly since: string | null
  /** Average size while active. */
  readonly averageCu: number | null
  readonly flags: readonly CostFlag[]
}

export interface ChangeCost {
  /** The id of the change. */
  readonly change: string
  /** How much more the compute costs after the change, at the same load in the same active hours. */
  readonly delta: CostRange
  readonly basis: CostBasis
  /** The basis in words: `active 6 h a day since 1 November, 1.6 CU on average`. */
  readonly sentence: string
}

export interface Price {
  /** Price of one CU-hour. */
  readonly cuHour: number
  /** ISO 4217: `USD`. */
  readonly currency: string
}

/** Amounts per month. */
export interface Money extends CostRange {
  readonly price: Price
}

/** The sum of several effects. Their bounds are added separately. */
export interface CostSummary {
  readonly delta: CostTotal
  /** `delta` in money. Absent if no price is known, and in totals of computes with different prices. */
  readonly money?: Money
}

export interface ProjectCost extends CostSummary {
  readonly project: string
}

export interface PlanCost {
  /** Version of the cost model, which changes if the same plan would get different numbers. */
  readonly model: '2'
  readonly hoursPerMonth: typeof HOURS_PER_MONTH
  readonly total: CostSummary
  /** The part that the manifests introduce. Absent without a base, as is `drift`. */
  readonly introduced?: CostSummary
  /** The part that corrects existing drift. */
  readonly drift?: CostSummary
  /** Projects with changes. */
  readonly projects: readonly ProjectCost[]
  /** Effects of the changes that are made, in the plan's order. */
  readonly computes: readonly ChangeCost[]
}

// Sums of costs. An unknown bound makes the sum unknown; for `expected`, unknown parts are left out and counted.

export const addCosts = (ranges: readonly (CostRange & { readonly unknown?: number })[]): CostTotal => {
  const all = (pick: (range: CostRange) => number | null): number | null =>
    ranges.reduce<number | null>((total, range) => plus(total, pick(range)), 0)
  return {
    low: all(({ low }) => low),
    expected:
      ranges.length > 0 && ranges.every(({ expected }) => expected === null)
        ? null
        : ranges.reduce((total, { expected }) => total + (expected ?? 0), 0),
    high: all(({ high }) => high),
    unknown: ranges.reduce((total, { expected, unknown }) => total + (unknown ?? Number(expected === null)), 0),
  }
}

const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)

/** Rounds to 2 decimals, half away from zero. */
export const roundCost = <T extends CostRange>(range: T): T => ({
  ...range,
  low: toCents(range.low),
  expected: toCents(range.expected),
  high: toCents(range.high),
})

export const toCents = <T extends number | null>(value: T): T => {
  if (value === null) return value
  // 1.005 is stored as slightly less than 1.005. The factor corrects such errors, and adds far less than a cent.
  const cents = Math.round(Math.abs(value) * 100 * (1 + 1e-12))
  return (cents === 0 ? 0 : (Math.sign(value) * cents) / 100) as T
}

/** @param price without it, no amount of money is known. */
export const costSummary = (delta: CostTotal, price: Price | undefined): CostSummary => {
  if (price === undefined) return { delta: roundCost(delta) }
  const [low, expected, high] = [
    amountOf(delta.low, price),
    amountOf(delta.expected, price),
    amountOf(delta.high, price),
  ]
  return { delta: roundCost(delta), money: { price, low, expected, high } }
}

export const amountOf = (cuHours: number | null, { cuHour }: Price): number | null =>
  cuHours === null ? null : toCents(cuHours * cuHour)

/**
 * What counts where a single number is needed, as in a limit: the expected cost, or the upper bound if a part of the
 * expected cost is unknown. `null` if there is no bound.
 */
export const likelyOf = ({ expected, high, unknown }: CostTotal): number | null => (unknown === 0 ? expected : high)

/** Does not add amounts at different prices. */
export const totalCost = (parts: readonly CostSummary[]): CostSummary =>
  costSummary(addCosts(parts.map(({ delta }) => delta)), commonPrice(parts.map(({ money }) => money?.price)))

/** The price, if it is the same for all. */
export const commonPrice = ([first, ...others]: readonly (Price | undefined)[]): Price | undefined =>
  others.every((other) => other?.cuHour === first?.cuHour && other?.currency === first?.currency) ? first : undefined

/** Sums of costs. An unknown bound makes the sum unknown; for `expected`, unknown parts are left out and counted. */
import type { CostRange, CostSummary, CostTotal, Money, Price } from './cost.ts'

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

/** @param price without it, no amounts of money are shown. */
export const costSummary = (
  { before, after, delta }: Pick<CostSummary, 'before' | 'after' | 'delta'>,
  price?: Price,
): CostSummary => ({
  before: roundCost(before),
  after: roundCost(after),
  delta: roundCost(delta),
  ...(price === undefined ? {} : { money: moneyOf(price, before, after, delta) }),
})

const moneyOf = (price: Price, before: CostTotal, after: CostTotal, delta: CostTotal): Money => ({
  price,
  before: amountOf(before.expected, price),
  after: amountOf(after.expected, price),
  delta: amountOf(delta.expected, price),
})

export const amountOf = (cuHours: number | null, { cuHour }: Price): number | null =>
  cuHours === null ? null : toCents(cuHours * cuHour)

/** The expected cost. If a part of it is unknown, the maximum. */
export const likelyOf = ({ expected, high, unknown }: CostTotal): number | null => (unknown === 0 ? expected : high)

/** Does not add amounts at different prices. */
export const totalCost = (parts: readonly CostSummary[]): CostSummary => {
  const price = commonPrice(parts.map(({ money }) => money?.price))
  const sum = (pick: (part: CostSummary) => CostTotal): CostTotal => addCosts(parts.map(pick))
  return costSummary(
    { before: sum(({ before }) => before), after: sum(({ after }) => after), delta: sum(({ delta }) => delta) },
    price,
  )
}

/** The price, if it is the same for all. */
export const commonPrice = ([first, ...others]: readonly (Price | undefined)[]): Price | undefined =>
  others.every((other) => other?.cuHour === first?.cuHour && other?.currency === first?.currency) ? first : undefined

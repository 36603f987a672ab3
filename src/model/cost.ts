/** What computes cost, in CU-hours a month (docs/cost.md). `null` is unknown, which is never the same as 0. */

/** A month has 730 hours: a twelfth of a year. */
export const HOURS_PER_MONTH = 730

/** `low` and `high` follow from the size limits, `expected` from what was measured. */
export interface CostRange {
  readonly low: number | null
  readonly expected: number | null
  readonly high: number | null
}

export interface CostTotal extends CostRange {
  /** Computes without an expected cost; they count in `low` and `high` only. */
  readonly unknown: number
}

/** Why an estimate may be off. */
export const COST_FLAGS = [
  'short-history',
  'clamped',
  'split-evenly',
  'timeout-not-counted',
  'at-minimum',
  'at-maximum',
  'over-new-maximum',
  'was-fixed',
] as const

export type CostFlag = (typeof COST_FLAGS)[number]

export interface CostBasis {
  /** `settings`: nothing was measured, and nothing had to be (new, or never idle). */
  readonly kind: 'measured' | 'settings' | 'unknown'
  readonly activeHoursPerDay: number | null
  /** ISO 8601: from when on it was measured. */
  readonly since: string | null
  /** While active. */
  readonly averageCu: number | null
  readonly flags: readonly CostFlag[]
}

export interface ChangeCost {
  /** The id of the change. */
  readonly change: string
  readonly before: CostRange
  readonly after: CostRange
  readonly delta: CostRange
  readonly basis: CostBasis
  /** The basis in words: `active 6 h a day since 1 November, 1.6 CU on average`. */
  readonly sentence: string
}

export interface Price {
  /** Of one CU-hour. */
  readonly cuHour: number
  /** ISO 4217: `USD`. */
  readonly currency: string
}

/** Amounts a month, at the price given. */
export interface Money {
  readonly price: Price
  readonly before: number | null
  readonly after: number | null
  readonly delta: number | null
}

export interface CostSummary {
  readonly before: CostTotal
  readonly after: CostTotal
  readonly delta: CostTotal
  /** Absent without a price, and in a total over several prices. */
  readonly money?: Money
}

export interface ProjectCost extends CostSummary {
  readonly project: string
}

export interface PlanCost {
  /** Grows when the same plan would get other numbers. */
  readonly model: '1'
  readonly hoursPerMonth: typeof HOURS_PER_MONTH
  /** Over all computes of the planned projects, unmanaged ones included. */
  readonly total: CostSummary
  /** Those with changes. */
  readonly projects: readonly ProjectCost[]
  /** Of the changes, in their order. */
  readonly computes: readonly ChangeCost[]
}

/** The cost of computes in CU-hours per month (docs/cost.md). `null` means unknown, which is different from 0. */

/** A month has 730 hours: a twelfth of a year. */
export const HOURS_PER_MONTH = 730

/** `low` and `high` are computed from the size limits, `expected` from measurements. */
export interface CostRange {
  readonly low: number | null
  readonly expected: number | null
  readonly high: number | null
}

export interface CostTotal extends CostRange {
  /** Number of computes without an expected cost. They count only in `low` and `high`. */
  readonly unknown: number
}

/** Reasons why an estimate may be inaccurate. */
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
  readonly before: CostRange
  readonly after: CostRange
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
  /** Absent if no price is known, and in totals of computes with different prices. */
  readonly money?: Money
}

export interface ProjectCost extends CostSummary {
  readonly project: string
}

export interface PlanCost {
  /** Version of the cost model, which changes if the same plan would get different numbers. */
  readonly model: '1'
  readonly hoursPerMonth: typeof HOURS_PER_MONTH
  /** Total of all computes of the planned projects, including unmanaged ones. */
  readonly total: CostSummary
  /** Projects with changes. */
  readonly projects: readonly ProjectCost[]
  /** Costs of the changes, in the plan's order. */
  readonly computes: readonly ChangeCost[]
}

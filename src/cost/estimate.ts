/** Estimates one compute's CU-hours per month, and the effect of a change. docs/cost.md works through every rule. */

import { groupBy } from '../base/index.ts'
import {
  type ComputeSettings,
  type CostBasis,
  type CostFlag,
  type CostRange,
  HOURS_PER_MONTH,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  SCALE_TO_ZERO_NEVER,
  SIZE_TABLE,
  type Size,
  sameScaleToZero,
  scaleToZeroSeconds,
  settingsOfCompute,
} from '../model/index.ts'
import { type Share, type Usage, usageOfBranch } from './usage.ts'

/** A compute in the context of its branch. */
export interface Costed {
  readonly settings: ComputeSettings
  /** Absent if there is no usable history. */
  readonly usage?: Usage | undefined
  /** Hours that the branch exists in the coming month, at most 730. */
  readonly hours: number
}

export interface Estimate {
  readonly before: CostRange
  readonly after: CostRange
  readonly delta: CostRange
  readonly flags: readonly CostFlag[]
}

export const ZERO: CostRange = { low: 0, expected: 0, high: 0 }
const ANY_SHARE: Share = { low: 0, expected: null, high: 1 }
const ALL_THE_TIME: Share = { low: 1, expected: 1, high: 1 }

/** Hours that a branch exists in the coming month. */
export const hoursToCome = (expiresAt: string | undefined, now: number): number => {
  const left = expiresAt === undefined ? Number.NaN : (Date.parse(expiresAt) - now) / 3_600_000
  return Number.isNaN(left) ? HOURS_PER_MONTH : Math.min(HOURS_PER_MONTH, Math.max(0, left))
}

/** The current cost of a compute, unrounded. */
export const estimateCompute = ({ settings, usage, hours }: Costed): CostRange =>
  settings.disabled ? ZERO : cost(shareOf(settings, usage), averageOf(settings, usage), settings, hours)

/** The cost of a new compute, from its settings alone. */
export const estimateCreate = (after: Costed): Estimate => {
  const range = estimateCompute({ settings: after.settings, hours: after.hours })
  return { before: ZERO, after: range, delta: range, flags: [] }
}

/** A compute is deleted and another one created in its place. */
export const estimateReplace = (before: Costed, after: Costed): Estimate =>
  estimateChange(before, estimateCreate(after).after)

export const estimateDelete = (before: Costed): Estimate => estimateChange(before, ZERO)

const estimateChange = (before: Costed, after: CostRange): Estimate => {
  const range = estimateCompute(before)
  return { before: range, after, delta: deltaOf(range, after), flags: before.usage?.flags ?? [] }
}

/** @param isMoved to another branch, whose data may be used differently. */
export const estimateUpdate = (before: Costed, after: Omit<Costed, 'usage'>, isMoved = false): Estimate => {
  const { usage } = before
  const [from, to] = [before.settings, after.settings]
  const range = estimateCompute(before)
  if (!isMoved && isSame(from, to) && before.hours === after.hours) {
    return {
      before: range,
      after: range,
      delta: ZERO,
      flags: [...(usage?.flags ?? []), ...limitFlags(from, to, usage)],
    }
  }
  if (to.disabled) return estimateDelete(before)
  if (from.disabled) return estimateReplace(before, after)
  const flags: CostFlag[] = [...(usage?.flags ?? []), ...limitFlags(from, to, usage)]
  const { share, isIdleAtMinimum = false, isUncounted = false } = shareAfter(from, to, usage)
  if (isUncounted) flags.push('timeout-not-counted')
  const average = averageAfter(from, to, usage)
  const changed = cost(share, average, to, after.hours, isIdleAtMinimum)
  const isOnlySize = sameTimeout(from, to) && !isMoved
  const delta =
    range.expected === null && isOnlySize && share.expected === null && from.size !== undefined && to.size !== undefined
      ? {
          low: Math.min(0, (to.size.min - from.size.max) * after.hours),
          expected: null,
          high: Math.max(0, (to.size.max - from.size.min) * after.hours),
        }
      : deltaOf(range, changed)
  // The new settings let the compute sleep, so at the same size it cannot cost more.
  const sleepsNow = isNeverIdle(from) && !isNeverIdle(to) && sameSize(from.size, to.size)
  return {
    before: range,
    after: changed,
    delta: sleepsNow && delta.high !== null ? { ...delta, high: Math.min(0, delta.high) } : delta,
    flags,
  }
}

const cost = (
  share: Share,
  average: number | null,
  { size }: ComputeSettings,
  hours: number,
  isIdleAtMinimum = false,
): CostRange => {
  if (size === undefined) return { low: null, expected: null, high: null }
  const at = (active: number | null, cu: number | null): number | null =>
    active === null || cu === null ? null : (active * cu + (isIdleAtMinimum ? (1 - active) * size.min : 0)) * hours
  // A compute of fixed size that never sleeps costs the same however it is used.
  const isCertain = isIdleAtMinimum && size.min === size.max
  return {
    low: at(share.low, size.min),
    expected: isCertain ? size.min * hours : at(share.expected, average),
    high: at(share.high, size.max),
  }
}

/** Whether the settings keep a compute active all the time. */
export const isNeverIdle = ({ scaleToZero, size }: ComputeSettings): boolean =>
  scaleToZero === SCALE_TO_ZERO_NEVER || (size !== undefined && size.max > SIZE_TABLE.scaleToZeroMaxCu)

const shareOf = (settings: ComputeSettings, usage: Usage | undefined): Share =>
  isNeverIdle(settings) ? ALL_THE_TIME : (usage?.share ?? ANY_SHARE)

/** The average of a fixed size is the size itself. */
const averageOf = ({ size }: ComputeSettings, usage: Usage | undefined): number | null => {
  if (size === undefined) return null
  return size.min === size.max ? size.min : usage === undefined ? null : clamp(usage.averageCu, size)
}

/**
 * Keeps the current average where the new limits allow it. Without history, a fixed size does not show how much of a
 * range will be used.
 */
const averageAfter = (from: ComputeSettings, to: ComputeSettings, usage: Usage | undefined): number | null => {
  if (usage === undefined || to.size === undefined) return averageOf(to, undefined)
  const average = averageOf(from, usage)
  return average === null ? averageOf(to, undefined) : clamp(average, to.size)
}

interface ShareAfter {
  readonly share: Share
  /** The compute slept before and no longer does, so the added hours need only its minimum size. */
  readonly isIdleAtMinimum?: boolean
  /** The number of suspensions is unknown. */
  readonly isUncounted?: boolean
}

const shareAfter = (from: ComputeSettings, to: ComputeSettings, usage: Usage | undefined): ShareAfter => {
  if (isNeverIdle(to))
    return isNeverIdle(from) ? { share: ALL_THE_TIME } : { share: usage?.share ?? ANY_SHARE, isIdleAtMinimum: true }
  // A compute that never slept has no record of idle time.
  if (isNeverIdle(from)) return { share: ANY_SHARE }
  if (usage === undefined || sameTimeout(from, to)) return { share: usage?.share ?? ANY_SHARE }
  if (from.scaleToZero === undefined || to.scaleToZero === undefined) return { share: ANY_SHARE }
  const seconds = scaleToZeroSeconds(to.scaleToZero) - scaleToZeroSeconds(from.scaleToZero)
  const { low, expected: now, high } = usage.share
  if (usage.suspends === undefined) {
    return { share: seconds > 0 ? { low, expected: now, high: 1 } : { low: 0, expected: now, high }, isUncounted: true }
  }
  // Each suspension now happens that many seconds later (or earlier).
  const moved = (usage.suspends * seconds) / 3600 / usage.hours
  const expected = Math.min(1, Math.max(0, (now ?? 0) + moved))
  return { share: { low: seconds > 0 ? Math.min(low, expected) : 0, expected, high: expected } }
}

const sameTimeout = (from: ComputeSettings, to: ComputeSettings): boolean =>
  isNeverIdle(from) === isNeverIdle(to) &&
  (isNeverIdle(from) ||
    from.scaleToZero === to.scaleToZero ||
    (from.scaleToZero !== undefined &&
      to.scaleToZero !== undefined &&
      sameScaleToZero(from.scaleToZero, to.scaleToZero)))

const sameSize = (a: Size | undefined, b: Size | undefined): boolean => a?.min === b?.min && a?.max === b?.max

const isSame = (from: ComputeSettings, to: ComputeSettings): boolean =>
  from.disabled === to.disabled && sameSize(from.size, to.size) && sameTimeout(from, to)

/** At a limit, the counters do not show the actual demand. */
const limitFlags = (from: ComputeSettings, to: ComputeSettings, usage: Usage | undefined): readonly CostFlag[] => {
  if (usage === undefined || from.size === undefined || to.size === undefined) return []
  const flags: CostFlag[] = []
  const average = clamp(usage.averageCu, from.size)
  if (from.size.min === from.size.max) {
    if (to.size.min !== to.size.max) flags.push('was-fixed')
  } else {
    if (average <= 1.05 * from.size.min) flags.push('at-minimum')
    if (average >= 0.95 * from.size.max) flags.push('at-maximum')
    if (average > to.size.max) flags.push('over-new-maximum')
  }
  return flags
}

const deltaOf = (before: CostRange, after: CostRange): CostRange => {
  const minus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a - b)
  return before.expected === null
    ? { low: minus(after.low, before.high), expected: null, high: minus(after.high, before.low) }
    : {
        low: minus(after.low, before.expected),
        expected: minus(after.expected, before.expected),
        high: minus(after.high, before.expected),
      }
}

const clamp = (value: number, { min, max }: Size): number => Math.min(max, Math.max(min, value))

// The current cost of a project's computes.

export interface LiveCost extends Costed {
  readonly compute: ObservedCompute
  readonly branch: ObservedBranch
  /** Unrounded. */
  readonly cost: CostRange
}

export const liveCosts = (project: ObservedProject, now: number): readonly LiveCost[] => {
  const byBranch = groupBy(project.computes, ({ branchId }) => branchId)
  return project.branches.flatMap((branch) => {
    const computes = byBranch.get(branch.id) ?? []
    const usages = usageOfBranch(project, branch, computes, now)
    const hours = hoursToCome(branch.expiresAt, now)
    return computes.map((compute): LiveCost => {
      const settings = settingsOfCompute(compute.attributes)
      const usage = usages.get(compute.id)
      return { settings, usage, hours, compute, branch, cost: estimateCompute({ settings, usage, hours }) }
    })
  })
}

export const basisOf = ({ settings, usage }: Costed, flags: readonly CostFlag[] = usage?.flags ?? []): CostBasis => {
  if (usage === undefined || settings.disabled) {
    const kind = settings.disabled || isNeverIdle(settings) ? 'settings' : 'unknown'
    return { kind, activeHoursPerDay: null, since: null, averageCu: null, flags }
  }
  const { expected } = usage.share
  return {
    kind: 'measured',
    activeHoursPerDay: expected === null ? null : Math.round(expected * 240) / 10,
    since: new Date(usage.since).toISOString(),
    averageCu: Math.round(usage.averageCu * 100) / 100,
    flags,
  }
}

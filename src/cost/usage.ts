/** Usage of each compute of a branch in this consumption period, from the branch's counters (docs/explanation/cost.md). */
import { parseTime } from '../base/index.ts'
import {
  type CostFlag,
  isFixed,
  neverSleeps,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  type PastOperation,
} from '../model/index.ts'

const HOUR_MS = 3_600_000
/** A shorter history is not enough for a monthly projection. */
const MIN_HISTORY_HOURS = 24
const WEEK_HOURS = 168
/** Counters are published every 15 minutes, and may lag by an hour. */
const COUNTERS_LATE_MS = 2 * HOUR_MS
const DEFAULT_SIZE = { min: 0.25, max: 0.25 }

/** Bounds of a fraction of time, 0 to 1. */
export interface Share {
  readonly low: number
  readonly expected: number | null
  readonly high: number
}

/** Usage of one compute. */
export interface Usage {
  /** Start of the measurement, milliseconds since the epoch. */
  readonly since: number
  /** Length of the history, in hours. */
  readonly hours: number
  readonly share: Share
  /** Average size while active, in CU. */
  readonly averageCu: number
  /** Number of suspensions; absent if the operations do not go back far enough. */
  readonly suspends?: number
  readonly flags: readonly CostFlag[]
}

/** Usage by compute id; empty if the history is too short, missing or from another period. */
export const usageOfBranch = (
  { settings, pastOperations = [], operationsSince }: Omit<ObservedProject, 'id' | 'branches' | 'computes'>,
  branch: ObservedBranch,
  computes: readonly ObservedCompute[],
  now: number,
): ReadonlyMap<string, Usage> => {
  const none = new Map<string, Usage>()
  const { period } = settings ?? {}
  if (period === undefined || branch.usage === undefined) return none
  const start = Math.max(Date.parse(period.start), parseTime(branch.createdAt) ?? 0)
  const hours = (now - start) / HOUR_MS
  const isCurrent = hours >= MIN_HISTORY_HOURS && now < Date.parse(period.end)
  const active = branch.usage.activeSeconds / 3600
  const cuHours = branch.usage.computeSeconds / 3600
  if (!isCurrent || (active === 0 && computes.some((compute) => isLongActive(compute, now)))) return none

  const reaches = (from: number): boolean => operationsSince !== undefined && Date.parse(operationsSince) <= from
  const counted = computes.map((compute): Counted => {
    const from = Math.max(start, parseTime(compute.createdAt) ?? 0)
    const log = reaches(from) ? activity(compute, pastOperations, from, now) : undefined
    return { compute, from, hours: log?.hours, suspends: log?.suspends }
  })
  const split = splitHours(counted, active, now)
  const sizes = averageSizes(split.parts, active === 0 ? 0 : cuHours / active)
  return new Map(
    split.parts.map(({ compute, from, hours: own, suspends, isMeasured }, index) => {
      const flags: CostFlag[] = []
      const age = (now - from) / HOUR_MS
      if (age < WEEK_HOURS) flags.push('short-history')
      if (own > hours) flags.push('clamped')
      if (split.isEven) flags.push('split-evenly')
      // Usage counted before the compute existed was a predecessor's, and may be included here.
      const share = part(own, age)
      const low = isMeasured ? share : part(own, hours)
      const usage: Usage = {
        since: from,
        hours: age,
        share: { low: Math.min(low, share), expected: share, high: share },
        averageCu: sizes[index] ?? 0,
        ...(suspends === undefined ? {} : { suspends }),
        flags,
      }
      return [compute.id, usage] as const
    }),
  )
}

const part = (hours: number, of: number): number => (of <= 0 ? 0 : Math.min(1, hours / of))

interface Counted {
  readonly compute: ObservedCompute
  /** The earliest time at which the compute can have been active. */
  readonly from: number
  /** Active hours according to the compute's operations. Absent if the operations do not go back far enough. */
  readonly hours: number | undefined
  readonly suspends: number | undefined
}

interface Part extends Counted {
  readonly hours: number
  /** Whether the hours come from operations. */
  readonly isMeasured: boolean
}

/** Active hours of each compute, with a sum of at most `active`. */
const splitHours = (
  counted: readonly Counted[],
  active: number,
  now: number,
): { readonly parts: readonly Part[]; readonly isEven: boolean } => {
  const measured = counted.flatMap((one) => (one.hours === undefined ? [] : [{ ...one, hours: one.hours }]))
  if (counted.length === 1 && measured.length === 0) {
    return { parts: counted.map((one) => ({ ...one, hours: active, isMeasured: false })), isEven: false }
  }
  if (measured.length === counted.length) {
    // The counter determines the bill. For a single compute that existed throughout, it is also exact.
    const [only] = measured
    const isAlone = measured.length === 1 && only !== undefined && (parseTime(only.compute.createdAt) ?? 0) < only.from
    const hours = isAlone ? [active] : scaled(measured, active)
    return {
      parts: measured.map((one, index) => ({ ...one, hours: hours[index] ?? 0, isMeasured: true })),
      isEven: false,
    }
  }
  const whole = counted.map(({ compute, from }) => (isAwake(compute) ? (now - from) / HOUR_MS : undefined))
  const others = whole.filter((hours) => hours === undefined).length
  const left = Math.max(0, active - sum(whole.map((hours) => hours ?? 0)))
  const even = counted.map((one, index) => ({ ...one, hours: whole[index] ?? left / others, isMeasured: false }))
  const hours = scaled(even, active)
  return { parts: even.map((one, index) => ({ ...one, hours: hours[index] ?? 0 })), isEven: others > 0 }
}

const scaled = (parts: readonly { readonly hours: number }[], active: number): readonly number[] => {
  const total = sum(parts.map(({ hours }) => hours))
  return parts.map(({ hours }) => (total > active ? (hours * active) / total : hours))
}

/** Fixed sizes are known. Autoscaling computes share the other CU-hours, weighted by hours and midpoint of range. */
const averageSizes = (parts: readonly Part[], averageCu: number): readonly number[] => {
  const cuHours = sum(parts.map(({ hours }) => hours)) * averageCu
  const fixed = sum(parts.map(({ compute, hours }) => (isFixed(sizeOf(compute)) ? hours * sizeOf(compute).min : 0)))
  const weight = ({ compute, hours }: Part): number =>
    isFixed(sizeOf(compute)) ? 0 : (hours * (sizeOf(compute).min + sizeOf(compute).max)) / 2
  const weights = sum(parts.map(weight))
  return parts.map((one) => {
    const { min, max } = sizeOf(one.compute)
    if (min === max || one.hours === 0) return min
    const own = ((cuHours - fixed) * weight(one)) / weights
    return Math.min(max, Math.max(min, own / one.hours))
  })
}

const sizeOf = ({ attributes }: ObservedCompute) => attributes.size ?? DEFAULT_SIZE

/** The active hours between starts and suspensions, and the number of suspensions. */
const activity = (
  compute: ObservedCompute,
  operations: readonly PastOperation[],
  from: number,
  now: number,
): { readonly hours: number; readonly suspends: number } => {
  const own = operations
    .flatMap(({ action, computeId, at }) => {
      const time = parseTime(at)
      return computeId === compute.id && time !== undefined && time >= from && time <= now ? [{ action, time }] : []
    })
    .filter(({ action }) => action === 'start_compute' || action === 'suspend_compute')
    .sort((a, b) => a.time - b.time)
  const wasActive = own[0] === undefined ? compute.state === 'active' : own[0].action === 'suspend_compute'
  let since = wasActive ? from : undefined
  let total = 0
  let suspends = 0
  for (const { action, time } of own) {
    if (action === 'start_compute') since ??= time
    else {
      if (since !== undefined) total += time - since
      since = undefined
      suspends += 1
    }
  }
  if (since !== undefined) total += now - since
  return { hours: total / HOUR_MS, suspends }
}

const isAwake = ({ attributes, state }: ObservedCompute): boolean => neverSleeps(attributes) && state === 'active'

/** Active for long enough that the counters would show it. */
const isLongActive = ({ state, startedAt }: ObservedCompute, now: number): boolean =>
  state === 'active' && (parseTime(startedAt) ?? now) <= now - COUNTERS_LATE_MS

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

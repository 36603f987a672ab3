/** What a compute, or a change to it, costs per month. docs/explanation/cost.md works through the formula. */

import { groupBy, parseTime } from '../base/index.ts'
import {
  type ComputeSettings,
  type CostBasis,
  type CostRange,
  HOURS_PER_MONTH,
  neverSleeps,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  type Size,
  settingsOfCompute,
  sleepSeconds,
} from '../model/index.ts'
import { type Share, type Usage, usageOfBranch } from './usage.ts'

/** How a compute is used in the coming month: the same before and after a change. */
export interface Use {
  /** Hours that the branch exists, at most 730. */
  readonly hours: number
  /** Absent if there is no usable history. */
  readonly usage?: Usage | undefined
  /** Whether it never sleeps now: its history then does not show when it had nothing to do. */
  readonly isNeverIdle?: boolean
}

export const FREE: CostRange = { low: 0, expected: 0, high: 0 }

/** Hours that a branch exists in the coming month. */
export const hoursToCome = (expiresAt: string | undefined, now: number): number => {
  const end = parseTime(expiresAt)
  return end === undefined ? HOURS_PER_MONTH : Math.min(HOURS_PER_MONTH, Math.max(0, (end - now) / 3_600_000))
}

/** A running compute. */
interface Running {
  readonly size: Size
  /** Seconds. Infinite if it never sleeps; `undefined` if unknown. */
  readonly sleepsAfter: number | undefined
}

/**
 * How many CU-hours per month `after` costs more than `before`, for the same load in the same active hours, unrounded.
 * `undefined` is a compute that does not exist.
 */
export const costEffect = (
  before: ComputeSettings | undefined,
  after: ComputeSettings | undefined,
  use: Use,
): CostRange => {
  const [from, to] = [before, after].map((one) => (one === undefined || one.disabled ? undefined : one))
  const [old, next] = [from, to].map(running)
  if (old === 'unknown' || next === 'unknown') {
    const isSame = from !== undefined && to !== undefined && sameSettings(from, to)
    return isSame ? FREE : { low: null, expected: null, high: null }
  }
  const { hours, usage } = use
  const active = activeShare(use)
  const at = (share: number, load: number): number => hours * (costAt(next, share, load) - costAt(old, share, load))
  // Linear in the share and piecewise linear in the load, so the extremes are at the ends.
  const loads = [old, next].flatMap((one) => (one === undefined ? [] : [one.size.min, one.size.max]))
  const extremes = [active.low, active.high].flatMap((share) =>
    loads.flatMap((load) => timeoutEffects(old, next, share).map((shift) => at(share, load) + hours * shift)),
  )
  if (extremes.length === 0) return FREE
  const [low, high] = [Math.min(...extremes), Math.max(...extremes)]
  if (high - low < 1e-6) return { low, expected: low, high }
  const wakes = use.isNeverIdle === true && [old, next].some((one) => one !== undefined && !isAwake(one))
  const shift = usage && active.expected !== null ? expectedShift(old, next, usage, active.expected) : undefined
  const isKnown = usage !== undefined && active.expected !== null && shift !== undefined && !wakes
  return { low, expected: isKnown ? at(active.expected, usage.averageCu) + hours * shift : null, high }
}

const sameSettings = (a: ComputeSettings, b: ComputeSettings): boolean =>
  a.size === b.size && a.scaleToZero === b.scaleToZero

const running = (settings: ComputeSettings | undefined): Running | 'unknown' | undefined => {
  if (settings === undefined) return undefined
  const { size } = settings
  return size === undefined ? 'unknown' : { size, sleepsAfter: sleepSeconds(settings) }
}

const isAwake = ({ sleepsAfter }: Running): boolean => sleepsAfter === Number.POSITIVE_INFINITY

const activeShare = ({ usage, isNeverIdle: isAlways }: Use): Share =>
  isAlways === true ? { low: 0, expected: 1, high: 1 } : (usage?.share ?? { low: 0, expected: null, high: 1 })

/** CU on average. A compute that never sleeps needs its minimum size in the hours without load. */
const costAt = (one: Running | undefined, share: number, load: number): number =>
  one === undefined ? 0 : share * clamp(load, one.size) + (isAwake(one) ? (1 - share) * one.size.min : 0)

/**
 * The least and the most that a different timeout changes the average CU. A longer one can keep the compute awake in all
 * hours without load, and a shorter one can end all hours that count as active. Without load, it needs its minimum.
 */
const timeoutEffects = (old: Running | undefined, next: Running | undefined, share: number): readonly number[] => {
  if (old === undefined || next === undefined || isAwake(old) || isAwake(next)) return [0]
  const { min } = next.size
  const [is, becomes] = [old.sleepsAfter, next.sleepsAfter]
  const isUnknown = is !== becomes && (is === undefined || becomes === undefined)
  return [
    0,
    ...(isUnknown || (becomes ?? 0) > (is ?? 0) ? [(1 - share) * min] : []),
    ...(isUnknown || (becomes ?? 0) < (is ?? 0) ? [-share * min] : []),
  ]
}

/** Each suspension in the history would have happened that much later or earlier. `undefined` if they are unknown. */
const expectedShift = (
  old: Running | undefined,
  next: Running | undefined,
  { suspends, hours }: Usage,
  share: number,
): number | undefined => {
  if (old === undefined || next === undefined || timeoutEffects(old, next, share).length === 1) return 0
  const { sleepsAfter: is } = old
  const { sleepsAfter: becomes } = next
  if (suspends === undefined || is === undefined || becomes === undefined) return undefined
  return next.size.min * Math.min(1 - share, Math.max(-share, (suspends * (becomes - is)) / 3600 / hours))
}

const clamp = (value: number, { min, max }: Size): number => Math.min(max, Math.max(min, value))

// The current cost of a project's computes.

export interface LiveUse extends Use {
  readonly compute: ObservedCompute
  readonly branch: ObservedBranch
  readonly settings: ComputeSettings
}

export interface LiveCost extends LiveUse {
  /** Unrounded. */
  readonly cost: CostRange
}

export const liveCosts = (project: ObservedProject, now: number): readonly LiveCost[] =>
  liveUses(project, now).map((one) => ({ ...one, cost: costOfUse(one) }))

export const costOfUse = (one: LiveUse): CostRange => costEffect(undefined, one.settings, one)

/** @param branches those whose computes are returned. */
export const liveUses = (
  project: ObservedProject,
  now: number,
  branches: readonly ObservedBranch[] = project.branches,
): readonly LiveUse[] => {
  const byBranch = groupBy(project.computes, ({ branchId }) => branchId)
  return branches.flatMap((branch) => {
    const computes = byBranch.get(branch.id) ?? []
    const usages = usageOfBranch(project, branch, computes, now)
    const hours = hoursToCome(branch.expiresAt, now)
    return computes.map((compute) => {
      const settings = settingsOfCompute(compute.attributes)
      return { hours, usage: usages.get(compute.id), isNeverIdle: neverSleeps(settings), settings, compute, branch }
    })
  })
}

export const basisOf = ({ settings, usage }: Pick<LiveUse, 'settings' | 'usage'>): CostBasis => {
  const flags = usage?.flags ?? []
  if (usage === undefined || settings.disabled) {
    const kind = settings.disabled || neverSleeps(settings) ? 'settings' : 'unknown'
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

/** The changes that would save the most. Counters only show averages, so no advice relies on peaks or idle times. */

import { formatDay } from '../base/index.ts'
import {
  canScaleToZero,
  formatDuration,
  formatScaleToZero,
  isFixed,
  neverSleeps,
  SCALE_TO_ZERO_DEFAULT_SECONDS,
  SCALE_TO_ZERO_NEVER,
  SIZE_TABLE,
  type Size,
  type Source,
  scaleToZeroSeconds,
  sleepSeconds,
} from '../model/index.ts'
import type { LiveCost } from './effect.ts'
import { formatCuHours } from './words.ts'

export interface Advice {
  readonly kind: 'never-sleeps' | 'at-minimum' | 'fixed' | 'long-timeout'
  readonly project: string
  readonly branch: string
  /** `ep-…`. */
  readonly compute: string
  /** CU-hours per month. */
  readonly saves: number
  /** Whether `saves` is a lower or an upper bound. */
  readonly bound: 'at least' | 'up to'
  /** The reason, and how certain it is. */
  readonly text: string
  readonly edit: Edit
}

/** The change to make in the manifest. */
export interface Edit {
  readonly key: SavingKey
  /** As written in a manifest; `null`: not set there. */
  readonly before: string | null
  readonly after: string
  /** The line to change, or the declaration to add the key to; absent if the compute is unmanaged. */
  readonly source?: Source
  /** How many other computes the same line affects. */
  readonly others: number
}

export type SavingKey = 'size' | 'scaleToZero'

/** Where a manifest sets an attribute, or would set it. */
export interface DeclaredPlace {
  readonly source: Source
  /** Whether the attribute is set there. */
  readonly isSet: boolean
  readonly others: number
}

interface AdviceContext {
  readonly project: string
  readonly placeOf: (compute: string, key: SavingKey) => DeclaredPlace | undefined
}

/** In CU-hours per month. Smaller savings are noise. */
const LEAST_HOURS = 10
const LEAST_SHARE = 0.05
const WEEK_HOURS = 168
/** A minimum this low costs next to nothing. */
const SMALLEST_MIN = 0.25

type Found = Omit<Advice, 'project' | 'branch' | 'compute' | 'edit'> & {
  readonly key: SavingKey
  readonly after: string
}

/** The best advice for each compute, largest saving first. There is one per compute, because savings do not add up. */
export const adviceFor = (costs: readonly LiveCost[], { project, placeOf }: AdviceContext): readonly Advice[] => {
  const total = costs.reduce((sum, { cost }) => sum + (cost.expected ?? 0), 0)
  const least = Math.max(LEAST_HOURS, LEAST_SHARE * total)
  return costs
    .flatMap((one): readonly Advice[] => {
      const { compute, branch, settings } = one
      const { size, disabled } = settings
      if (disabled || size === undefined) return []
      const found = [isKeptAwake, staysAtMinimum, isFixedSize, sleepsLate].flatMap((advise) => advise(one, size) ?? [])
      const [best] = found.sort(bySaving)
      if (best === undefined || best.saves < least) return []
      const { key, after, ...rest } = best
      const place = placeOf(compute.id, key)
      const before = place === undefined || place.isSet ? textOf(one, key) : null
      const edit = { key, before, after, ...(place && { source: place.source }), others: place?.others ?? 0 }
      return [{ ...rest, project, branch: branch.name, compute: compute.id, edit }]
    })
    .sort(bySaving)
}

export const bySaving = (a: Pick<Advice, 'saves'>, b: Pick<Advice, 'saves'>): number => b.saves - a.saves

const isKeptAwake = ({ settings, cost, branch }: LiveCost, size: Size): Found | undefined => {
  if (settings.scaleToZero !== SCALE_TO_ZERO_NEVER || cost.expected === null) return undefined
  if (!canScaleToZero(size) || branch.isDefault || branch.isProtected) return undefined
  return {
    kind: 'never-sleeps',
    key: 'scaleToZero',
    after: formatDuration(SCALE_TO_ZERO_DEFAULT_SECONDS),
    saves: cost.expected,
    bound: 'up to',
    text: 'Never sleeps. How much a timeout saves depends on when it is idle, which the counters do not show.',
  }
}

const staysAtMinimum = ({ usage, cost, hours }: LiveCost, size: Size): Found | undefined => {
  if (isFixed(size) || usage === undefined || usage.hours < WEEK_HOURS) return undefined
  const { min, max } = size
  if (usage.averageCu > 1.05 * min || cost.low === null) return undefined
  const smaller = SIZE_TABLE.steps.findLast(({ cu }) => cu < min)?.cu
  if (smaller === undefined || max - smaller > SIZE_TABLE.maxSpreadCu) return undefined
  const share = hours === 0 || min === 0 ? 0 : cost.low / min
  return {
    kind: 'at-minimum',
    key: 'size',
    after: sizeText({ min: smaller, max }),
    saves: share * (min - smaller),
    bound: 'up to',
    text: `Averaged its minimum of ${min} CU since ${formatDay(usage.since)}.`,
  }
}

const isFixedSize = ({ cost }: LiveCost, size: Size): Found | undefined => {
  if (!isFixed(size) || cost.expected === null) return undefined
  if (size.max <= 1 || size.max > SIZE_TABLE.autoscalingMaxCu) return undefined
  const min = Math.max(SMALLEST_MIN, size.max - SIZE_TABLE.maxSpreadCu)
  return {
    kind: 'fixed',
    key: 'size',
    after: sizeText({ min, max: size.max }),
    saves: cost.expected * (1 - min / size.max),
    bound: 'up to',
    text: `Fixed at ${size.max} CU. How much autoscaling saves depends on the load, which the counters do not show.`,
  }
}

const sleepsLate = ({ settings, usage, hours }: LiveCost, size: Size): Found | undefined => {
  const seconds = sleepSeconds(settings)
  if (seconds === undefined || neverSleeps(settings) || !usage?.suspends) return undefined
  if (seconds <= SCALE_TO_ZERO_DEFAULT_SECONDS) return undefined
  const perUse = (seconds - SCALE_TO_ZERO_DEFAULT_SECONDS) / 3600
  const times = usage.suspends === 1 ? 'its one use' : `each of ${formatCuHours(usage.suspends)} uses`
  return {
    kind: 'long-timeout',
    key: 'scaleToZero',
    after: formatDuration(SCALE_TO_ZERO_DEFAULT_SECONDS),
    saves: (usage.suspends * perUse * size.min * hours) / usage.hours,
    bound: 'at least',
    text: `Kept awake for ${formatDuration(seconds)} after ${times} since ${formatDay(usage.since)}.`,
  }
}

/** The live value in manifest syntax. */
const textOf = ({ settings: { size, scaleToZero } }: LiveCost, key: SavingKey): string | null => {
  if (key === 'size') return size === undefined ? null : sizeText(size)
  if (scaleToZero === undefined) return null
  return formatScaleToZero(scaleToZeroSeconds(scaleToZero))
}

const sizeText = (size: Size): string => (isFixed(size) ? String(size.max) : `{ min: ${size.min}, max: ${size.max} }`)

/**
 * Compute sizes. Validation, schema, plan, sandbox and documentation all use this table. Units: compute units (CU) and
 * gigabytes.
 */

export interface SizeStep {
  readonly cu: number
  readonly ramGb: number
  readonly cacheGb: number
  readonly maxConnections: number
}

/** The size of a compute in CU: an autoscaling range, or a fixed size if both ends are equal. */
export interface Size {
  readonly min: number
  readonly max: number
}

/** RAM in GB: 4 GB per CU, also below 1 CU (the public API reference). */
export const ramGb = (cu: number): number => cu * 4

/** Local file cache in GB: 75% of RAM (the public API reference). */
export const cacheGb = (cu: number): number => ramGb(cu) * 0.75

/** The documented formula: `floor(CU × 419.66)`, from 100 to 4000. */
const connectionsOf = (cu: number): number => Math.max(100, Math.min(4000, Math.floor(cu * 419.66)))

/** The public limits page says 4000 for every size from 9 to 56 CU, although the formula gives less for 9 CU. */
const step = (cu: number): SizeStep => ({
  cu,
  ramGb: ramGb(cu),
  cacheGb: cacheGb(cu),
  maxConnections: cu < 9 ? connectionsOf(cu) : 4000,
})

const range = (from: number, to: number, by: number): number[] =>
  Array.from({ length: (to - from) / by + 1 }, (_, index) => from + index * by)

const STEPS: readonly SizeStep[] = [0.25, 0.5, ...range(1, 16, 1), ...range(18, 56, 2)].map(step)

/** Sizes and limits from the public API reference. */
export const SIZE_TABLE = {
  version: '2026-11',
  steps: STEPS,
  /** Largest compute whose `max_connections` the public API reference lists, in CU. */
  listedConnectionsCu: 38,
  /** Largest autoscaling limit, in CU. */
  autoscalingMaxCu: 16,
  /** Largest `max - min` of an autoscaling range, in CU. */
  maxSpreadCu: 8,
  /** Largest compute that can scale to zero, in CU. */
  scaleToZeroMaxCu: 16,
} as const

/** The steps of the table, in words. */
export const SIZES_IN_WORDS = '0.25, 0.5, whole numbers from 1 to 16 and even numbers from 18 to 56'

/** The step with exactly this many CU, if there is one. */
export const sizeStep = (cu: number): SizeStep | undefined => SIZE_TABLE.steps.find((candidate) => candidate.cu === cu)

/** The step nearest to `cu`; the smaller one in a tie. */
export const nearestStep = (cu: number): SizeStep | undefined => nearestOf(SIZE_TABLE.steps, cu)

const nearestOf = (steps: readonly SizeStep[], cu: number): SizeStep | undefined =>
  steps.reduce<SizeStep | undefined>(
    (best, candidate) =>
      best === undefined || Math.abs(candidate.cu - cu) < Math.abs(best.cu - cu) ? candidate : best,
    undefined,
  )

/** The valid autoscaling range that is nearest to these limits. The minimum is adapted first. */
export const nearestRange = (min: number, max: number): Size => {
  const { autoscalingMaxCu, maxSpreadCu } = SIZE_TABLE
  const low = nearestStep(Math.min(min, autoscalingMaxCu))?.cu ?? autoscalingMaxCu
  const ends = SIZE_TABLE.steps.filter(({ cu }) => cu >= low && cu <= Math.min(low + maxSpreadCu, autoscalingMaxCu))
  return { min: low, max: nearestOf(ends, max)?.cu ?? low }
}

/** Larger computes cannot scale to zero, whatever their setting. */
export const canScaleToZero = ({ max }: Pick<Size, 'max'>): boolean => max <= SIZE_TABLE.scaleToZeroMaxCu

export const isFixed = (size: Size): boolean => size.min === size.max

/** Whether the table has both ends of the size. A live compute may have a size that is newer than the table. */
export const isKnownSize = ({ min, max }: Size): boolean => sizeStep(min) !== undefined && sizeStep(max) !== undefined

/**
 * `max_connections` of a compute: the table's value for `min(max, 8 × min)` CU (docs of the service, "Postgres
 * compatibility"), or the documented formula for sizes that are not in the table.
 */
export const maxConnections = (size: Size): number => {
  const cu = connectionsCu(size)
  return sizeStep(cu)?.maxConnections ?? connectionsOf(cu)
}

const connectionsCu = ({ min, max }: Size): number => Math.min(max, 8 * min)

/** Whether `max_connections` is only known to be at least the value of {@link maxConnections}. */
export const hasUnlistedConnections = (size: Size): boolean => connectionsCu(size) > SIZE_TABLE.listedConnectionsCu

/** Local disk for temporary files, in GiB (the public API reference). */
export const temporaryDiskGib = ({ max }: Size): number => Math.max(20, 15 * max)

/** Whether the compute can be as small as a shared one: 0.25 or 0.5 CU (the public API reference). */
export const isShared = ({ min }: Size): boolean => min < 1

/** `0.5 CU` for a fixed size, `1–8 CU` for a range. */
export const formatSize = (size: Size): string => (isFixed(size) ? `${size.min} CU` : `${size.min}–${size.max} CU`)

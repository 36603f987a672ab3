/**
 * Compute sizes: the one table from which validation, schema, plan, sandbox and documentation take CU steps, RAM,
 * cache and `max_connections`. Units: compute units (CU) and gigabytes.
 */

/** One size a compute can have. */
export interface SizeStep {
  readonly cu: number
  readonly ramGb: number
  readonly cacheGb: number
  readonly maxConnections: number
}

/** The catalogue of sizes, versioned so that a newer one can be given to an older program. */
export interface SizeTable {
  readonly version: string
  readonly steps: readonly SizeStep[]
  /** Largest autoscaling limit, in CU (the public API reference). */
  readonly autoscalingMaxCu: number
  /** Largest `max - min` of an autoscaling range, in CU (the public API reference). */
  readonly maxSpreadCu: number
  /** Largest compute that can scale to zero, in CU (the public API reference). */
  readonly scaleToZeroMaxCu: number
}

/** A compute's size: an autoscaling range in CU, or a fixed size where both ends are equal. */
export interface Size {
  readonly min: number
  readonly max: number
}

const CONNECTIONS_BELOW_9: Readonly<Record<number, number>> = {
  0.25: 104,
  0.5: 209,
  1: 419,
  2: 839,
  3: 1258,
  4: 1678,
  5: 2098,
  6: 2517,
  7: 2937,
  8: 3357,
}

// Above 38 CU the spec shows no max_connections; the public limits page gives 4000 for every size from 9 to 56.
const CONNECTIONS_FROM_9 = 4000

const step = (cu: number): SizeStep => {
  const ramGb = cu * 4
  return { cu, ramGb, cacheGb: ramGb * 0.75, maxConnections: CONNECTIONS_BELOW_9[cu] ?? CONNECTIONS_FROM_9 }
}

const range = (from: number, to: number, by: number): number[] =>
  Array.from({ length: (to - from) / by + 1 }, (_, index) => from + index * by)

/** The sizes of the public API reference and the limits of the public API reference. */
export const SIZE_TABLE: SizeTable = {
  version: '2026-11',
  steps: [0.25, 0.5, ...range(1, 16, 1), ...range(18, 56, 2)].map(step),
  autoscalingMaxCu: 16,
  maxSpreadCu: 8,
  scaleToZeroMaxCu: 16,
}

/** The step of exactly this many CU, or `undefined` if the table has none. */
export const sizeStep = (cu: number, table: SizeTable = SIZE_TABLE): SizeStep | undefined =>
  table.steps.find((candidate) => candidate.cu === cu)

/** The step nearest to `cu`; of two equally near ones the smaller. */
export const nearestStep = (cu: number, table: SizeTable = SIZE_TABLE): SizeStep | undefined =>
  table.steps.reduce<SizeStep | undefined>(
    (best, candidate) =>
      best === undefined || Math.abs(candidate.cu - cu) < Math.abs(best.cu - cu) ? candidate : best,
    undefined,
  )

/** `0.25, 0.5, whole numbers from 1 to 16 and even numbers from 18 to 56`. */
export const sizesInWords = ({ steps }: SizeTable): string => {
  const parts: string[] = []
  let rest = steps.map(({ cu }) => cu)
  while (rest.length > 0) {
    const [first = 0, second = first] = rest
    const by = second - first
    const length = rest.findIndex((cu, index) => cu !== first + index * by)
    const run = rest.slice(0, length < 0 ? rest.length : length)
    const kind = Number.isInteger(first) ? (by === 1 ? 'whole' : by === 2 && first % 2 === 0 ? 'even' : '') : ''
    const isRun = run.length > 3 && kind !== ''
    parts.push(isRun ? `${kind} numbers from ${first} to ${run.at(-1)}` : String(first))
    rest = rest.slice(isRun ? run.length : 1)
  }
  const last = parts.pop() ?? 'none'
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`
}

export const isFixed = (size: Size): boolean => size.min === size.max

/** RAM in GB of `cu` compute units (the public API reference: 4 GB a CU, which the two shared sizes follow as well). */
export const ramGb = (cu: number): number => cu * 4

/** Local file cache in GB of `cu` compute units: 75% of RAM (the public API reference). */
export const cacheGb = (cu: number): number => ramGb(cu) * 0.75

/**
 * `max_connections` of a compute. A fixed size reads the table; with autoscaling both limits count: the table's value
 * for `min(max, 8 × min)` CU (Neon docs, "Postgres compatibility"). A size outside the table falls back on the
 * documented formula `floor(CU × 419.66)`, from 100 to 4000.
 */
export const maxConnections = (size: Size, table: SizeTable = SIZE_TABLE): number => {
  const cu = Math.min(size.max, 8 * size.min)
  return sizeStep(cu, table)?.maxConnections ?? Math.max(100, Math.min(4000, Math.floor(cu * 419.66)))
}

/** `0.5 CU` for a fixed size, `1–8 CU` for a range. */
export const formatSize = (size: Size): string => (isFixed(size) ? `${size.min} CU` : `${size.min}–${size.max} CU`)

/** A figure from several runs, with the range of their values. */

export interface Figure {
  readonly median: number
  /** The smallest value of a run. The largest is `max`. */
  readonly min: number
  readonly max: number
  readonly runs: number
}

export const figureOf = (values: readonly number[]): Figure => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return {
    median: sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    runs: sorted.length,
  }
}

/** The ratios of pairs of runs. Other load on the machine affects both runs of a pair in the same way. */
export const ratioOf = (values: readonly number[], others: readonly number[]): Figure =>
  figureOf(values.map((value, index) => value / (others[index] ?? Number.NaN)))

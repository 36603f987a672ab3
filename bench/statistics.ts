/** A figure from several runs, with its spread. */

export interface Figure {
  readonly median: number
  /** Smallest and largest run. */
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

/** Divides pairs of runs, so that other load on the machine affects both sides alike. */
export const ratioOf = (values: readonly number[], others: readonly number[]): Figure =>
  figureOf(values.map((value, index) => value / (others[index] ?? Number.NaN)))

/** Who goes with whom, at the least cost. */
import { groupBy } from '../base/index.ts'

/** Above this many pairs the exact assignment would take too long. */
const EXACT_PAIRS = 40_000
/** Above this many pairs of kinds even looking at each would. */
const KIND_PAIRS = 1_000_000

export interface Fit<R, C> {
  cost(row: R, column: C): number
  /** Rows of one likeness cost the same with every column, and columns of one with every row. */
  likeRow(row: R): string
  likeColumn(column: C): string
}

/**
 * Pairs as many rows with columns as there can be, at the least total cost; ties by the order given. Exact (the
 * Hungarian method with potentials, O(n²m)) up to {@link EXACT_PAIRS}; beyond, the cheapest kinds are paired first.
 */
export const assign = <R, C>(rows: readonly R[], columns: readonly C[], fit: Fit<R, C>): ReadonlyMap<R, C> => {
  if (rows.length * columns.length > EXACT_PAIRS) return pairByKind(rows, columns, fit)
  if (rows.length > columns.length) {
    const matrix = columns.map((column) => rows.map((row) => fit.cost(row, column)))
    return new Map(pick(columns, rows, hungarian(matrix)).map(([column, row]) => [row, column]))
  }
  const matrix = rows.map((row) => columns.map((column) => fit.cost(row, column)))
  return new Map(pick(rows, columns, hungarian(matrix)))
}

const pick = <A, B>(those: readonly A[], others: readonly B[], chosen: readonly number[]): [A, B][] =>
  chosen.flatMap((at, index) => {
    const [one, other] = [those[index], others[at]]
    return one === undefined || other === undefined ? [] : [[one, other]]
  })

const pairByKind = <R, C>(rows: readonly R[], columns: readonly C[], fit: Fit<R, C>): ReadonlyMap<R, C> => {
  const pairs = new Map<R, C>()
  const pair = (left: R[], right: C[]): void => {
    const count = Math.min(left.length, right.length)
    for (const [row, column] of pick(
      left.splice(0, count),
      right.splice(0, count),
      Array.from({ length: count }, (_, index) => index),
    )) {
      pairs.set(row, column)
    }
  }
  const rowKinds = [...groupBy(rows, fit.likeRow).values()]
  const columnKinds = [...groupBy(columns, fit.likeColumn).values()]
  const costs =
    rowKinds.length * columnKinds.length > KIND_PAIRS
      ? []
      : rowKinds.flatMap((left) =>
          columnKinds.map((right) => ({ left, right, cost: fit.cost(left[0] as R, right[0] as C) })),
        )
  // A stable sort: ties stay in the order given.
  for (const { left, right } of costs.sort((a, b) => a.cost - b.cost)) pair(left, right)
  pair(rowKinds.flat(), columnKinds.flat())
  return pairs
}

/** For each row the index of its column. Rows and columns are counted from 1 inside; 0 is the row being placed. */
const hungarian = (matrix: readonly (readonly number[])[]): readonly number[] => {
  const [height, width] = [matrix.length, matrix[0]?.length ?? 0]
  const rowPotential = new Array<number>(height + 1).fill(0)
  const columnPotential = new Array<number>(width + 1).fill(0)
  const rowOfColumn = new Array<number>(width + 1).fill(0)
  const at = (list: readonly number[], index: number): number => list[index] ?? 0

  for (let row = 1; row <= height; row += 1) {
    const slack = new Array<number>(width + 1).fill(Number.POSITIVE_INFINITY)
    const cameFrom = new Array<number>(width + 1).fill(0)
    const used = new Array<boolean>(width + 1).fill(false)
    rowOfColumn[0] = row
    let column = 0
    do {
      used[column] = true
      const current = at(rowOfColumn, column)
      let delta = Number.POSITIVE_INFINITY
      let next = 0
      for (let other = 1; other <= width; other += 1) {
        if (used[other]) continue
        const reduced =
          at(matrix[current - 1] ?? [], other - 1) - at(rowPotential, current) - at(columnPotential, other)
        if (reduced < at(slack, other)) {
          slack[other] = reduced
          cameFrom[other] = column
        }
        if (at(slack, other) < delta) {
          delta = at(slack, other)
          next = other
        }
      }
      for (let other = 0; other <= width; other += 1) {
        if (used[other]) {
          rowPotential[at(rowOfColumn, other)] = at(rowPotential, at(rowOfColumn, other)) + delta
          columnPotential[other] = at(columnPotential, other) - delta
        } else {
          slack[other] = at(slack, other) - delta
        }
      }
      column = next
    } while (at(rowOfColumn, column) !== 0)
    while (column !== 0) {
      const previous = at(cameFrom, column)
      rowOfColumn[column] = at(rowOfColumn, previous)
      column = previous
    }
  }

  const columnOfRow = new Array<number>(height).fill(-1)
  for (let column = 1; column <= width; column += 1) {
    if (at(rowOfColumn, column) > 0) columnOfRow[at(rowOfColumn, column) - 1] = column - 1
  }
  return columnOfRow
}

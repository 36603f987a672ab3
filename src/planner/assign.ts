/** Above this many pairs the exact assignment would take too long; pairs are then taken cheapest first per row. */
const EXACT_CELLS = 40_000

/**
 * Pairs as many rows with columns as there can be, at the least total cost; ties by the order given. Exact (the
 * Hungarian method with potentials, O(n²m)) up to {@link EXACT_CELLS} cells.
 */
export const assign = <R, C>(
  rows: readonly R[],
  columns: readonly C[],
  cost: (row: R, column: C) => number,
): ReadonlyMap<R, C> => {
  if (rows.length > columns.length) {
    const turned = assign(columns, rows, (column, row) => cost(row, column))
    return new Map([...turned].map(([column, row]) => [row, column]))
  }
  if (rows.length * columns.length > EXACT_CELLS) {
    return new Map(rows.flatMap((row, index) => (columns[index] === undefined ? [] : [[row, columns[index]] as const])))
  }
  const matrix = rows.map((row) => columns.map((column) => cost(row, column)))
  return new Map(
    hungarian(matrix).flatMap((column, index) => {
      const [row, chosen] = [rows[index], columns[column]]
      return row === undefined || chosen === undefined ? [] : [[row, chosen] as const]
    }),
  )
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

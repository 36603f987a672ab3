/** Tables that fit the terminal. Optional columns are left out and names are shortened, so that no line wraps. */
import { clipMiddle, type Paint, paintOf, type Style, textWidth } from './style.ts'

export interface Column<Row> {
  readonly title: string
  /** Returns the text of a cell, which must not contain control characters. */
  readonly text: (row: Row) => string
  readonly color?: (row: Row, paint: Paint) => (text: string) => string
  /** Whether the column can be left out if there is no room for it. The last such column is left out first. */
  readonly isOptional?: boolean
  /** Whether to align the column to the right. */
  readonly isNumber?: boolean
  /** The width to which the column may be narrowed. If absent, it is never narrowed. */
  readonly narrowest?: number
}

export interface Table<Row> {
  readonly head: string
  readonly line: (row: Row) => string
}

const GAP = '  '

/** @param rows the rows that determine the column widths. A column that is empty in all of them is left out. */
export const tableOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style): Table<Row> => {
  const paint = paintOf(style)
  const used = columns
    .filter(({ text }) => rows.length === 0 || rows.some((row) => text(row) !== ''))
    .map((column) => ({
      column,
      width: Math.max(textWidth(column.title), ...rows.map((row) => textWidth(column.text(row)))),
    }))
  const required = used.filter(({ column }) => column.isOptional !== true)
  const widths = fitWidths(
    required.map(({ width }) => width),
    required.map(({ column, width }) => column.narrowest ?? width),
    style.width - 1 - required.length * GAP.length,
  )
  const kept = new Map(required.map(({ column }, index) => [column, widths[index] ?? 0]))
  const narrowed = new Set(required.filter(({ width }, index) => width !== widths[index]).map(({ column }) => column))
  let left = style.width - [...kept.values()].reduce((sum, width) => sum + GAP.length + width, 0)
  for (const { column, width } of used) {
    if (kept.has(column) || GAP.length + width >= left) continue
    kept.set(column, width)
    left -= GAP.length + width
  }
  const shown = columns.flatMap((column) => ({ column, width: kept.get(column) ?? 0 })).filter(({ width }) => width > 0)
  const join = (cells: readonly string[]): string => (GAP + cells.join(GAP)).trimEnd()
  return {
    head: paint.dim(join(shown.map(({ column, width }) => aligned(column, column.title, width)))),
    line: (row) =>
      join(
        shown.map(({ column, width }) => {
          const text = narrowed.has(column) ? clipMiddle(column.text(row), width) : column.text(row)
          // Only the text is coloured, not its padding, so that trailing spaces can be trimmed.
          return aligned(column, text, width, column.color?.(row, paint))
        }),
      ),
  }
}

const aligned = <Row>(
  { isNumber }: Column<Row>,
  text: string,
  width: number,
  color: (text: string) => string = String,
): string => {
  const room = ' '.repeat(Math.max(0, width - textWidth(text)))
  return isNumber === true ? room + color(text) : color(text) + room
}

export const widestCells = (rows: readonly (readonly string[])[]): readonly number[] =>
  rows.reduce<readonly number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, textWidth(cell))),
    [],
  )

/**
 * Narrows columns until they fit into `room`, or until none can be narrowed further. The column that exceeds its
 * narrowest width the most is narrowed first.
 */
export const fitWidths = (widths: readonly number[], narrowest: readonly number[], room: number): readonly number[] => {
  const found = [...widths]
  for (let excess = found.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess -= 1) {
    const spare = found.map((width, column) => width - (narrowest[column] ?? 0))
    const most = Math.max(...spare)
    if (most <= 0) break
    const column = spare.indexOf(most)
    found[column] = (found[column] ?? 0) - 1
  }
  return found
}

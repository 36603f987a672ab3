/** Tables that fit the terminal: optional columns are dropped, names are shortened, and no line wraps. */
import { clipMiddle, type Paint, paintOf, type Style, textWidth } from './style.ts'

export interface Column<Row> {
  readonly title: string
  /** Text without control characters. */
  readonly text: (row: Row) => string
  readonly color?: (row: Row, paint: Paint) => (text: string) => string
  /** Dropped if there is no room; earlier columns are kept longer. */
  readonly isOptional?: boolean
  /** Right-aligned. */
  readonly isNumber?: boolean
  /** The width to which it may be shortened. */
  readonly narrowest?: number
}

export interface Table<Row> {
  readonly head: string
  readonly line: (row: Row) => string
}

const GAP = '  '

/** @param rows rows that decide the widths; columns that are empty in all of them are dropped. */
export const tableOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style): Table<Row> => {
  const paint = paintOf(style)
  const measured = columns
    .filter(({ text }) => rows.length === 0 || rows.some((row) => text(row) !== ''))
    .map((column) => ({
      column,
      width: Math.max(textWidth(column.title), ...rows.map((row) => textWidth(column.text(row)))),
    }))
  const widthOf = (chosen: readonly { readonly width: number }[]): number =>
    chosen.reduce((sum, { width }) => sum + GAP.length + width, 0)
  let kept: readonly Measured<Row>[] = narrowed(
    measured.filter(({ column }) => column.isOptional !== true),
    style.width - 1,
    widthOf,
  )
  for (const one of measured.filter(({ column }) => column.isOptional === true)) {
    if (widthOf([...kept, one]) < style.width) kept = [...kept, one]
  }
  // In the declared order.
  const shown = kept.toSorted((a, b) => columns.indexOf(a.column) - columns.indexOf(b.column))
  const join = (cells: readonly string[]): string => (GAP + cells.join(GAP)).trimEnd()
  return {
    head: paint.dim(join(shown.map(({ column, width }) => aligned(column, column.title, width)))),
    line: (row) =>
      join(
        shown.map(({ column, width, limit }) => {
          const text = limit === undefined ? column.text(row) : clipMiddle(column.text(row), limit)
          // Only the text is coloured, so that trailing spaces can be trimmed.
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

interface Measured<Row> {
  readonly column: Column<Row>
  readonly width: number
  /** Set if the column is shortened. */
  readonly limit?: number
}

/** Shortens the widest columns until all fit, or none can be shortened further. */
const narrowed = <Row>(
  all: readonly Measured<Row>[],
  room: number,
  widthOf: (all: readonly Measured<Row>[]) => number,
): readonly Measured<Row>[] => {
  const widths = all.map(({ width }) => width)
  const isWide = (index: number): boolean => {
    const narrowest = all[index]?.column.narrowest
    return narrowest !== undefined && (widths[index] ?? 0) > narrowest
  }
  for (let excess = widthOf(all) - room; excess > 0; excess -= 1) {
    const [widest] = widths
      .map((_, index) => index)
      .filter(isWide)
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return all.map((one, index) => {
    const width = widths[index] ?? one.width
    return width === one.width ? one : { ...one, width, limit: width }
  })
}

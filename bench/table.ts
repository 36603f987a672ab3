/** Renders figures as Markdown tables that can also be read in a terminal. */
import type { Figure } from './statistics.ts'

export type Cell = string | number | Figure

export interface Section {
  readonly name: string
  /** One or two sentences about what was measured and how. */
  readonly about: string
  readonly rows: readonly Readonly<Record<string, Cell>>[]
  /** The measurements that were skipped, with the reasons. */
  readonly skipped?: readonly string[]
}

const short = (value: number): string => {
  if (value !== 0 && Math.abs(value) < 10) return Number.isInteger(value) ? String(value) : value.toFixed(2)
  return Math.round(value).toLocaleString('en-US')
}

const shown = (cell: Cell | undefined): string => {
  if (cell === undefined) return ''
  if (typeof cell === 'string') return cell
  if (typeof cell === 'number') return short(cell)
  const { median, min, max } = cell
  return short(min) === short(max) ? short(median) : `${short(median)} (${short(min)}–${short(max)})`
}

export const sectionText = ({ name, about, rows, skipped = [] }: Section): string => {
  const heads = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = [heads, ...rows.map((row) => heads.map((head) => shown(row[head])))]
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const text = lines.map((line) => `| ${line.map((cell, column) => cell.padStart(widths[column] ?? 0)).join(' | ')} |`)
  const rule = `|${widths.map((width) => `${'-'.repeat(width + 1)}:`).join('|')}|`
  return [
    `\n## ${name}\n`,
    about,
    '',
    text[0],
    rule,
    ...text.slice(1),
    ...skipped.map((why) => `\nSkipped: ${why}`),
  ].join('\n')
}

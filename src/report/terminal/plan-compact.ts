/** Shows a large plan with one line for each change, grouped by impact. */
import { group, groupBy, plainText } from '../../base/index.ts'
import { type Change, CONSENT_OF, IMPACT_WORDS, type Impact } from '../../model/index.ts'
import { worstFirst } from '../words/impacts.ts'
import { KIND_MARKS } from '../words/marks.ts'
import { place, shownAttributes } from '../words/names.ts'
import type { PlanFrame } from './plan-frame.ts'
import { clip, clipMiddle, impactMark, pad, paintImpact, textWidth, wrapped } from './style.ts'
import { fitWidths } from './table.ts'

/** The columns are the project, the branch, the compute, what changes, and the file with the line. */
const COLUMNS = 5
const WHAT = 3
const PLACE = 4
const NARROWEST = 8
/** The column that shows what changes is narrowed below this width only after all others are at their narrowest. */
const MOST_WANTED = 22
const GAP = 2
const INDENT = 2

export const compactChanges = (changes: readonly Change[], frame: PlanFrame): readonly string[] => {
  const sorted = worstFirst(changes, frame.names.project)
  const folder = commonFolder(sorted)
  const rows = sorted.map((change) => ({ change, cells: cellsOf(change, folder, frame) }))
  const symbol = Math.max(0, ...sorted.map(({ kind }) => KIND_MARKS[kind].symbol.length)) + 1
  const widths = widthsOf(
    rows.map(({ cells }) => cells),
    frame.style.width - INDENT - symbol,
  )
  return [...groupBy(rows, ({ change }) => change.impact)].map(([impact, own]) =>
    [headingOf(impact, own, frame), ...own.map((row) => rowOf(row, symbol, widths, frame))].join('\n'),
  )
}

interface Row {
  readonly change: Change
  readonly cells: readonly string[]
}

const headingOf = (impact: Impact, rows: readonly Row[], { style, paint }: PlanFrame): string => {
  // There is no flag that allows a refused change.
  const needed = rows.some(({ change }) => change.refused === undefined) ? flagOf(impact) : undefined
  const flag = needed === undefined ? '' : paint.yellow(`  needs --allow ${needed}`)
  const title = impactMark(impact, paint, IMPACT_WORDS[impact])
  return wrapped(`${title}  ${paint.dim(`(${group(rows.length)})`)}${flag}`, style)
}

/** The consent that must be given with `--allow` for this impact. A restart needs none. */
const flagOf = (impact: Impact): string | undefined => {
  const consent = CONSENT_OF[impact]
  return consent === 'restart' ? undefined : consent
}

const cellsOf = (change: Change, folder: string, frame: PlanFrame): readonly string[] => [
  frame.names.isMixed ? frame.names.project(change.project) : '',
  change.branch.name,
  change.compute.type === 'read_write' ? 'primary' : (change.compute.name ?? change.compute.id ?? 'replica'),
  whatWords(change, frame),
  change.source === undefined ? '' : place(change.source).slice(folder.length),
]

/** What changes, with the most important facts first, because the end may be cut off. */
const whatWords = (change: Change, frame: PlanFrame): string => {
  const { id, impact, kind, from, refused, unlessIdle, windows } = change
  const more = (frame.consents.get(id) ?? []).filter((consent) => consent !== flagOf(impact))
  return [
    ...(refused === undefined ? [] : ['refused']),
    ...(more.length === 0 || refused !== undefined ? [] : [`--allow ${more.join(',')}`]),
    ...(windows === undefined || impact === 'none' ? [] : ['in its window']),
    ...(from === undefined ? [] : [`from ${from.name}`]),
    ...shownAttributes(change).map(({ path, beforeText, afterText }) => {
      const name = path.replace(/^postgres\.(settings\.)?/, '')
      return beforeText === undefined || kind === 'replace'
        ? `${name} ${afterText}`
        : `${name} ${beforeText} → ${afterText}`
    }),
    ...(unlessIdle === undefined ? [] : ['idle']),
  ].join(', ')
}

/** The folder that contains all files. It is left out of their paths. */
const commonFolder = (changes: readonly Change[]): string => {
  const folders = changes.flatMap(({ source }) =>
    source === undefined ? [] : [plainText(source.file).replace(/[^/]*$/, '')],
  )
  const [first = '', ...rest] = folders
  let common = first
  for (const folder of rest) while (!folder.startsWith(common)) common = common.replace(/[^/]*\/$/, '')
  return common
}

const widthsOf = (rows: readonly (readonly string[])[], room: number): readonly number[] => {
  const widths = Array.from({ length: COLUMNS }, (_, column) =>
    rows.reduce((most, row) => Math.max(most, textWidth(row[column] ?? '')), 0),
  )
  const left = room - GAP * (widths.filter((width) => width > 0).length - 1)
  const narrowest = widths.map(() => NARROWEST)
  const preferred = narrowest.with(WHAT, MOST_WANTED)
  return fitWidths(fitWidths(widths, preferred, left), narrowest, left)
}

/** Leaves out `.yaml` if there is not enough room. */
const shortPlace = (text: string, width: number): string =>
  textWidth(text) <= width ? text : text.replace(/\.ya?ml(?=:)/, '')

const rowOf = (
  { change, cells }: Row,
  symbolWidth: number,
  widths: readonly number[],
  { paint, style }: PlanFrame,
): string => {
  const painted = [paint.bold, paint.bold, String, String, paint.dim]
  const shown = cells.flatMap((cell, column) => {
    const width = widths[column] ?? 0
    if (width === 0) return []
    const text =
      column === WHAT ? clip(cell, width) : clipMiddle(column === PLACE ? shortPlace(cell, width) : cell, width)
    return [(painted[column] ?? String)(pad(text, width))]
  })
  const symbol = paintImpact(pad(KIND_MARKS[change.kind].symbol, symbolWidth), change.impact, paint)
  const line = `${' '.repeat(INDENT)}${symbol}${shown.join(' '.repeat(GAP))}`
  return style.color ? line : line.trimEnd()
}

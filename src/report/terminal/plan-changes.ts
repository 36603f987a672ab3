/** Shows the changes of a plan, one row each. If there are few, or with `--detail`, lines below a row explain it. */
import { counted, groupBy } from '../../base/index.ts'
import { type Change, CONSENTS, type Consent, type Plan } from '../../model/index.ts'
import type { remarksOf } from '../words/cost.ts'
import { IMPACT_MARKS, isDisruptive, KIND_MARKS, windowWords } from '../words/impacts.ts'
import { type PlanNames, place, type Since } from '../words/names.ts'
import {
  areExplained,
  moreWords,
  rowChanges,
  rowEffects,
  rowImpact,
  rowsOf,
  rowTitle,
  whyWords,
} from '../words/rows.ts'
import { clip, clipMiddle, type Paint, pad, paintImpact, type Style, textWidth, wrap, wrapped } from './style.ts'
import { fitWidths, widestCells } from './table.ts'

export interface PlanContext {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** The current time, ISO 8601, which decides whether restart windows are open. */
  readonly now?: string
  /** Whether `--now` is given, so that steps also run while their restart windows are closed. */
  readonly overridesWindows?: boolean
  /** The consents that were given. */
  readonly allowed?: ReadonlySet<Consent>
  readonly since?: Since
  /** Whether to show everything: every attribute, place and reason, capacity, time, and the order of steps. */
  readonly detail?: boolean | undefined
}

/** The data that all sections of a plan need. */
export interface PlanFrame extends Pick<PlanContext, 'takenAt' | 'now' | 'overridesWindows' | 'allowed' | 'since'> {
  readonly plan: Plan
  readonly isDetailed: boolean
  readonly style: Style
  readonly paint: Paint
  readonly names: PlanNames
  /** The remarks on each change about cost, service updates and expiry, by the id of the change. */
  readonly remarks: ReturnType<typeof remarksOf>
}

/** The consents that the plan needs. Restarts are left out, because answering yes permits them. */
export const requiredConsents = ({ steps }: Plan): readonly Consent[] =>
  CONSENTS.filter(
    (consent) =>
      consent !== 'restart' &&
      // There is no flag that allows a refused change.
      steps.some(({ consents, refused }) => refused === undefined && consents.includes(consent)),
  )

const ROW_INDENT = 2
const INDENT = 6
const GAP = '  '

/** The narrowest columns: the project, the compute, and what changes. The last column, the impact, is never cut. */
const NARROWEST = [13, 20, 24]
/** On a narrower terminal, the column for the project takes the room of the words for impacts. */
const WIDE = 100
/** On a narrower terminal, there are no columns, and nothing is cut. */
const LEAST_COLUMNS = 60
/** If the columns still do not fit. */
const LAST_RESORT = [6, 12, 20]
const [PROJECT, COMPUTE, WHAT, IMPACT] = [0, 1, 2, 3]

export const changeRows = (changes: readonly Change[], frame: PlanFrame): readonly string[] => {
  const { plan, isDetailed, names, style, paint } = frame
  if (changes.length === 0) return []
  const { shown, others } = rowsOf(changes, names.project, isDetailed ? false : undefined)
  const [first] = changes
  const isMixed = plan.changes.some(({ project }) => project !== first?.project)
  const cells = shown.map((change) => cellsOf(change, isMixed, frame))
  const symbol = Math.max(0, ...shown.map(({ kind }) => KIND_MARKS[kind].symbol.length))
  const widths =
    style.width < LEAST_COLUMNS ? widestCells(cells) : widthsOf(cells, style.width - ROW_INDENT - symbol - 1)
  const known = new Set<string>()
  const rows = shown.flatMap((change, index) => {
    const own = cells[index] ?? []
    const line = rowLine(change, own, symbol, widths, frame)
    return [line, ...linesBelow(change, own, widths, frame, known)]
  })
  const quiet = others === undefined ? [] : [wrapped(paint.green(`· ${others}`), style, ROW_INDENT)]
  const heading = isMixed || first === undefined ? [] : [projectHeading(first.project, frame)]
  return [[...heading, ...rows, ...quiet, ...windowLines(shown, frame)].join('\n')]
}

const projectHeading = (project: string, { names, isDetailed, style, paint }: PlanFrame): string => {
  const title = names.project(project)
  const id = title === project || !isDetailed ? '' : paint.dim(`  ${project}`)
  return wrapped(`${paint.bold(`Project ${title}`)}${id}`, style)
}

const cellsOf = (
  change: Change,
  isMixed: boolean,
  { names, style, overridesWindows }: PlanFrame,
): readonly string[] => {
  const changes = rowChanges(change)
  const { symbol } = change.refused === undefined ? IMPACT_MARKS[change.impact] : IMPACT_MARKS.delete
  const warns = change.impact === 'none' && rowEffects(change, false).length > 0
  return [
    isMixed ? names.project(change.project) : '',
    rowTitle(change),
    `${changes[0]}${moreWords(changes)}`,
    `${warns ? IMPACT_MARKS.restart.symbol : symbol} ${rowImpact(change, { isNarrow: isMixed && style.width < WIDE, overridesWindows })}`,
  ]
}

const widthsOf = (rows: readonly (readonly string[])[], room: number): readonly number[] => {
  const widths = widestCells(rows)
  const impact = widths[IMPACT] ?? 0
  const [project = 0, ...others] = widths.slice(0, IMPACT)
  const left = room - impact - GAP.length * (project === 0 ? 2 : 3)
  const preferred = fitWidths([project, ...others], NARROWEST, left)
  return [...fitWidths(preferred, LAST_RESORT, left), impact]
}

const rowLine = (
  change: Change,
  cells: readonly string[],
  symbolWidth: number,
  widths: readonly number[],
  { style, paint }: PlanFrame,
): string => {
  const { kind, impact } = change
  const mark = KIND_MARKS[kind]
  const [project, compute, what, noticed] = cells.map((cell, column) => {
    const width = widths[column] ?? 0
    if (textWidth(cell) <= width || column === IMPACT) return cell
    const count = moreWords(rowChanges(change))
    return column === WHAT
      ? clip(cell.slice(0, cell.length - count.length), width - count.length) + count
      : clipMiddle(cell, width)
  })
  const padded = (column: number, text = ''): string => pad(text, widths[column] ?? 0)
  const columns = [
    ...((widths[PROJECT] ?? 0) === 0 ? [] : [padded(PROJECT, project)]),
    padded(COMPUTE, compute),
    paint.bold(padded(WHAT, what)),
    paintImpact(noticed ?? '', change.refused === undefined ? impact : 'delete', paint),
  ]
  const symbol = paint[mark.colour](pad(mark.symbol, symbolWidth))
  const line = `${symbol} ${columns.join(GAP)}`
  const first = ' '.repeat(ROW_INDENT)
  return style.width < LEAST_COLUMNS ? wrap(line, style, first, ' '.repeat(INDENT)) : first + line
}

/** @param known the refusals that were shown before, which are not repeated. */
const linesBelow = (
  change: Change,
  cells: readonly string[],
  widths: readonly number[],
  frame: PlanFrame,
  known: Set<string>,
): readonly string[] => {
  const { plan, isDetailed, names, style, paint } = frame
  const { id, compute, source, windows, refused } = change
  const isExplained = isDetailed || areExplained(plan)
  const effects = rowEffects(change, isExplained).map(({ text, warns }) => (warns ? paint.yellow(text) : text))
  const isCut = (column: number): boolean => textWidth(cells[column] ?? '') > (widths[column] ?? 0)
  const changes = rowChanges(change)
  const facts = [
    ...(isCut(PROJECT) || isCut(COMPUTE) ? [names.compute(change)] : []),
    ...(isDetailed ? [compute.id ?? [], compute.state ?? []].flat() : []),
    ...(source === undefined ? [] : [place(source)]),
    ...(isCut(WHAT) ? changes : changes.slice(1)),
  ]
  const why = isDetailed ? whyWords(change) : ''
  const isNew = refused !== undefined && !known.has(refused)
  if (refused !== undefined) known.add(refused)
  const isAlone = isExplained && windows !== undefined
  return [
    [...(isExplained ? facts.map(paint.dim) : []), ...effects].join(' · '),
    ...(isAlone ? [paint.cyan(windowWords(change, frame.now, frame.overridesWindows))] : []),
    ...(isExplained ? (frame.remarks.get(id) ?? []).map(({ sentence }) => sentence) : []),
    ...(why === '' ? [] : [paint.dim(`why: ${why}`)]),
    ...(isNew ? [paint.red(`refused: ${refused}`)] : []),
  ]
    .filter((line) => line !== '')
    .map((line) => wrapped(line, style, INDENT))
}

const MOST_WINDOWS = 3

/** What waits for which restart window, once for all rows that share it. */
const windowLines = (shown: readonly Change[], frame: PlanFrame): readonly string[] => {
  const { plan, isDetailed, style, paint } = frame
  if (isDetailed || areExplained(plan)) return []
  const waiting = shown.filter(({ windows, impact }) => windows !== undefined && isDisruptive(impact))
  const groups = [...groupBy(waiting, (change) => windowWords(change, frame.now, frame.overridesWindows))]
  const more = groups.length - MOST_WINDOWS
  return [
    ...groups
      .slice(0, MOST_WINDOWS)
      .map(([words, own]) =>
        wrap(
          paint.cyan(`${counted(own.length, 'compute')}: ${words}`),
          style,
          ' '.repeat(ROW_INDENT),
          ' '.repeat(INDENT),
        ),
      ),
    ...(more > 0 ? [paint.cyan(`  and ${counted(more, 'more restart window')}`)] : []),
  ]
}

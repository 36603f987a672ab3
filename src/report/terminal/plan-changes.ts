/** Shows the changes of a plan: each with all its attributes, or on one line if there are many. */
import { group, groupBy, plainText } from '../../base/index.ts'
import {
  type AttributeChange,
  type Change,
  CONSENT_OF,
  CONSENTS,
  type Consent,
  computeTitle,
  IMPACT_WORDS,
  type Impact,
  type Plan,
  REASONS,
  type Reason,
} from '../../model/index.ts'
import type { remarksOf } from '../words/cost.ts'
import { impactCount, impactWords, KIND_MARKS, severity, windowWords, worstFirst } from '../words/impacts.ts'
import { type PlanNames, place, type Since, shownAttributes } from '../words/names.ts'
import {
  clip,
  clipMiddle,
  impactMark,
  type Paint,
  pad,
  paintImpact,
  type Style,
  textWidth,
  wrap,
  wrapped,
} from './style.ts'
import { fitWidths, widestCells } from './table.ts'

export interface PlanContext {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** The current time, ISO 8601, which decides whether restart windows are open. */
  readonly now?: string
  /** Whether `--now` is given, so that steps also run while their restart windows are closed. */
  readonly overridesWindows?: boolean
  readonly since?: Since
  /**
   * Whether to show all attributes of each change and the order of steps. By default, attributes are shown if there are
   * at most twelve changes, and then also the order of steps if it matters.
   */
  readonly detail?: boolean | undefined
}

/** The data that all sections of a plan need. */
export interface PlanFrame extends Pick<PlanContext, 'takenAt' | 'now' | 'overridesWindows'> {
  readonly plan: Plan
  readonly isCompact: boolean
  readonly style: Style
  readonly paint: Paint
  readonly names: PlanNames
  /** The consents that each change needs in addition to a yes, by the id of the change. */
  readonly consents: ReadonlyMap<string, readonly Consent[]>
  /** The remarks on each change about cost, service updates and expiry, by the id of the change. */
  readonly remarks: ReturnType<typeof remarksOf>
}

/** The consents that each change needs. Restarts are left out, because answering yes permits them. */
export const requiredConsents = ({ steps }: Plan): PlanFrame['consents'] =>
  new Map(
    [...groupBy(steps, ({ change }) => change)].map(([change, own]) => [
      change,
      CONSENTS.filter((consent) => consent !== 'restart' && own.some(({ consents }) => consents.includes(consent))),
    ]),
  )

/** Groups changes by project. The project with the worst change comes first. */
export const detailedChanges = (changes: readonly Change[], frame: PlanFrame): readonly string[] =>
  [...groupBy(worstFirst(changes, frame.names.project), ({ project }) => project)].flatMap(([project, own]) => [
    projectLine(project, own, frame),
    ...own.map((change) => changeLines(change, frame).join('\n')),
  ])

/** The name and id of a project, and the number of changes with each impact, the worst first. */
const projectLine = (project: string, changes: readonly Change[], { names, style, paint }: PlanFrame): string => {
  const title = names.project(project)
  const id = title === project ? '' : paint.dim(`  ${project}`)
  const counts = groupBy(
    changes.toSorted((a, b) => severity(b) - severity(a)),
    ({ impact }) => impact,
  )
  const marks = [...counts].map(([impact, own]) => impactMark(impact, paint, impactCount(impact, own.length)))
  return wrapped(`${paint.bold(`Project ${title}`)}${id}  ${marks.join('  ')}`, style)
}

const INDENT = 6

const changeLines = (change: Change, frame: PlanFrame): readonly string[] => {
  const { style, paint } = frame
  const { kind, compute, from, branch, source, windows, impact, reasons, refused } = change
  const attributes = shownAttributes(change)
  const where = from === undefined ? `on ${branch.name}` : `from ${from.name} to ${branch.name}`
  const facts = [compute.id, compute.state, source && place(source)].filter((part) => part !== undefined)
  const head = `${paint[KIND_MARKS[kind].colour](pad(KIND_MARKS[kind].symbol, 3))} ${kind} ${paint.bold(computeTitle(compute))} ${where}`
  const width = Math.min(Math.floor(style.width / 2), Math.max(0, ...attributes.map(({ path }) => textWidth(path))))
  const line = (text: string): string => wrapped(text, style, INDENT)
  const why = reasons.filter((reason) => SHOWN_REASONS.has(reason)).map((reason) => `${REASONS[reason]} (${reason})`)
  return [
    wrap(head + paint.dim(facts.length === 0 ? '' : `  ${facts.join('  ')}`), style, '  ', ' '.repeat(INDENT)),
    ...attributes.map((attribute) => attributeLine(attribute, width, style, paint)),
    // No one uses a new compute yet.
    ...(kind === 'create' && impact === 'none' ? [] : [line(impactLine(change, frame))]),
    ...(windows === undefined ? [] : [line(paint.cyan(windowWords(change, frame.now, frame.overridesWindows)))]),
    ...(frame.remarks.get(change.id) ?? []).map(({ sentence }) => line(sentence)),
    ...(why.length === 0 ? [] : [line(paint.dim(`why: ${why.join('; ')}`))]),
    ...(refused === undefined ? [] : [line(paint.red(`refused: ${refused}`))]),
  ]
}

const attributeLine = (
  { path, beforeText, afterText }: AttributeChange,
  width: number,
  style: Style,
  paint: Paint,
): string => {
  const shown = beforeText === undefined ? afterText : `${beforeText} → ${afterText}`
  return wrap(`${paint.dim(pad(path, width))}  ${shown}`, style, ' '.repeat(INDENT), ' '.repeat(INDENT + 2 + width))
}

const impactLine = (change: Change, { consents, paint }: PlanFrame): string => {
  const needed = consents.get(change.id) ?? []
  // There is no flag that allows a refused change.
  const isAsked = needed.length > 0 && change.refused === undefined
  const flag = isAsked ? `  ${paint.yellow(`needs --allow ${needed.join(',')}`)}` : ''
  return `${impactMark(change.impact, paint, impactWords(change))}${flag}`
}

/** Other reasons are clear from the attributes. */
const SHOWN_REASONS = new Set<Reason>(['PIN_ELSEWHERE', 'TYPE_DIFFERS', 'DECLARED_ABSENT', 'PRUNED'])

// Shows a large plan with one line for each change, grouped by impact.

/** The columns are the project, the branch, the compute, what changes, and the file with the line. */
const WHAT = 3
const PLACE = 4
const NARROWEST = 8
/** The column that shows what changes is narrowed below this width only after all others are at their narrowest. */
const MOST_WANTED = 22
const GAP = 2
const ROW_INDENT = 2

export const compactChanges = (changes: readonly Change[], frame: PlanFrame): readonly string[] => {
  const sorted = worstFirst(changes, frame.names.project)
  const folder = commonFolder(sorted)
  const rows = sorted.map((change) => ({ change, cells: cellsOf(change, folder, frame) }))
  const symbol = Math.max(0, ...sorted.map(({ kind }) => KIND_MARKS[kind].symbol.length)) + 1
  const widths = widthsOf(
    rows.map(({ cells }) => cells),
    frame.style.width - ROW_INDENT - symbol,
  )
  return [...groupBy(rows, ({ change }) => change.impact)].map(([impact, own]) =>
    [headingOf(impact, own, frame), ...own.map((row) => rowOf(row, symbol, widths, frame))].join('\n'),
  )
}

const headingOf = (
  impact: Impact,
  rows: readonly { readonly change: Change }[],
  { style, paint }: PlanFrame,
): string => {
  // There is no flag that allows a refused change.
  const needed = rows.some(({ change }) => change.refused === undefined) ? flagOf(impact) : undefined
  const flag = needed === undefined ? '' : paint.yellow(`  needs --allow ${needed}`)
  const title = impactMark(impact, paint, IMPACT_WORDS[impact])
  return wrapped(`${title}  ${paint.dim(`(${group(rows.length)})`)}${flag}`, style)
}

/** The consent that must be given with `--allow` for this impact. A restart needs none. */
const flagOf = (impact: Impact): string | undefined =>
  CONSENT_OF[impact] === 'restart' ? undefined : CONSENT_OF[impact]

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
  const [first = '', ...rest] = changes.flatMap(({ source }) => (source === undefined ? [] : plainText(source.file)))
  let common = first.replace(/[^/]*$/, '')
  for (const file of rest) while (!file.startsWith(common)) common = common.replace(/[^/]*\/$/, '')
  return common
}

const widthsOf = (rows: readonly (readonly string[])[], room: number): readonly number[] => {
  const widths = widestCells(rows)
  const left = room - GAP * (widths.filter((width) => width > 0).length - 1)
  const narrowest = widths.map(() => NARROWEST)
  const preferred = narrowest.with(WHAT, MOST_WANTED)
  return fitWidths(fitWidths(widths, preferred, left), narrowest, left)
}

const rowOf = (
  { change, cells }: { readonly change: Change; readonly cells: readonly string[] },
  symbolWidth: number,
  widths: readonly number[],
  { paint, style }: PlanFrame,
): string => {
  const painted = [paint.bold, paint.bold, String, String, paint.dim]
  const shown = cells.flatMap((cell, column) => {
    const width = widths[column] ?? 0
    if (width === 0) return []
    // `.yaml` is left out if there is not enough room.
    const isLong = column === PLACE && textWidth(cell) > width
    const text =
      column === WHAT ? clip(cell, width) : clipMiddle(isLong ? cell.replace(/\.ya?ml(?=:)/, '') : cell, width)
    return [(painted[column] ?? String)(pad(text, width))]
  })
  const symbol = paintImpact(pad(KIND_MARKS[change.kind].symbol, symbolWidth), change.impact, paint)
  const line = `${' '.repeat(ROW_INDENT)}${symbol}${shown.join(' '.repeat(GAP))}`
  return style.color ? line : line.trimEnd()
}

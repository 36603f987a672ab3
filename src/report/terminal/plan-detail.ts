/** Shows a small plan, with all attributes of each change. */
import { groupBy } from '../../base/index.ts'
import { type AttributeChange, type Change, computeTitle, REASONS, type Reason } from '../../model/index.ts'
import { impactCount, impactWords, severity, windowWords, worstFirst } from '../words/impacts.ts'
import { KIND_MARKS } from '../words/marks.ts'
import { place, shownAttributes } from '../words/names.ts'
import type { PlanFrame } from './plan-frame.ts'
import { impactMark, type Paint, pad, type Style, textWidth, wrap, wrapped } from './style.ts'

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
  const { kind, compute, from, branch, source, windows, refused } = change
  const attributes = shownAttributes(change)
  const where = from === undefined ? `on ${branch.name}` : `from ${from.name} to ${branch.name}`
  const facts = [compute.id, compute.state, source && place(source)].filter((part) => part !== undefined)
  const head = `${paint[KIND_MARKS[kind].colour](pad(KIND_MARKS[kind].symbol, 3))} ${kind} ${paint.bold(computeTitle(compute))} ${where}`
  const width = Math.min(Math.floor(style.width / 2), Math.max(0, ...attributes.map(({ path }) => textWidth(path))))
  const line = (text: string): string => wrapped(text, style, INDENT)
  const why = reasonWords(change)
  return [
    wrap(head + paint.dim(facts.length === 0 ? '' : `  ${facts.join('  ')}`), style, '  ', ' '.repeat(INDENT)),
    ...attributes.map((attribute) => attributeLine(attribute, width, style, paint)),
    ...impactLine(change, frame).map(line),
    ...(windows === undefined ? [] : [line(paint.cyan(windowWords(change, frame.now, frame.overridesWindows)))]),
    ...(frame.remarks.get(change.id) ?? []).map(({ sentence }) => line(sentence)),
    ...(why === undefined ? [] : [line(paint.dim(`why: ${why}`))]),
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

/** The impact of a change. Empty for a new compute, because it has no users yet. */
const impactLine = (change: Change, { consents, paint }: PlanFrame): readonly string[] => {
  const { impact, kind, refused } = change
  if (kind === 'create' && impact === 'none') return []
  const words = impactMark(impact, paint, impactWords(change))
  const needed = consents.get(change.id) ?? []
  // There is no flag that allows a refused change.
  return [
    needed.length === 0 || refused !== undefined
      ? words
      : `${words}  ${paint.yellow(`needs --allow ${needed.join(',')}`)}`,
  ]
}

/** Other reasons are clear from the attributes. */
const SHOWN_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  'PIN_ELSEWHERE',
  'TYPE_DIFFERS',
  'DECLARED_ABSENT',
  'PRUNED',
])

const reasonWords = ({ reasons }: Change): string | undefined => {
  const shown = reasons.filter((reason) => SHOWN_REASONS.has(reason))
  return shown.length === 0 ? undefined : shown.map((reason) => `${REASONS[reason]} (${reason})`).join('; ')
}

/** Which changes of a plan are shown, in which order, and how each is put on one line, in all texts alike. */
import { counted } from '../../base/index.ts'
import {
  type AttributeChange,
  CHANGE_KINDS,
  type Change,
  IMPACT_NAMES,
  IMPACT_WORDS,
  type Plan,
  REASONS,
} from '../../model/index.ts'
import { effectLines, MOST_EXPLAINED } from './effects.ts'
import { isDisruptive, noneWords, shortImpact, worstFirst } from './impacts.ts'
import { shownAttributes } from './names.ts'

/** With more changes than this, those that interrupt no one are counted instead. */
const MOST_ROWS = 20

export interface Rows {
  /** The worst first. */
  readonly shown: readonly Change[]
  /** Shown in place of the others. Absent if there are none. */
  readonly others?: string
}

export const areExplained = ({ changes }: Pick<Plan, 'changes'>): boolean => changes.length <= MOST_EXPLAINED

/** @param isShort whether to count those that interrupt no one. By default, if there are many. */
export const rowsOf = (
  changes: readonly Change[],
  titleOf?: (project: string) => string,
  isShort = changes.length > MOST_ROWS,
): Rows => {
  const sorted = worstFirst(changes, titleOf)
  const { loud, quiet } = splitRows(sorted, isShort ? undefined : 0)
  return { shown: loud, ...(quiet.length === 0 ? {} : { others: quietWords(quiet, loud.length > 0) }) }
}

/** Splits off the changes that interrupt no one, if there are many. @param all the number of all changes. */
export const splitRows = (shown: readonly Change[], all = Number.POSITIVE_INFINITY) =>
  all <= MOST_ROWS
    ? { loud: shown, quiet: [] }
    : { loud: shown.filter((change) => !isQuiet(change)), quiet: shown.filter(isQuiet) }

/** `8 more changes (8 to update): no one is interrupted`. */
export const quietWords = (quiet: readonly Change[], isMore: boolean): string => {
  const counts = CHANGE_KINDS.flatMap((kind) => {
    const count = quiet.filter((change) => change.kind === kind).length
    return count === 0 ? [] : [`${count} to ${kind}`]
  })
  const idle = quiet.filter(({ unlessIdle }) => unlessIdle !== undefined).length
  const computes = idle === 1 ? 'the idle compute' : `one of the ${idle} idle computes`
  const words = `${noneWords(quiet)}${idle === 0 ? '' : `, unless ${computes} is in use by then`}`
  return `${counted(quiet.length, isMore ? 'more change' : 'change')} (${counts.join(', ')}): ${words}`
}

/** Whether a change interrupts no one, and has nothing else that a reviewer must see. */
const isQuiet = ({ impact, refused, effects }: Change): boolean =>
  !isDisruptive(impact) && refused === undefined && !effects.some(({ warns }) => warns === true)

/** `primary on main`, `reporting on main`. */
export const rowTitle = ({ compute: { type, name, id }, branch }: Pick<Change, 'compute' | 'branch'>): string =>
  `${type === 'read_write' ? 'primary' : (name ?? id ?? 'replica')} on ${branch.name}`

/** What changes, the most important first: `size 1 → 1–4 CU`. */
export const rowChanges = (change: Change): readonly string[] => {
  const { kind, from, reasons } = change
  const attributes = kind === 'delete' ? [] : shownAttributes(change).map(attributeWords)
  const all = [...(from === undefined ? [] : [`from ${from.name}`]), ...attributes]
  if (all.length > 0) return all
  return [kind === 'delete' ? (reasons[0] === 'PRUNED' ? 'not declared' : 'declared absent') : `${kind}d`]
}

const attributeWords = ({ path, before, after, beforeText, afterText }: AttributeChange): string => {
  const name = path === 'scaleToZero' ? 'sleeps' : path.replace(/^postgres\.(settings\.)?/, '')
  if (typeof after === 'boolean') return before === undefined || after ? name : `not ${name}`
  const [from = '', to] = [beforeText, afterText].map((text) => text?.replace(/^default \((.*)\)$/, '$1'))
  const unit = to?.endsWith(' CU') ? / CU$/ : /$^/
  return beforeText === undefined ? `${name} ${to}` : `${name} ${from.replace(unit, '')} → ${to}`
}

/** How many attributes a line leaves out: `, +2 more`. */
export const moreWords = (changes: readonly string[]): string =>
  changes.length > 1 ? `, +${changes.length - 1} more` : ''

/** The widest words that an impact has on a line. */
const WIDEST = 26

/** What users notice, short enough for a column: `restarts: connections drop`, `idle; restarts if in use`. */
export const rowImpact = (
  change: Change,
  { isNarrow = false, overridesWindows = false }: { isNarrow?: boolean; overridesWindows?: boolean | undefined } = {},
): string => {
  const { kind, impact, unlessIdle, windows } = change
  if (change.refused !== undefined) return change.isDenied ? 'denied' : 'refused'
  if (impact === 'none') {
    if (unlessIdle !== undefined) return shortImpact(change, isNarrow)
    return kind === 'create' ? 'new' : noneWords([change])
  }
  if (windows !== undefined && !overridesWindows) return `${IMPACT_NAMES[impact]} in its window`
  const [words = ''] = IMPACT_WORDS[impact].replace('existing ', '').split(',')
  return isNarrow || words.length > WIDEST ? IMPACT_NAMES[impact] : words
}

/** The effects that a change is shown with and, if it is explained, what its impact means beyond the row. */
export const rowEffects = (change: Change, isExplained: boolean): ReturnType<typeof effectLines> => {
  if (!isExplained) return effectLines(change).filter(({ warns }) => warns)
  const [, ...more] = IMPACT_WORDS[change.impact].split(', ')
  return [...effectLines(change), ...more.map((text) => ({ text, warns: false }))]
}

/** Reasons that the attributes do not show: `not declared, and the manifest sets prune: true (PRUNED)`. */
export const whyWords = ({ reasons }: Change): string =>
  reasons
    .filter((reason) => reason !== 'NOT_OBSERVED' && reason !== 'VALUE_DIFFERS' && reason !== 'PARKED')
    .map((reason) => `${REASONS[reason]} (${reason})`)
    .join('; ')

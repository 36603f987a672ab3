/** Shows the outcome of an apply. */
import { counted, group, plainValue } from '../../base/index.ts'
import type { Outcome, Plan, StepOutcome } from '../../model/index.ts'
import { alikeSteps } from '../words/alike.ts'
import { applyVerdict, nextSteps } from '../words/apply-verdict.ts'
import { planNames } from '../words/names.ts'
import { isNotStarted, whyOf } from './events.ts'
import { paintOf, type Style, statusMark, wrapped } from './style.ts'

/** Further steps are only counted, so that the list fits on a screen. The journal and the page contain all steps. */
const MOST_SHOWN = 12

/**
 * Lists the steps that are not done, by reason, and then says what to do next. The last line is the verdict.
 *
 * @param isLogged whether steps were printed when they ended, but only the first of those that failed for the same
 *   reason. If so, only such groups and steps that never started are listed.
 */
export const terminalOutcome = (rawPlan: Plan, rawOutcome: Outcome, style: Style, isLogged = false): string => {
  const [plan, outcome] = [plainValue(rawPlan), plainValue(rawOutcome)]
  const paint = paintOf(style)
  const { kind, words } = applyVerdict(plan, outcome)
  const color = { complete: paint.green, scheduled: paint.cyan, incomplete: paint.red }[kind]
  const parts = [
    openSteps(plan, outcome, style, isLogged),
    outcome.notes.map((note) => wrapped(`${paint.cyan('Note')} ${note}`, style)),
    nextSteps(plan, outcome).map((line) => wrapped(line, style)),
    [
      wrapped(
        words.replace(/^[^:]*/, (title) => paint.bold(color(title))),
        style,
      ),
    ],
  ]
  const shown = parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  return `${shown.join('\n\n')}\n`
}

/** Lines for the steps that are not done, by reason. @param isLogged see {@link terminalOutcome}. */
export const openSteps = (plan: Plan, outcome: Outcome, style: Style, isLogged: boolean): readonly string[] => {
  const { stepById } = planNames(plan)
  // A step that is done has a message only if something unexpected happened.
  const open = outcome.steps.filter(({ status, message }) => status !== 'done' || (!isLogged && message !== undefined))
  const groups = alikeSteps(open).filter(
    (alike) => !isLogged || alike.length > 1 || alike.some(({ status }) => isNotStarted(status)),
  )
  const most = Math.max(1, Math.floor(MOST_SHOWN / Math.max(1, groups.length)))
  const rest = groups.slice(MOST_SHOWN).reduce((sum, alike) => sum + alike.length, 0)
  return [
    ...groups.slice(0, MOST_SHOWN).flatMap((alike) => groupLines(alike, stepById, most, style)),
    ...(rest === 0 ? [] : [`and ${counted(rest, 'more step')}`]),
  ]
}

/** Lists steps that ended for the same reason, which is shown only once. @param most how many titles to list. */
const groupLines = (
  alike: readonly StepOutcome[],
  titleOf: (id: string) => string,
  most: number,
  style: Style,
): readonly string[] => {
  const [first] = alike
  if (first === undefined) return []
  const isSingle = alike.length === 1
  const title = isSingle ? titleOf(first.step) : counted(alike.length, 'step')
  const more = alike.length - most
  return [
    wrapped(`${statusMark(first.status, paintOf(style))}  ${title}${whyOf(first)}`, style),
    ...(isSingle ? [] : alike.slice(0, most).map(({ step }) => wrapped(titleOf(step), style, 2))),
    ...(more > 0 ? [`  and ${group(more)} more`] : []),
  ]
}

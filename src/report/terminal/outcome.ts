/** Shows the outcome of an apply. */
import { counted, group, groupBy, plainValue } from '../../base/index.ts'
import type { Outcome, Plan, StepOutcome } from '../../model/index.ts'
import { applyVerdict, nextSteps } from '../words/apply-verdict.ts'
import { planNames } from '../words/names.ts'
import { isNotStarted, whyOf } from './events.ts'
import { paintOf, type Style, statusMark, wrapped } from './style.ts'

/** Further steps are only counted, so that the list fits on a screen. The journal and the page contain all steps. */
const MOST_SHOWN = 12

/**
 * Lists the steps that are not done, by reason, and then says what to do next. The last line is the verdict.
 *
 * @param isLogged whether each step was printed when it ended. If so, only steps that never started are listed.
 * @param args arguments to add to suggested commands, such as ` --project shop`.
 */
export const terminalOutcome = (
  rawPlan: Plan,
  rawOutcome: Outcome,
  style: Style,
  isLogged = false,
  args = '',
): string => {
  const [plan, outcome] = [plainValue(rawPlan), plainValue(rawOutcome)]
  const paint = paintOf(style)
  const names = planNames(plan)
  // A step that is done has a message only if something unexpected happened.
  const open = outcome.steps.filter(({ status, message }) =>
    isLogged ? isNotStarted(status) : status !== 'done' || message !== undefined,
  )
  const groups = [...groupBy(open, ({ status, reason, message }) => `${status} ${reason} ${message}`).values()]
  const most = Math.max(1, Math.floor(MOST_SHOWN / Math.max(1, groups.length)))
  const rest = groups.slice(MOST_SHOWN).reduce((sum, alike) => sum + alike.length, 0)
  const { kind, words } = applyVerdict(plan, outcome)
  const color = { complete: paint.green, scheduled: paint.cyan, incomplete: paint.red }[kind]
  const parts = [
    [
      ...groups.slice(0, MOST_SHOWN).flatMap((alike) => groupLines(alike, names.stepById, most, style)),
      ...(rest === 0 ? [] : [`and ${counted(rest, 'more step')}`]),
    ],
    outcome.notes.map((note) => wrapped(`${paint.cyan('Note')} ${note}`, style)),
    nextSteps(plan, outcome, plainValue(args)).map((line) => wrapped(line, style)),
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

/** Shows the events of an apply, one on each line, and then its outcome. */
import { counted, group, groupBy, plainValue } from '../../base/index.ts'
import {
  type ApplyEvent,
  formatWindow,
  type Outcome,
  type Plan,
  type StepOutcome,
  type StepStatus,
  stepTitle,
} from '../../model/index.ts'
import { applyVerdict, nextSteps } from '../words/apply-verdict.ts'
import { time } from '../words/counts.ts'
import { impactWords, isDisruptive } from '../words/impacts.ts'
import { type PlanNames, planNames } from '../words/names.ts'
import { impactMark, paintOf, type Style, statusMark, wrapped } from './style.ts'

/** Further steps are only counted, so that the list fits on a screen. The journal and the page contain all steps. */
const MOST_SHOWN = 12

/** Whether a step never started. There may be many such steps, so they are not shown while other steps run. */
const isNotStarted = (status: StepStatus): boolean =>
  status === 'skipped' || status === 'not-allowed' || status === 'scheduled'

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

/** Why a step ended. The reason code comes first, because people and scripts search for it. */
const whyOf = ({ reason, message }: Pick<StepOutcome, 'reason' | 'message'>): string =>
  [reason === undefined ? '' : ` (${reason})`, message === undefined ? '' : `: ${message}`].join('')

/** What a step is doing: `attempt 2: PATCH /projects/…`, `waiting 1.5 s: locked`, `apply_config running`. */
export const activityOf = (event: Extract<ApplyEvent, { type: 'call' | 'wait' | 'operation' }>): string => {
  switch (event.type) {
    case 'call':
      return `${event.attempt > 1 ? `attempt ${event.attempt}: ` : ''}${event.method} ${event.path}`
    case 'wait':
      return `waiting ${time(event.delayMs)}: ${event.message}`
    case 'operation': {
      const { action, status, failuresCount } = event.operation
      return `${action} ${status}${failuresCount > 0 ? `, ${counted(failuresCount, 'failure')}` : ''}`
    }
  }
}

/**
 * The line for an event, without a newline, or `undefined` for an event that is shown elsewhere.
 *
 * @param names the titles of the steps, because some events contain only the id of their step.
 */
export const eventLine = (raw: ApplyEvent, style: Style, names?: PlanNames): string | undefined => {
  if (raw.type === 'version' || raw.type === 'plan' || raw.type === 'outcome') return undefined
  const event = plainValue(raw)
  const paint = paintOf(style)
  // Lines from projects that run concurrently are mixed, so each line shows the title of its step.
  const owner = (id: string): string => (names?.isMixed === true ? paint.dim(`  ${names.stepById(id)}`) : '')
  switch (event.type) {
    case 'policy-overridden':
      return paint.yellow(
        `${event.by} overrides policy ${event.policy}${event.project === undefined ? '' : ` in ${event.project}`}: ${event.reason}`,
      )
    case 'window-overridden':
      return paint.yellow(
        `--now overrides ${event.windows.map(formatWindow).join(' and ')}: ${names?.stepById(event.step) ?? event.step}`,
      )
    case 'step-start': {
      const { step } = event
      const warning = isDisruptive(step.impact) ? `  ${impactMark(step.impact, paint, impactWords(step))}` : ''
      return `${paint.bold('start')}  ${names?.step(step) ?? stepTitle(step, new Map())}${warning}`
    }
    case 'call':
      return `${paint.dim(`  ${activityOf(event)}`)}${owner(event.step)}`
    case 'wait':
      return `  ${activityOf(event)}${owner(event.step)}`
    case 'operation':
      return `  ${activityOf(event)}${paint.dim(`  ${event.operation.id}`)}${owner(event.step)}`
    case 'step-end': {
      const { step, status, durationMs } = event.outcome
      const title = names?.stepById(step) ?? step
      return `${statusMark(status, paint)}  ${title}${status === 'done' ? `  ${time(durationMs)}` : ''}${whyOf(event.outcome)}`
    }
    case 'interrupt':
      return paint.yellow(event.message)
  }
}

/**
 * Whether to show the event when it happens. Steps that never started are listed at the end instead, and interruptions
 * have already been reported on stderr.
 */
export const isNews = (event: ApplyEvent): boolean =>
  event.type !== 'interrupt' && !(event.type === 'step-end' && isNotStarted(event.outcome.status))

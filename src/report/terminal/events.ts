/** Turns an event of an apply into one line of text, for terminals and logs alike. */
import { counted, plainValue } from '../../base/index.ts'
import { type ApplyEvent, formatWindow, type StepOutcome, type StepStatus, stepTitle } from '../../model/index.ts'
import { time } from '../words/counts.ts'
import { impactWords, isDisruptive } from '../words/impacts.ts'
import type { PlanNames } from '../words/names.ts'
import { impactMark, paintOf, type Style, statusMark } from './style.ts'

/** Whether a step never started. There may be many such steps, so they are not shown while other steps run. */
export const isNotStarted = (status: StepStatus): boolean =>
  status === 'skipped' || status === 'not-allowed' || status === 'scheduled'

/** Why a step ended. The reason code comes first, because people and scripts search for it. */
export const whyOf = ({ reason, message }: Pick<StepOutcome, 'reason' | 'message'>): string =>
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

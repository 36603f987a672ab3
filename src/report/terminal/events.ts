/** Turns an event of an apply into one line of text, for terminals and logs alike. */
import { counted, plainText, plainValue } from '../../base/index.ts'
import {
  type ApplyEvent,
  formatWindow,
  type OperationProgress,
  observedWords,
  type StepOutcome,
  type StepStatus,
  stepTitle,
} from '../../model/index.ts'
import { reasonOfStep } from '../words/alike.ts'
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
    case 'operation':
      return operationWords(event.operation)
  }
}

const operationWords = ({ action, status, failuresCount }: OperationProgress): string =>
  `${action} ${status}${failuresCount > 0 ? `, ${counted(failuresCount, 'failure')}` : ''}`

const isUnusual = ({ status, failuresCount }: OperationProgress): boolean => status !== 'finished' || failuresCount > 0

type Wait = Extract<ApplyEvent, { type: 'wait' }>

/** How long a step waited before it could send its request again, and what for, by cause. The last message is kept. */
export type Delays = ReadonlyMap<Wait['why'], Pick<Wait, 'delayMs' | 'message'>>

/**
 * The line for an event, without a newline, or `undefined` for an event that is shown elsewhere or not at all: a log has
 * a line when a step starts, one when it ends, and in between those of log.ts.
 *
 * @param names the titles of the steps, because some events contain only the id of their step.
 * @param delays what delayed the step that ends, because its own lines have not shown it.
 */
export const eventLine = (
  raw: ApplyEvent,
  style: Style,
  names?: PlanNames,
  delays: Delays = new Map(),
): string | undefined => {
  if (raw.type === 'version' || raw.type === 'plan' || raw.type === 'outcome') return undefined
  const event = plainValue(raw)
  const paint = paintOf(style)
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
    case 'wait':
    case 'operation':
      return undefined
    case 'step-end': {
      const { step, status, durationMs, observation, operations } = event.outcome
      const title = names?.stepById(step) ?? step
      const words = [
        `${statusMark(status, paint)}  ${title}`,
        ...(status === 'done' ? [time(durationMs)] : []),
        ...(observation === undefined ? [] : [observedWords(observation)]),
      ]
      const trouble = [
        '',
        ...[...delays.values()].map(({ delayMs, message }) => `waited ${time(delayMs)}: ${plainText(message)}`),
        // The message of a step that failed describes its operations.
        ...(status === 'done' ? operations.filter(isUnusual).map(operationWords) : []),
      ]
      const line = `${words.join('  ')}${whyOf(event.outcome)}${trouble.join('  ')}`
      return style.complete?.(line) ?? line
    }
    case 'unpredicted':
      return paint.yellow(
        `not predicted: ${observedWords(event.observation)}: ${names?.stepById(event.step) ?? event.step}`,
      )
    case 'interrupt':
      return paint.yellow(event.message)
  }
}

/**
 * Returns a function that says whether to show an event when it happens. Steps that never started, and all but the first
 * of those that failed for the same reason, are listed at the end instead. Interruptions have already been reported on
 * stderr.
 */
export const newsFilter = (): ((event: ApplyEvent) => boolean) => {
  const reported = new Set<string>()
  return (event) => {
    if (event.type !== 'step-end') return event.type !== 'interrupt'
    const { outcome } = event
    if (outcome.status === 'done' || isNotStarted(outcome.status)) return outcome.status === 'done'
    const before = reported.size
    return reported.add(reasonOfStep(outcome)).size > before
  }
}

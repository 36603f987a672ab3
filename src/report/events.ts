/** Events as they come: a plain line each, or an object a line. */
import type { ApplyEvent } from '../model/index.ts'
import { plainText } from './plain-text.ts'
import { paintOf, type Style } from './style.ts'
import { statusMark } from './terminal-outcome.ts'
import { impactWords, isDisruptive, stepTitle, time } from './words.ts'

/** One line without its end, or `undefined` for an event that has been told in another way. */
export const eventLine = (event: ApplyEvent, style: Style): string | undefined => {
  const paint = paintOf(style)
  switch (event.type) {
    case 'step-start': {
      const warning = isDisruptive(event.step.impact) ? paint.red(`  ! ${impactWords(event.step)}`) : ''
      return `${paint.bold('start')}  ${stepTitle(event.step, new Map())}${warning}`
    }
    case 'call':
      return paint.dim(`  ${event.method} ${event.path}${event.attempt > 1 ? `  (attempt ${event.attempt})` : ''}`)
    case 'wait':
      return `  waiting ${time(event.delayMs)}: ${plainText(event.message)}`
    case 'operation': {
      const { action, id, status, failuresCount } = event.operation
      return `  ${plainText(action)}  ${plainText(status)}${failuresCount > 0 ? `, ${failuresCount} failures` : ''}${paint.dim(`  ${id}`)}`
    }
    case 'step-end': {
      const { step, status, message, durationMs } = event.outcome
      const why = message === undefined ? '' : `: ${plainText(message)}`
      return `${statusMark(status, paint)}  ${plainText(step)}${status === 'done' ? `  ${time(durationMs)}` : ''}${why}`
    }
    case 'interrupt':
      return paint.yellow(plainText(event.message))
    case 'version':
    case 'plan':
    case 'outcome':
      return undefined
  }
}

export const jsonEvent = (event: ApplyEvent): string => JSON.stringify(event)

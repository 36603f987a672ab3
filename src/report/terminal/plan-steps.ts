/** The order of steps. */
import type { Step } from '../../model/index.ts'
import { isDisruptive, isOfFleet, stepTitles } from '../words/index.ts'
import { impactMark } from './marks.ts'
import type { PlanFrame } from './plan-frame.ts'
import { wrap } from './style.ts'

/**
 * @param isAsked `undefined`: only if the order matters, because a compute is moved or replaced, or steps wait for a
 *   restart window.
 */
export const stepsSection = ({ plan, style, paint }: PlanFrame, isAsked: boolean | undefined): string => {
  if (plan.steps.length === 0 || !(isAsked ?? plan.steps.some(matters))) return ''
  const titleOf = stepTitles(plan)
  const numbers = new Map(plan.steps.map((step, index) => [step.id, index + 1]))
  const width = String(plan.steps.length).length
  const isFleet = isOfFleet(plan.steps)
  const textOf = (step: Step): string => {
    const waits = step.after.map((id) => numbers.get(id)).filter((number) => number !== undefined)
    return [
      `${titleOf(step)}${step.reason === 'PARKED' ? ', to wait there' : ''}`,
      isDisruptive(step.impact) ? `  ${impactMark(step.impact, paint)}` : '',
      waits.length === 0 ? '' : paint.dim(`  after ${waits.join(', ')}`),
      step.windows === undefined || !isDisruptive(step.impact) ? '' : paint.cyan('  in its window'),
      step.refused === undefined ? '' : paint.red('  refused'),
    ].join('')
  }
  const note = isFleet ? '  one step at a time within a project, projects concurrently' : ''
  return [
    wrap(`${paint.bold('Order of steps')}${paint.dim(note)}`, style, '', '  '),
    ...plan.steps.map((step, index) =>
      wrap(textOf(step), style, `  ${String(index + 1).padStart(width)}. `, ' '.repeat(width + 4)),
    ),
  ].join('\n')
}

const matters = ({ kind, reason, windows }: Step): boolean =>
  kind === 'move' || reason === 'TYPE_DIFFERS' || windows !== undefined

/** The cost of a plan. */
import { planCostWords, planMoneyWords, projectCostLines } from '../words/index.ts'
import type { PlanFrame } from './plan-frame.ts'
import { wrap } from './style.ts'

export const costSection = ({ plan, style, paint }: PlanFrame): string => {
  const words = planCostWords(plan)
  if (words === undefined || plan.cost === undefined) return ''
  const money = planMoneyWords(plan.cost.total)
  return [
    `${paint.bold('Cost')}  ${words}`,
    ...[...(money === undefined ? [] : [money]), ...projectCostLines(plan)].map((line) => `      ${line}`),
  ]
    .map((line) => wrap(line, style, '', '      '))
    .join('\n')
}

/** Policy results of a plan. */
import { policyLines } from '../words/index.ts'
import type { PlanFrame } from './plan-frame.ts'
import { wrap } from './style.ts'

export const policiesSection = ({ plan, style, paint }: PlanFrame): string => {
  const lines = policyLines(plan)
  if (lines.length === 0) return ''
  const shown = lines.map(({ text, isDenied }) => wrap(isDenied ? paint.red(text) : text, style, '  ', '    '))
  return [paint.bold('Policies'), ...shown].join('\n')
}

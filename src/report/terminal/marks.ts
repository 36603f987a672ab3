import { IMPACT_NAMES, type Impact, type StepStatus } from '../../model/index.ts'
import { statusWords } from '../words/apply-verdict.ts'
import { IMPACT_MARKS, STATUS_MARKS } from '../words/marks.ts'
import type { Paint } from './style.ts'

/** A mark such as `! restarts`. @param words shown in place of the name of the impact. */
export const impactMark = (impact: Impact, paint: Paint, words = IMPACT_NAMES[impact]): string =>
  paintImpact(`${IMPACT_MARKS[impact].symbol} ${words}`, impact, paint)

export const paintImpact = (text: string, impact: Impact, paint: Paint): string => {
  const { colour, isBold } = IMPACT_MARKS[impact]
  return isBold ? paint.bold(paint[colour](text)) : paint[colour](text)
}

export const statusMark = (status: StepStatus, paint: Paint): string =>
  paint[STATUS_MARKS[status].colour](statusWords(status))

/** The sections for the cost, policies and service updates of a plan. */
import type { Plan } from '../../model/index.ts'
import { costDetails, planCostWords, planMoneyWords } from '../words/cost.ts'
import { skippedLines } from '../words/plan-lines.ts'
import { policyLines } from '../words/policies.ts'
import { icon } from './icons.ts'
import { andMore, type Markup, markup, NOTHING, section, when } from './markup.ts'

/** How many items are listed. The JSON plan contains all of them. */
const MOST = 500

export const costSection = (plan: Plan): Markup => {
  const words = planCostWords(plan)
  const money = planMoneyWords(plan)
  const lines = costDetails(plan)
  if (words === undefined && lines.length === 0) return NOTHING
  const body = markup`${when(words !== undefined, () => markup`<p>${words}</p>`)}${when(money !== undefined, () => markup`<p class="lead">${money}</p>`)}
<details class="more"><summary>Details</summary><ul class="still">${lines.slice(0, MOST).map(
    (line) => markup`<li><span>${line}</span></li>
`,
  )}</ul>${andMore(lines.length, MOST)}</details>`
  return section('cost', 'Cost and service updates', body)
}

export const checksSection = (plan: Plan): Markup => {
  const items = [
    ...policyLines(plan)
      .slice(0, MOST)
      .map(({ text, isDenied }) => [icon(isDenied ? 'shield' : 'warning'), text]),
    ...(plan.policies?.changes ?? []).map((text) => [
      icon('warning'),
      `${text}${text.startsWith('After') ? '' : ', after the merge'}`,
    ]),
    ...skippedLines(plan)
      .slice(0, MOST)
      .map((line) => [icon('clock'), `Skipped: ${line}`]),
  ]
  if (items.length === 0) return NOTHING
  const list = markup`<ul>${items.map(
    ([mark, text]) => markup`<li>${mark}<p>${text}</p></li>
`,
  )}</ul>`
  return section('checks', 'Policies and skipped changes', list, 'warnings')
}

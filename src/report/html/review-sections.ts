/** Cost, policies and service updates of a plan. */
import type { Plan } from '../../model/index.ts'
import {
  computeTitle,
  planCostWords,
  planMoneyWords,
  policyLines,
  projectCostLines,
  remarksOf,
  skippedLines,
} from '../words/index.ts'
import { icon } from './looks.ts'
import { type Markup, markup, NOTHING, when } from './markup.ts'

export const costSection = (plan: Plan): Markup => {
  const words = planCostWords(plan)
  const remarks = remarksOf(plan)
  if (words === undefined && remarks.size === 0) return NOTHING
  const money = plan.cost === undefined ? undefined : planMoneyWords(plan.cost.total)
  const lines = [
    ...projectCostLines(plan),
    ...plan.changes.flatMap(({ id, compute, branch }) =>
      (remarks.get(id) ?? []).map((remark) => `${computeTitle(compute)} on ${branch.name}: ${remark}`),
    ),
  ]
  return markup`<section aria-labelledby="cost"><h2 id="cost">Cost and service updates</h2>
${when(words !== undefined, () => markup`<p>${words}</p>`)}${when(money !== undefined, () => markup`<p class="lead">${money}</p>`)}
<details class="more"><summary>Details</summary><ul class="still">${lines.slice(0, MOST).map(
    (line) => markup`<li><span>${line}</span></li>
`,
  )}</ul>${when(lines.length > MOST, () => markup`<p class="lead">and ${lines.length - MOST} more</p>`)}</details></section>`
}

/** JSON has all. */
const MOST = 500

export const checksSection = (plan: Plan): Markup => {
  const policies = policyLines(plan)
  const changes = plan.policies?.changes ?? []
  const skipped = skippedLines(plan)
  if (policies.length + changes.length + skipped.length === 0) return NOTHING
  return markup`<section aria-labelledby="checks" class="warnings"><h2 id="checks">Policies and skipped changes</h2>
<ul>${policies.slice(0, MOST).map(
    ({ text, isDenied }) => markup`<li>${icon(isDenied ? 'shield' : 'warning')}<p>${text}</p></li>
`,
  )}${changes.map(
    (text) => markup`<li>${icon('warning')}<p>${text}${text.startsWith('After') ? '' : ', after the merge'}</p></li>
`,
  )}${skipped.slice(0, MOST).map(
    (line) => markup`<li>${icon('clock')}<p>Skipped: ${line}</p></li>
`,
  )}</ul></section>`
}

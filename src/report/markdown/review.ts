/** Cost, policies and service updates in a comment: two lines, and the details folded. */
import type { Plan } from '../../model/index.ts'
import { computeTitle, deniedWords, planCostWords, planMoneyWords, policyLines, remarksOf } from '../words/index.ts'
import { folded, literal } from './text.ts'

export const reviewPart = (plan: Plan): readonly string[] => {
  const cost = planCostWords(plan)
  const money = plan.cost === undefined ? undefined : planMoneyWords(plan.cost.total)
  const updates = new Set((plan.maintenance ?? []).map(({ sentence }) => sentence))
  const checks = [deniedWords(plan), ...updates].filter((words) => words !== undefined)
  const lines = [
    ...(cost === undefined ? [] : [`**Cost:** ${cost}${money === undefined ? '' : `; ${literal(money)}`}`]),
    ...(checks.length === 0 ? [] : [`**Checks:** ${checks.map(literal).join(' · ')}`]),
  ]
  return lines.length === 0 ? [] : [lines.join('<br>\n')]
}

export const reviewDetails = (plan: Plan): readonly string[] => {
  const remarks = remarksOf(plan)
  const costs = plan.changes.flatMap(({ id, compute, branch }) =>
    (remarks.get(id) ?? []).map((remark) => `- ${literal(`${computeTitle(compute)} on ${branch.name}: ${remark}`)}`),
  )
  const policies = policyLines(plan).map(({ text }) => `- ${literal(text)}`)
  return [
    ...(policies.length === 0 ? [] : [folded(`Policies: ${policies.length}`, policies.join('\n'))]),
    ...(costs.length === 0 ? [] : [folded('Cost of each change', costs.join('\n'))]),
  ]
}

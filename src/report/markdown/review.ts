/** Cost, policies and service updates in a comment: one line each, with folded details. */
import type { Plan } from '../../model/index.ts'
import {
  computeTitle,
  counted,
  deniedWords,
  overriddenWords,
  planCostWords,
  planMoneyWords,
  policyLines,
  remarksOf,
} from '../words/index.ts'
import { folded, literal } from './text.ts'
import type { PlanView } from './view.ts'

export const reviewPart = ({
  plan,
  costThreshold = 0,
}: Pick<PlanView, 'plan' | 'costThreshold'>): readonly string[] => {
  const cost = changeOf(plan) < costThreshold ? undefined : planCostWords(plan)
  const money = plan.cost === undefined ? undefined : planMoneyWords(plan.cost.total)
  const updates = new Set((plan.maintenance ?? []).map(({ sentence }) => sentence))
  const checks = [deniedWords(plan), ...overriddenWords(plan), tierWords(plan), ...updates]
  const found = checks.filter((words) => words !== undefined)
  const proposed = plan.policies?.changes ?? []
  const lines = [
    ...(cost === undefined ? [] : [`**Cost:** ${cost}${money === undefined ? '' : `; ${literal(money)}`}`]),
    ...(found.length === 0 ? [] : [`**Checks:** ${found.map(literal).join(' · ')}`]),
    ...(proposed.length === 0 ? [] : [`**Policies, after the merge:** ${proposed.map(literal).join(' · ')}`]),
  ]
  return lines.length === 0 ? [] : [lines.join('<br>\n')]
}

/** CU-hours a month: expected, else the maximum. */
const changeOf = ({ cost }: Plan): number => {
  const { expected, high } = cost?.total.delta ?? { expected: null, high: null }
  return Math.abs(expected ?? high ?? Number.POSITIVE_INFINITY)
}

const LIMITS = /^W_(TIER|QUOTA)/

const tierWords = ({ warnings }: Plan): string | undefined => {
  const found = warnings.filter(({ code }) => LIMITS.test(code) && code !== 'W_TIER_UNKNOWN').length
  return found === 0 ? undefined : `${counted(found, 'limit')} of the account's plan (see the warnings)`
}

export const reviewDetails = (plan: Plan): readonly string[] => {
  const remarks = remarksOf(plan)
  const costs = plan.changes.flatMap(({ id, compute, branch }) =>
    (remarks.get(id) ?? []).map((remark) => `- ${literal(`${computeTitle(compute)} on ${branch.name}: ${remark}`)}`),
  )
  const policies = policyLines(plan).map(({ text }) => `- ${literal(text)}`)
  return [
    ...(policies.length === 0 ? [] : [folded(`Policies: ${policies.length}`, policies.join('\n'))]),
    ...(costs.length === 0 ? [] : [folded('Cost, service updates and expiry', costs.join('\n'))]),
  ]
}

/** The part of a comment about cost, policies and service updates, with one line for each and collapsed details. */
import { counted } from '../../base/index.ts'
import { likelyOf, type Plan } from '../../model/index.ts'
import { costDetails, planCostWords, planMoneyWords } from '../words/cost.ts'
import { deniedBy, overriddenWords, policyLines } from '../words/policies.ts'
import { folded, literal } from './text.ts'
import type { PlanView } from './view.ts'

export const reviewPart = ({
  plan,
  costThreshold = 0,
}: Pick<PlanView, 'plan' | 'costThreshold'>): readonly string[] => {
  const cost = changeOf(plan) < costThreshold ? undefined : planCostWords(plan)
  const money = planMoneyWords(plan)
  const updates = new Set((plan.maintenance ?? []).map(({ sentence }) => sentence))
  const checks = [...overriddenWords(plan).map(literal), tierWords(plan), ...[...updates].map(literal)]
  const found = checks.filter((words) => words !== undefined)
  const proposed = plan.policies?.changes ?? []
  const lines = [
    ...(cost === undefined ? [] : [`**Cost:** ${cost}${money === undefined ? '' : `; ${literal(money)}`}`]),
    ...(found.length === 0 ? [] : [`**Checks:** ${found.join(' · ')}`]),
    ...(proposed.length === 0 ? [] : [`**Policies, after the merge:** ${proposed.map(literal).join(' · ')}`]),
  ]
  // GitHub renders newlines as line breaks in comments, but not in summaries.
  return [...deniedPart(plan), ...(lines.length === 0 ? [] : [lines.join('<br>')])]
}

const MOST_NAMES = 5

const deniedPart = (plan: Plan): readonly string[] => {
  const { policies, projects } = deniedBy(plan)
  if (policies.length === 0) return []
  const who = `${policies.length === 1 ? 'Policy' : 'Policies'} ${namesOf(policies)} ${policies.length === 1 ? 'denies' : 'deny'} this plan`
  return [
    `> [!CAUTION]\n> ${who}: nothing runs in ${projects.length === 1 ? 'project' : 'projects'} ${namesOf(projects)}.`,
  ]
}

const namesOf = (names: readonly string[]): string => {
  const shown = names.slice(0, MOST_NAMES).map(literal).join(', ')
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown
}

/** The size of the change in cost, in CU-hours a month. It is infinite if the cost is unknown. */
const changeOf = ({ cost }: Plan): number =>
  Math.abs((cost === undefined ? null : likelyOf(cost.total.delta)) ?? Number.POSITIVE_INFINITY)

const LIMITS = /^W_(TIER|QUOTA)/

const tierWords = ({ warnings }: Plan): string | undefined => {
  const found = warnings.filter(({ code }) => LIMITS.test(code) && code !== 'W_TIER_UNKNOWN').length
  return found === 0 ? undefined : `${counted(found, 'limit')} of the account's plan (see the warnings)`
}

export const reviewDetails = (plan: Plan): readonly string[] => {
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${literal(line)}`).join('\n')
  const policies = policyLines(plan).map(({ text }) => text)
  const costs = costDetails(plan)
  return [
    ...(policies.length === 0 ? [] : [folded(`Policies: ${policies.length}`, list(policies))]),
    ...(costs.length === 0 ? [] : [folded('Cost, service updates and expiry', list(costs))]),
  ]
}

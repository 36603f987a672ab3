/** Cost in words, and remarks on changes. */
import { groupBy } from '../../base/index.ts'
import {
  costSentence,
  formatCuHours,
  formatDifference,
  formatMoney,
  formatMoneyDifference,
  formatPrice,
} from '../../cost/index.ts'
import type { ChangeCost, CostRange, CostSummary, CostTotal, Plan } from '../../model/index.ts'
import { projectTitle } from './names.ts'

/** Whether the cost changes, or may. */
const matters = ({ delta }: ChangeCost): boolean => delta.low !== 0 || delta.expected !== 0 || delta.high !== 0

/** Remarks by change: cost, service updates, and expiry of its branch. */
export const remarksOf = ({ cost, maintenance = [], expiring = [] }: Plan): ReadonlyMap<string, readonly string[]> => {
  const remarks = new Map<string, string[]>()
  const add = (change: string, text: string): void => {
    remarks.set(change, [...(remarks.get(change) ?? []), text])
  }
  for (const { change, sentence } of [...maintenance, ...expiring]) add(change, sentence)
  for (const one of cost?.computes ?? []) if (matters(one)) add(one.change, `cost: ${changeCostWords(one)}`)
  return remarks
}

/** `292 → 365 CU-hours a month, at most 1,460 (active 6 h a day since 1 November, 1.6 CU on average)`. */
const changeCostWords = ({ before, after, sentence }: ChangeCost): string => {
  const isKnown = before.expected !== null && after.expected !== null
  return `${isKnown ? costSentence(before, after) : unknownWords(before, after)} (${sentence})`
}

/** Unknown costs as bounds: `at most 730 → 1,460 CU-hours a month`, `730 → at most 730 CU-hours a month`. */
const unknownWords = (before: CostRange, after: CostRange): string => {
  const [from, to] = [before, after].map(({ expected, high }) =>
    expected === null ? `at most ${formatCuHours(high)}` : formatCuHours(expected),
  )
  const bound = before.expected === null ? to?.replace(/^at most /, '') : to
  return `${before.expected === 0 || from === to ? to : `${from} → ${bound}`} CU-hours a month`
}

/**
 * `+73 CU-hours a month, 1,060 → 1,133 (at most +1,168; 1 compute unknown)`. `undefined` if the
 * cost does not change.
 */
export const planCostWords = ({ cost }: Pick<Plan, 'cost'>): string | undefined => {
  const count = cost?.computes.filter(matters).length ?? 0
  return cost === undefined || count === 0 ? undefined : differenceWords(cost.total, count)
}

const MOST_PROJECTS = 5

/** Changes of several projects, largest first, `shop: +70 CU-hours a month, 300 → 370`. */
export const projectCostLines = (plan: Pick<Plan, 'cost' | 'changes' | 'projectNames'>): readonly string[] => {
  const title = projectTitle(plan)
  const projectOf = new Map(plan.changes.map(({ id, project }) => [id, project]))
  const changing = groupBy(plan.cost?.computes.filter(matters) ?? [], ({ change }) => projectOf.get(change) ?? '')
  const size = ({ delta }: CostSummary): number => Math.abs(delta.expected ?? delta.high ?? Number.POSITIVE_INFINITY)
  const projects = (plan.cost?.projects ?? [])
    .filter(({ project }) => changing.has(project))
    .sort((a, b) => size(b) - size(a) || 0)
  if (projects.length < 2) return []
  return [
    ...projects
      .slice(0, MOST_PROJECTS)
      .map((one) => `${title(one.project)}: ${differenceWords(one, changing.get(one.project)?.length ?? 0)}`),
    ...(projects.length > MOST_PROJECTS ? [`and ${projects.length - MOST_PROJECTS} more projects`] : []),
  ]
}

/** @param count of the computes whose cost changes, or may change */
const differenceWords = ({ before, after, delta }: CostSummary, count: number): string => {
  const isUnknown = delta.unknown > 0 && delta.unknown === count
  const bound = delta.high === null ? 'no known bound' : `at most ${formatDifference(delta.high)}`
  if (isUnknown) return delta.high === 0 ? 'unknown, not more than before' : `unknown, ${bound} CU-hours a month`
  const limits = [
    ...(delta.high === delta.expected && delta.unknown === 0 ? [] : [bound]),
    ...(delta.unknown === 0 ? [] : [`${delta.unknown} ${delta.unknown === 1 ? 'compute' : 'computes'} unknown`]),
  ]
  const share = before.expected ? ` (${formatDifference((100 * (delta.expected ?? 0)) / before.expected)} %)` : ''
  const sums = isSum(before, delta, after)
    ? `${share}, ${formatCuHours(before.expected)} → ${formatCuHours(after.expected)}`
    : ''
  return `${formatDifference(delta.expected)} CU-hours a month${sums}${limits.length === 0 ? '' : ` (${limits.join('; ')})`}`
}

/** False if a compute's cost is known on one side only: that side's sum includes it, and the difference does not. */
const isSum = (before: CostTotal, delta: CostTotal, after: CostTotal): boolean =>
  delta.unknown === 0 || Math.abs((before.expected ?? 0) + (delta.expected ?? 0) - (after.expected ?? 0)) < 0.05

/** `+16.21 USD a month, 235.32 → 251.53, at 0.222 USD a CU-hour`; `undefined` without a price, or where the cost is unknown. */
export const planMoneyWords = ({ money, before, delta, after }: CostSummary): string | undefined => {
  if (money === undefined || money.delta === null) return undefined
  const sums = isSum(before, delta, after) ? ` ${formatMoney(money.before)} → ${formatMoney(money.after)},` : ''
  return `${formatMoneyDifference(money.delta)} ${money.price.currency} a month,${sums} at ${formatPrice(money.price)}`
}

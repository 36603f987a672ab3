/** Describes the cost of a plan, and adds remarks to its changes. */
import { counted, groupBy } from '../../base/index.ts'
import {
  costSentence,
  formatCuHours,
  formatDifference,
  formatMoney,
  formatMoneyDifference,
  formatPrice,
} from '../../cost/index.ts'
import {
  amountOf,
  type ChangeCost,
  type CostRange,
  type CostSummary,
  type CostTotal,
  likelyOf,
  type Plan,
} from '../../model/index.ts'
import { computeOnBranch, projectTitle } from './names.ts'

/** The costs that change or may change. */
const changing = (cost: Plan['cost']): readonly ChangeCost[] =>
  cost?.computes.filter(({ delta }) => delta.low !== 0 || delta.expected !== 0 || delta.high !== 0) ?? []

/** The remarks on each change: service updates of the compute, the expiry of its branch, and the cost. */
export const remarksOf = ({
  cost,
  maintenance = [],
  expiring = [],
}: Plan): ReadonlyMap<string, readonly { readonly sentence: string }[]> => {
  const costs = changing(cost)
  const remarks = costs.map((one) => ({ change: one.change, sentence: `cost: ${changeCostWords(one)}` }))
  return groupBy([...maintenance, ...expiring, ...remarks], ({ change }) => change)
}

/** `292 → 365 CU-hours a month, at most 1,460 (active 6 h a day since 1 November, 1.6 CU on average)`. */
const changeCostWords = ({ before, after, sentence }: ChangeCost): string => {
  const isExpected = before.expected !== null && after.expected !== null
  return `${isExpected ? costSentence(before, after) : unknownWords(before, after)} (${sentence})`
}

/**
 * If a cost is unknown, shows its possible range: `at most 730 → 1,460 CU-hours a month`,
 * `730 → 730 to 2,920 CU-hours a month`.
 */
const unknownWords = (before: CostRange, after: CostRange): string => {
  const [from = '', to = ''] = [before, after].map(boundsWords)
  const bound = before.expected === null ? to.replace(/^at most /, '') : to
  return `${before.expected === 0 || from === to ? to : `${from} → ${bound}`} CU-hours a month`
}

const boundsWords = ({ low, expected, high }: CostRange): string => {
  if (expected !== null) return formatCuHours(expected)
  return low !== null && low > 0 ? `${formatCuHours(low)} to ${formatCuHours(high)}` : `at most ${formatCuHours(high)}`
}

/**
 * `+73 CU-hours a month (+7 %), 1,060 → 1,133 (at most +1,168)`, or
 * `unknown, at most +1,168 CU-hours a month (1 compute unknown)`. `undefined` if the cost does not change.
 */
export const planCostWords = ({ cost }: Pick<Plan, 'cost'>): string | undefined => {
  const count = changing(cost).length
  return cost === undefined || count === 0 ? undefined : differenceWords(cost.total, count)
}

/** The cost of each project, then the remarks on each change. */
export const costDetails = (plan: Plan): readonly string[] => {
  const remarks = remarksOf(plan)
  return [
    ...projectCostLines(plan),
    ...plan.changes.flatMap((change) =>
      (remarks.get(change.id) ?? []).map(({ sentence }) => `${computeOnBranch(change)}: ${sentence}`),
    ),
  ]
}

const MOST_PROJECTS = 5

/** The cost of each project if several change, the largest difference first: `shop: +70 CU-hours a month, 300 → 370`. */
export const projectCostLines = (plan: Pick<Plan, 'cost' | 'changes' | 'projectNames'>): readonly string[] => {
  const title = projectTitle(plan)
  const projectOf = new Map(plan.changes.map(({ id, project }) => [id, project]))
  const costsOf = groupBy(changing(plan.cost), ({ change }) => projectOf.get(change) ?? '')
  const size = ({ delta }: CostSummary): number => Math.abs(likelyOf(delta) ?? Number.POSITIVE_INFINITY)
  const projects = (plan.cost?.projects ?? [])
    .filter(({ project }) => costsOf.has(project))
    .sort((a, b) => size(b) - size(a) || 0)
  if (projects.length < 2) return []
  return [
    ...projects
      .slice(0, MOST_PROJECTS)
      .map((one) => `${title(one.project)}: ${differenceWords(one, costsOf.get(one.project)?.length ?? 0)}`),
    ...(projects.length > MOST_PROJECTS ? [`and ${counted(projects.length - MOST_PROJECTS, 'more project')}`] : []),
  ]
}

/** @param count number of computes whose cost changes or may change. */
const differenceWords = ({ before, after, delta }: CostSummary, count: number): string => {
  const bound = delta.high === null ? 'no known bound' : `at most ${formatDifference(delta.high)}`
  // A sum of the known costs alone would suggest that the other computes cost nothing.
  if (delta.unknown > 0) {
    if (delta.high === 0) return 'unknown, not more than before'
    const part = delta.unknown === count ? '' : ` (${counted(delta.unknown, 'compute')} unknown)`
    return `unknown, ${bound} CU-hours a month${part}`
  }
  const share = before.expected ? ` (${formatDifference((100 * (delta.expected ?? 0)) / before.expected)} %)` : ''
  const sums = isKnown(before, after)
    ? `${share}, ${formatCuHours(before.expected)} → ${formatCuHours(after.expected)}`
    : ''
  return `${formatDifference(delta.expected)} CU-hours a month${sums}${delta.high === delta.expected ? '' : ` (${bound})`}`
}

const isKnown = (...totals: readonly CostTotal[]): boolean => totals.every(({ unknown }) => unknown === 0)

/**
 * `+16.21 USD a month, 235.32 → 251.53, at 0.222 USD a CU-hour`, or
 * `unknown, at most +850.93 USD a month, at 0.222 USD a CU-hour`. `undefined` without a price, or without a bound.
 */
export const planMoneyWords = ({ cost }: Pick<Plan, 'cost'>): string | undefined => {
  if (cost?.total.money === undefined) return undefined
  const { money, before, delta, after } = cost.total
  const { price } = money
  const at = `${price.currency} a month`
  if (delta.unknown > 0) {
    const most = amountOf(delta.high, price)
    if (most === null || most === 0) return undefined
    return `unknown, at most ${formatMoneyDifference(most)} ${at}, at ${formatPrice(price)}`
  }
  const sums = isKnown(before, after) ? ` ${formatMoney(money.before)} → ${formatMoney(money.after)},` : ''
  return `${formatMoneyDifference(money.delta)} ${at},${sums} at ${formatPrice(price)}`
}

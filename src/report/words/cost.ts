/** Describes the cost of a plan, and adds remarks to its changes. */
import { counted, groupBy } from '../../base/index.ts'
import { formatDifference, formatMoneyDifference } from '../../cost/index.ts'
import {
  addCosts,
  type ChangeCost,
  type CostRange,
  type CostSummary,
  costSummary,
  type Plan,
} from '../../model/index.ts'
import { computeOnBranch, projectTitle } from './names.ts'

const isCostly = ({ low, expected, high }: CostRange): boolean => low !== 0 || expected !== 0 || high !== 0

const changing = (cost: Plan['cost']): readonly ChangeCost[] =>
  cost?.computes.filter(({ delta }) => isCostly(delta)) ?? []

/** The remarks on each change: service updates of the compute, the expiry of its branch, and on request the cost. */
export const remarksOf = (
  { cost, changes, maintenance = [], expiring = [] }: Plan,
  withCost = true,
): ReadonlyMap<string, readonly { readonly sentence: string }[]> => {
  if (!withCost) return groupBy([...maintenance, ...expiring], ({ change }) => change)
  const projectOf = new Map(changes.map(({ id, project }) => [id, project]))
  const prices = new Map(cost?.projects.map(({ project, money }) => [project, money?.price]))
  const remarks = changing(cost).map(({ change, delta, sentence }) => {
    const effect = costSummary(addCosts([delta]), prices.get(projectOf.get(change) ?? ''))
    return { change, sentence: `cost: ${costWords(effect)}, ${sentence}` }
  })
  return groupBy([...maintenance, ...expiring, ...remarks], ({ change }) => change)
}

/**
 * `at most +3,833 CU-hours a month`, `not more than before`, `at least −730 …`, `between −730 and +2,190 …`, `−365 …`;
 * with history, `+73 CU-hours a month (at most +1,168)`. With a price, the amount of money.
 */
export const costWords = ({ delta, money }: CostSummary): string => {
  const { low, expected, high } = money ?? delta
  const unit = `${money?.price.currency ?? 'CU-hours'} a month`
  const amount = (value: number): string =>
    money === undefined ? formatDifference(value) : formatMoneyDifference(value)
  if (low === null || high === null) return 'cannot be estimated, because a size is unknown'
  if (low === high) return `${amount(low)} ${unit}`
  const bounds =
    high < 0
      ? `at least ${amount(high)}`
      : high === 0
        ? 'not more than before'
        : low >= 0
          ? `at most ${amount(high)}`
          : `between ${amount(low)} and ${amount(high)}`
  if (delta.unknown > 0 || expected === null) return high === 0 ? bounds : `${bounds} ${unit}`
  return `${amount(expected)} ${unit} (${bounds})`
}

/** What the plan costs, and of that what the manifests introduce. `undefined` if the cost does not change. */
export const planCostWords = ({ cost }: Pick<Plan, 'cost'>): string | undefined => {
  if (cost === undefined || changing(cost).length === 0) return undefined
  const { total, introduced = total, drift } = cost
  if (drift === undefined || !isCostly(drift.delta)) return costWords(introduced)
  const own = isCostly(introduced.delta) ? `${costWords(introduced)}; ` : ''
  return `${own}existing drift: ${costWords(drift)}`
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

/** The cost of each project if several change, the largest difference first: `shop: at most +70 CU-hours a month`. */
export const projectCostLines = (plan: Pick<Plan, 'cost' | 'projectNames'>): readonly string[] => {
  const title = projectTitle(plan)
  const projects = (plan.cost?.projects ?? [])
    .filter(({ delta }) => isCostly(delta))
    .sort((a, b) => costWeight(b) - costWeight(a) || 0)
  if (projects.length < 2) return []
  return [
    ...projects.slice(0, MOST_PROJECTS).map((one) => `${title(one.project)}: ${costWords(one)}`),
    ...(projects.length > MOST_PROJECTS ? [`and ${counted(projects.length - MOST_PROJECTS, 'more project')}`] : []),
  ]
}

/** How much a cost changes in CU-hours a month, up or down: the expected amount, or the larger bound. */
export const costWeight = ({ delta: { low, expected, high, unknown } }: CostSummary): number => {
  if (unknown === 0 && expected !== null) return Math.abs(expected)
  return low === null || high === null ? Number.POSITIVE_INFINITY : Math.max(-low, high)
}

import { compare } from '../base/index.ts'
import { type Change, type Plan, totalCost } from '../model/index.ts'

/**
 * Absent if a plan has no cost: the sum would be too low.
 *
 * @param changes of all plans, in the order in which their costs are listed
 */
export const mergeCosts = (plans: readonly Plan[], changes: readonly Change[]): Pick<Plan, 'cost'> => {
  const costs = plans.map(({ cost }) => cost).filter((cost) => cost !== undefined)
  const [first] = costs
  if (first === undefined || costs.length < plans.length) return {}
  const position = new Map(changes.map(({ id }, index) => [id, index]))
  const projects = costs.flatMap((cost) => cost.projects).sort((a, b) => compare(a.project, b.project))
  return {
    cost: {
      ...first,
      total: totalCost(costs.map(({ total }) => total)),
      projects,
      computes: costs
        .flatMap(({ computes }) => computes)
        .sort((a, b) => (position.get(a.change) ?? 0) - (position.get(b.change) ?? 0)),
    },
  }
}

import { compare } from '../base/index.ts'
import { type Plan, totalCost } from '../model/index.ts'

/** Absent if a plan has none: a sum without it would be too low. */
export const mergeCosts = (plans: readonly Plan[]): Pick<Plan, 'cost'> => {
  const costs = plans.map(({ cost }) => cost).filter((cost) => cost !== undefined)
  const [first] = costs
  if (first === undefined || costs.length < plans.length) return {}
  const projects = costs.flatMap((cost) => cost.projects).sort((a, b) => compare(a.project, b.project))
  return {
    cost: {
      ...first,
      total: totalCost(costs.map(({ total }) => total)),
      projects,
      computes: costs.flatMap(({ computes }) => computes),
    },
  }
}

/** Totals of a plan. */
import { groupBy } from '../base/index.ts'
import {
  type CapacityTotal,
  type Change,
  type Estimate,
  maxConnections,
  type Observed,
  type ObservedProject,
  type Plan,
  type PlanSummary,
  ramGb,
  type Size,
  type Step,
} from '../model/index.ts'

const NO_CAPACITY: CapacityTotal = { computes: 0, minCu: 0, maxCu: 0, ramGb: 0, maxConnections: 0 }

/** The totals before and after the changes. Computes of unknown size are not counted. */
export const capacityTotals = (
  projects: readonly ObservedProject[],
  changes: readonly Change[],
): PlanSummary['capacity'] => {
  const add = (total: CapacityTotal, size: Size, sign: 1 | -1): CapacityTotal => ({
    computes: total.computes + sign,
    minCu: total.minCu + sign * size.min,
    maxCu: total.maxCu + sign * size.max,
    ramGb: total.ramGb + sign * ramGb(size.max),
    maxConnections: total.maxConnections + sign * maxConnections(size),
  })
  let before = NO_CAPACITY
  for (const { computes } of projects) {
    for (const { attributes } of computes) if (attributes.size !== undefined) before = add(before, attributes.size, 1)
  }
  let after = before
  for (const change of changes) {
    if (change.before !== undefined) after = add(after, change.before.size, -1)
    if (change.after !== undefined) after = add(after, change.after.size, 1)
  }
  return { before, after }
}

/** Adds estimates based on past operations. Nothing else in the plan depends on these estimates. */
export const withEstimates = (plan: Plan, { projects }: Observed): Plan => {
  const live = new Map(projects.map((project) => [project.id, project]))
  const estimates = [...groupBy(plan.steps, ({ project }) => project)].flatMap(([id, steps]): readonly Estimate[] => {
    const project = live.get(id)
    const time = project && estimate(project, steps)
    return time === undefined ? [] : [time]
  })
  return { ...plan, estimates }
}

/** A project's operations run one at a time, so their durations add up. */
const estimate = (project: ObservedProject, steps: readonly Step[]): Estimate | undefined => {
  const durations = new Map(
    [...groupBy(project.pastOperations ?? [], ({ action }) => action)].map(
      ([action, past]) => [action, past.map(({ durationMs }) => durationMs).sort((a, b) => a - b)] as const,
    ),
  )
  const actions = steps.flatMap((step) => step.actions)
  const known = actions.map((action) => durations.get(action)).filter((list) => list !== undefined)
  if (known.length === 0) return undefined
  const total = (share: number): number =>
    known.reduce((sum, list) => sum + (list[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0), 0)
  return {
    project: project.id,
    medianMs: total(0.5),
    p95Ms: total(0.95),
    samples: [...new Set(known)].reduce((sum, list) => sum + list.length, 0),
  }
}

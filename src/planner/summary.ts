/** Totals of a plan. */
import { groupBy } from '../base/index.ts'
import {
  addCapacity,
  type CapacityTotal,
  type Estimate,
  NO_CAPACITY,
  type Observed,
  type ObservedProject,
  type Plan,
  type Step,
} from '../model/index.ts'
import { capacityOf } from './drafts.ts'

/** The total of all live computes. Computes of unknown size are not counted. */
export const liveCapacity = (projects: readonly ObservedProject[]): CapacityTotal =>
  projects
    .flatMap(({ computes }) => computes.flatMap(({ attributes }) => attributes.size ?? []))
    .reduce((total, size) => addCapacity(total, capacityOf(size), 1), NO_CAPACITY)

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

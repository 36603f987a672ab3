/** Estimates when each step of a plan runs: one at a time within a project, projects concurrently. */
import { groupBy } from '../../base/index.ts'
import type { Observed, Plan, Step } from '../../model/index.ts'
import type { Span, Timescale } from './span.ts'

export interface Schedule {
  readonly scale: Timescale
  readonly spans: ReadonlyMap<string, Span>
}

/** For a step whose operations are unknown. */
export const UNKNOWN_MS = 1_000

/**
 * @param observed with past operations, if they were read. The medians of their actions are used.
 * @param concurrency projects processed concurrently.
 */
export const foretell = (plan: Plan, observed: Observed | undefined, concurrency: number): Schedule => {
  const weigh = weights(plan, observed)
  const free = Array.from({ length: Math.max(1, concurrency) }, () => 0)
  const spans = new Map<string, Span>()
  for (const steps of byProject(plan.steps)) {
    const worker = free.indexOf(Math.min(...free))
    let now = free[worker] ?? 0
    for (const step of steps) {
      const end = now + weigh(step)
      spans.set(step.id, { start: now, end })
      now = end
    }
    free[worker] = now
  }
  const unit = plan.estimates.length === 0 ? 'turn' : 'ms'
  return { scale: { unit, end: Math.max(1, ...free) }, spans }
}

const weights = (plan: Plan, observed: Observed | undefined): ((step: Step) => number) => {
  if (plan.estimates.length === 0) return () => 1
  const medians = new Map(observed?.projects.map(({ id, pastOperations }) => [id, mediansOf(pastOperations ?? [])]))
  const shares = new Map(plan.estimates.map(({ project, medianMs }) => [project, medianMs / actionsOf(plan, project)]))
  return ({ project, actions }) => {
    const known = medians.get(project)
    const each = (action: string): number => (known === undefined ? shares.get(project) : known.get(action)) ?? 0
    const sum = actions.reduce((total, action) => total + each(action), 0)
    return sum > 0 ? sum : UNKNOWN_MS
  }
}

const actionsOf = (plan: Plan, project: string): number =>
  Math.max(
    1,
    plan.steps.reduce((sum, step) => sum + (step.project === project ? step.actions.length : 0), 0),
  )

/** By action, as in the plan's own estimate. */
const mediansOf = (
  past: readonly { readonly action: string; readonly durationMs: number }[],
): ReadonlyMap<string, number> => {
  const groups = new Map<string, number[]>()
  for (const { action, durationMs } of past) groups.set(action, [...(groups.get(action) ?? []), durationMs])
  return new Map(
    [...groups].map(([action, list]) => {
      const sorted = list.toSorted((a, b) => a - b)
      return [action, sorted[Math.min(sorted.length - 1, Math.floor(sorted.length / 2))] ?? 0]
    }),
  )
}

export const byProject = (steps: readonly Step[]): readonly (readonly Step[])[] => [
  ...groupBy(steps, ({ project }) => project).values(),
]

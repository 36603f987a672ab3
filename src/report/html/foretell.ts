/** Estimates when each step of a plan will run. Projects run concurrently, with one step at a time in each. */
import { groupBy } from '../../base/index.ts'
import type { Observed, Plan, Step } from '../../model/index.ts'
import type { Span, Timescale } from './span.ts'

export interface Schedule {
  readonly scale: Timescale
  readonly spans: ReadonlyMap<string, Span>
}

/** The assumed duration of a step whose operations are unknown. */
export const UNKNOWN_MS = 1_000

/**
 * @param observed past operations, if they were read. A step is expected to take the median time of its actions.
 * @param concurrency how many projects are processed concurrently.
 */
export const foretell = (plan: Plan, observed: Observed | undefined, concurrency: number): Schedule => {
  const weigh = weights(plan, observed)
  const free = Array.from({ length: Math.max(1, concurrency) }, () => 0)
  const spans = new Map<string, Span>()
  for (const steps of groupBy(plan.steps, ({ project }) => project).values()) {
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

/** The median time of each action, computed in the same way as for the plan's own estimate. */
const mediansOf = (
  past: readonly { readonly action: string; readonly durationMs: number }[],
): ReadonlyMap<string, number> =>
  new Map(
    [...groupBy(past, ({ action }) => action)].map(([action, operations]) => {
      const durations = operations.map(({ durationMs }) => durationMs).sort((a, b) => a - b)
      return [action, durations[Math.floor(durations.length / 2)] ?? 0]
    }),
  )

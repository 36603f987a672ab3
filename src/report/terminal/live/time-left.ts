import { groupBy } from '../../../base/index.ts'
import type { Plan } from '../../../model/index.ts'
import type { RunState } from './run-state.ts'

/**
 * The estimated remaining time in milliseconds, or `undefined` if there is no estimate for one of the unfinished
 * projects.
 *
 * @param concurrency how many projects are processed concurrently.
 */
export const timeLeftOf = (plan: Plan, concurrency: number): ((state: RunState, now: number) => number | undefined) => {
  const medians = new Map(plan.estimates.map(({ project, medianMs }) => [project, medianMs]))
  const totals = [...groupBy(plan.steps, ({ project }) => project)].map(([project, steps]) => ({
    project,
    total: steps.length,
    medianMs: medians.get(project),
  }))
  return ({ endedIn, running }, now) => {
    const since = new Map([...running.values()].map((one) => [one.step.project, one.since]))
    let [longest, sum] = [0, 0]
    for (const { project, total, medianMs } of totals) {
      const open = total - (endedIn.get(project) ?? 0)
      if (open === 0) continue
      if (medianMs === undefined) return undefined
      const each = medianMs / total
      const started = since.get(project)
      const spent = started === undefined ? 0 : Math.min(each, Math.max(0, now - started))
      const left = each * open - spent
      longest = Math.max(longest, left)
      sum += left
    }
    return Math.max(longest, sum / Math.max(1, concurrency))
  }
}

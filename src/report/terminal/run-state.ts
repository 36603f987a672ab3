/** The state of a running apply, computed from its events. */
import { groupBy, plainText } from '../../base/index.ts'
import type { ApplyEvent, Plan, Step, StepStatus } from '../../model/index.ts'
import { activityOf } from './apply.ts'

export interface RunningStep {
  readonly step: Step
  /** Milliseconds since the epoch. */
  readonly since: number
  /** What the step is doing or waiting for. Empty at first. */
  readonly doing: string
}

export interface RunState {
  readonly total: number
  readonly startedAt: number
  /** The number of steps that have ended, by status. */
  readonly ended: ReadonlyMap<StepStatus, number>
  /** The number of steps that have ended, by project. */
  readonly endedIn: ReadonlyMap<string, number>
  /** The running steps by id, in the order in which they started. */
  readonly running: ReadonlyMap<string, RunningStep>
  readonly isStopping: boolean
}

export const startOf = (plan: Plan, startedAt: number): RunState => ({
  total: plan.steps.length,
  startedAt,
  ended: new Map(),
  endedIn: new Map(),
  running: new Map(),
  isStopping: false,
})

export const endedCount = ({ ended }: RunState): number => [...ended.values()].reduce((sum, count) => sum + count, 0)

/** The state after an event. A `step-end` event counts the step as ended, even if the step never started. */
export const afterEvent = (
  state: RunState,
  event: ApplyEvent,
  projectOf: (step: string) => string | undefined,
): RunState => {
  switch (event.type) {
    case 'step-start': {
      const started: RunningStep = { step: event.step, since: Date.parse(event.time), doing: '' }
      return { ...state, running: new Map(state.running).set(event.step.id, started) }
    }
    case 'call':
      // The first attempt is not shown, because it is usually over at once.
      return doing(state, event.step, event.attempt > 1 ? activityOf(event) : '')
    case 'wait':
    case 'operation':
      return doing(state, event.step, activityOf(event))
    case 'step-end': {
      const { step, status } = event.outcome
      const running = new Map(state.running)
      running.delete(step)
      const project = projectOf(step)
      return {
        ...state,
        running,
        ended: plusOne(state.ended, status),
        endedIn: project === undefined ? state.endedIn : plusOne(state.endedIn, project),
      }
    }
    case 'interrupt':
      return { ...state, isStopping: true }
    case 'version':
    case 'plan':
    case 'policy-overridden':
    case 'window-overridden':
    case 'outcome':
      return state
  }
}

const doing = (state: RunState, step: string, text: string): RunState => {
  const own = state.running.get(step)
  if (own === undefined) return state
  return { ...state, running: new Map(state.running).set(step, { ...own, doing: plainText(text) }) }
}

const plusOne = <K>(counts: ReadonlyMap<K, number>, key: K): ReadonlyMap<K, number> =>
  new Map(counts).set(key, (counts.get(key) ?? 0) + 1)

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

/** Checks, at the end of a run, whether the projects are as declared. */
import { defined, EspalierError } from '../../base/index.ts'
import {
  type Change,
  changeTitle,
  hasErrors,
  type ObservedCompute,
  type Outcome,
  type Plan,
  type PlanResult,
  type StepOutcome,
} from '../../model/index.ts'
import type { RunContext } from '../context.ts'

/** A compute that was read by its id. Such a read is never older than the list of computes. */
export interface ReadCompute {
  readonly project: string
  readonly id: string
  /** Absent if the compute no longer exists. */
  readonly compute?: ObservedCompute
}

/** Plans again. @param read computes that replace those in the list of computes. */
export type Replan = (pinAliases: Readonly<Record<string, string>>, read: readonly ReadCompute[]) => Promise<PlanResult>

/** The pauses between checks. They are needed because the list of computes may be older than the reads by id. */
const DELAYS_MS = [0, 250, 1_000, 3_000]

export const converge = async (
  plan: Plan,
  outcomes: readonly StepOutcome[],
  aliases: Readonly<Record<string, string>>,
  replan: Replan,
  context: RunContext,
): Promise<Pick<Outcome, 'converged' | 'left'>> => {
  const done = doneBy(plan, outcomes)
  if (!outcomes.some(({ status }) => status === 'done') || outcomes.some(({ reason }) => reason === 'auth')) return {}
  const scheduled = new Set(outcomes.filter(({ status }) => status === 'scheduled').map(({ step }) => step))
  try {
    let read: readonly ReadCompute[] = []
    for (let round = 0; ; round += 1) {
      const result = await replan(aliases, read)
      const open = result.ok ? result.plan.steps.filter(({ id }) => !scheduled.has(id)) : []
      if (result.ok && open.length === 0) return { converged: true }
      const delayMs = DELAYS_MS[round]
      // If planning failed, any of the computes may be missing from the list.
      const doubtful = result.ok ? open.flatMap(({ change }) => done.get(change) ?? []) : [...done.values()].flat()
      if (delayMs === undefined || doubtful.length === 0) return { converged: false, left: leftOf(result, scheduled) }
      await context.clock.sleep(delayMs, context.abort)
      read = await Promise.all(doubtful.map((one) => readById(one, context)))
    }
  } catch (error) {
    // The outcome must be reported even if the project can no longer be read.
    if (error instanceof EspalierError) return { converged: false, left: [error.message] }
    throw error
  }
}

type Touched = Omit<ReadCompute, 'compute'>

/** The computes whose changes are done. If a new plan contains such a change again, its list may have been stale. */
const doneBy = (plan: Plan, outcomes: readonly StepOutcome[]): ReadonlyMap<string, readonly Touched[]> => {
  const ended = new Map(outcomes.map((outcome) => [outcome.step, outcome]))
  const done = new Map<string, readonly Touched[]>()
  const undone = new Set<string>()
  for (const { id, change, project, compute } of plan.steps) {
    const outcome = ended.get(id)
    if (outcome?.status !== 'done') undone.add(change)
    const computeId = outcome?.computeId ?? compute.id
    done.set(change, [...(done.get(change) ?? []), ...(computeId === undefined ? [] : [{ project, id: computeId }])])
  }
  for (const change of undone) done.delete(change)
  return done
}

const readById = async ({ project, id }: Touched, { api, abort }: RunContext): Promise<ReadCompute> => {
  return defined({ project, id, compute: await api.getCompute(project, id, { signal: abort }) })
}

const leftOf = (result: PlanResult, scheduled: ReadonlySet<string>): readonly string[] => {
  if (!result.ok)
    return result.diagnostics.filter((one) => hasErrors([one])).map(({ message }) => message.replace(/\.$/, ''))
  const { changes, steps } = result.plan
  const open = new Set(steps.filter(({ id }) => !scheduled.has(id)).map(({ change }) => change))
  return changes.filter(({ id }) => open.has(id)).map(changeWords)
}

const changeWords = (change: Change): string => {
  const differs = change.attributes
    .map(({ path, beforeText, afterText }) => `${path} ${beforeText ?? 'nothing'} → ${afterText}`)
    .join(', ')
  return `${changeTitle(change)}${differs === '' ? '' : `: ${differs}`}`
}

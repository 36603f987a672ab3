/** The outcome of a step that was not sent because something that it relies on has changed. */
import { ApiError } from '../api/index.ts'
import { defined } from '../base/index.ts'
import type { Moved, OperationProgress, Step, StepOutcome } from '../model/index.ts'
import { DELETED } from './assess.ts'
import type { RunContext } from './context.ts'
import { toProgress } from './operations.ts'
import type { Sent } from './send-step.ts'

/** @param wasLost whether the response to an earlier request was lost, so the change may be the step's own. */
export const staleStep = async (
  step: Step,
  { moved, ids }: Extract<Sent, { kind: 'stale' }>,
  wasLost: boolean,
  context: RunContext,
): Promise<Pick<StepOutcome, 'reason' | 'message' | 'moved' | 'movedBy'>> => {
  const movedBy = await latestOperation(step, ids, context)
  const by =
    movedBy === undefined ? '' : ` Its latest operation is ${movedBy.action} ${movedBy.id} (${movedBy.status}).`
  const fate = wasLost
    ? 'A request of this step was sent before, but its response was lost.'
    : 'Nothing was changed by this step.'
  return defined({
    reason: 'changed-meanwhile',
    message: `${step.compute.id ?? step.branch.name} has changed since the plan was made: ${moved.map(wordsOf).join('; ')}.${by} ${fate}`,
    moved,
    movedBy,
  } as const)
}

const wordsOf = ({ what, before, after }: Moved): string =>
  after === DELETED ? 'it was deleted' : `${what} ${before} → ${after}`

/** The latest operation that another client started on one of these computes. Used only to explain the outcome. */
const latestOperation = async (
  { project }: Step,
  ids: readonly string[],
  { api, knowledge, abort }: RunContext,
): Promise<OperationProgress | undefined> => {
  try {
    const { operations } = await api.listOperations(project, { limit: 20 }, { signal: abort })
    const latest = operations.find((one) => ids.includes(one.endpointId ?? '') && !knowledge.isOwn(one))
    return latest === undefined ? undefined : toProgress(latest)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Why a step did not do what it was to do, in a word that a workflow can decide by. */
import { ApiError } from '../api/index.ts'
import { EspalierError, isAllDone, isScheduled, type Outcome } from '../model/index.ts'

export type FailureReason =
  | 'validation-failed'
  | 'plan-stale'
  | 'over-budget'
  | 'apply-failed'
  | 'partially-applied'
  | 'operation-timeout'
  | 'project-busy'
  | 'not-converged'
  | 'rate-limited'
  | 'auth'

const OF_CODE: Readonly<Record<string, FailureReason>> = {
  E_STALE: 'plan-stale',
  E_BUDGET: 'over-budget',
  E_KEY: 'auth',
}
const OF_STATUS: Readonly<Record<number, FailureReason>> = {
  401: 'auth',
  403: 'auth',
  423: 'project-busy',
  429: 'rate-limited',
}

/** `undefined` where none of the words fits: a wrong input, the network, a bug. */
export const reasonOfError = (error: unknown): FailureReason | undefined => {
  if (error instanceof ApiError && error.status !== undefined) return OF_STATUS[error.status]
  return error instanceof EspalierError ? OF_CODE[error.code] : undefined
}

/** A cause that a person must remove comes before how far it got. `undefined`: all is done. */
export const reasonOfOutcome = (outcome: Outcome): FailureReason | undefined => {
  if (isAllDone(outcome) || isScheduled(outcome)) return outcome.converged === false ? 'not-converged' : undefined
  const reasons = new Set(outcome.steps.map(({ reason }) => reason))
  for (const cause of ['auth', 'rate-limited', 'project-busy', 'operation-timeout'] as const) {
    if (reasons.has(cause)) return cause
  }
  if (reasons.has('changed-meanwhile')) return 'plan-stale'
  return outcome.steps.some(({ status }) => status === 'done') ? 'partially-applied' : 'apply-failed'
}

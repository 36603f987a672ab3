/** Why a step did not do what it was to do, in a word that a workflow can decide by. */
import { ApiError } from '../api/index.ts'
import { EspalierError, isAllDone, isScheduled, type Outcome } from '../model/index.ts'

/** Every word there is, and what it means. A failure without one of them would pass for a success. */
export const FAILURE_REASONS = {
  input: 'an input of the step, or a file that it names, cannot be used',
  'validation-failed':
    'the manifests, or what they ask of the live project, are wrong; the other projects are planned all the same',
  auth: 'there is no key, or the service does not accept it',
  network: 'the service could not be reached',
  service: 'the service has a problem of its own, or its answer makes no sense',
  'rate-limited': 'the rate limit was not lifted in time',
  'project-busy': 'another operation held the project all the time',
  refused: 'the service, or the Action itself, refuses what was asked, such as to apply before the merge',
  git: 'git could not read what is needed',
  'fail-on': 'the plan has what the input `fail-on` names; it was made and commented',
  incomplete: 'the plans of some shards are missing or are not of one fleet',
  'plan-stale':
    'the project or the manifests have moved since the plan was saved, and nothing was changed; or a step was `stale` when its turn came',
  'over-budget': 'more than a `max-…` input allows; nothing was changed',
  'apply-failed': 'no step was done',
  'partially-applied': 'only some steps were done, or a project was left out',
  'operation-timeout': 'an operation took too long',
  'not-converged': 'every step was done, and a plan made afterwards is not empty',
  comment: 'no comment could be made, and `comment: always` asks for one',
  interrupted: 'the job was cancelled, or the process was killed',
  bug: 'a defect of Espalier',
} as const

export type FailureReason = keyof typeof FAILURE_REASONS

/** Any other code is of a mistake in what the step was given. */
const OF_CODE: Readonly<Record<string, FailureReason>> = {
  E_STALE: 'plan-stale',
  E_PLAN_EDITED: 'plan-stale',
  E_BUDGET: 'over-budget',
  E_KEY: 'auth',
  E_NETWORK: 'network',
  E_TLS: 'network',
  E_PROXY: 'network',
  E_REDIRECT: 'network',
  E_ANSWER: 'service',
  E_ANSWER_SIZE: 'service',
  E_GIT: 'git',
  E_NO_MANIFESTS: 'validation-failed',
  E_FORK_BASE: 'refused',
  E_FORK_CHECKOUT: 'refused',
  E_NOT_MERGED: 'refused',
  E_OTHER_PLAN: 'refused',
  E_MERGE: 'incomplete',
  E_COMMENT: 'comment',
}
const OF_STATUS: Readonly<Record<number, FailureReason>> = {
  401: 'auth',
  403: 'auth',
  423: 'project-busy',
  429: 'rate-limited',
}

export const reasonOfError = (error: unknown): FailureReason => {
  if (!(error instanceof EspalierError)) return 'bug'
  if (error instanceof ApiError && error.status !== undefined && error.code === 'E_API') {
    return OF_STATUS[error.status] ?? (error.status >= 500 ? 'service' : 'refused')
  }
  return OF_CODE[error.code] ?? 'input'
}

/** A cause that a person must remove comes before how far it got. `undefined`: all is done. */
export const reasonOfOutcome = (outcome: Outcome): FailureReason | undefined => {
  if (isAllDone(outcome) || isScheduled(outcome)) {
    return outcome.converged === false ? 'not-converged' : outcome.interrupted ? 'interrupted' : undefined
  }
  const reasons = new Set(outcome.steps.map(({ reason }) => reason))
  for (const cause of ['auth', 'rate-limited', 'project-busy', 'operation-timeout'] as const) {
    if (reasons.has(cause)) return cause
  }
  if (reasons.has('changed-meanwhile')) return 'plan-stale'
  return outcome.steps.some(({ status }) => status === 'done') ? 'partially-applied' : 'apply-failed'
}

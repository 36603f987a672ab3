/** The reasons for which a step can fail. A workflow can test them in its conditions. */
import { ApiError } from '../api/index.ts'
import { EspalierError } from '../base/index.ts'
import { isAllDone, isScheduled, type Outcome } from '../model/index.ts'

/** Every failure needs one of these, because an empty reason means success. */
export const FAILURE_REASONS = {
  input: 'an input, or a file that it names, is invalid',
  'validation-failed':
    'manifests or policies have errors; for validate, manifests violate a policy; or not all projects (for apply, none) could be planned or imported',
  auth: 'the key is missing or was rejected',
  network: 'the service could not be reached',
  service: 'the service failed, or its response could not be parsed',
  'rate-limited': 'requests were still rejected by the rate limit after all retries',
  'project-busy': 'another operation locked the project for too long',
  refused:
    'the service or the Action rejected the request, for example an apply before the merge; or GitHub could not be read',
  git: 'git could not read a commit that was needed',
  'fail-on': 'the plan contains something that `fail-on` lists',
  'policy-denied': 'a policy, or `max-restarts`, denies something in the plan',
  'plan-stale':
    'the saved plan is outdated or edited, so nothing was applied; or the project changed during the run, so a step became `stale`',
  'not-approved':
    'the plan contains unapproved changes, so nothing was applied in their projects; or the approvals could not be read',
  'apply-failed': 'no step succeeded',
  'partially-applied': 'only some steps succeeded, or a project was left out',
  'operation-timeout': 'an operation took too long',
  'not-converged': 'every step succeeded or waits for its window, but a new plan has other steps or failed',
  comment: '`comment: always` is set, but the comment could not be posted',
  interrupted: 'the job was cancelled or the process was killed',
  bug: 'there is a bug in Espalier',
} as const

export type FailureReason = keyof typeof FAILURE_REASONS

/** The reason that each error code means. Codes that are not listed mean `input`. */
const OF_CODE: Readonly<Record<string, FailureReason>> = {
  E_STALE: 'plan-stale',
  E_KEY: 'auth',
  E_NETWORK: 'network',
  E_TLS: 'network',
  E_PROXY: 'network',
  E_REDIRECT: 'network',
  E_ANSWER: 'service',
  E_GIT: 'git',
  E_BASE: 'refused',
  E_NO_MANIFESTS: 'validation-failed',
  E_POLICY_RULE: 'validation-failed',
  E_IMPORT: 'validation-failed',
  E_OUTSIDE: 'refused',
  E_FORK_CHECKOUT: 'refused',
  E_NOT_MERGED: 'refused',
  E_PULL_REQUEST: 'refused',
  E_NOT_APPROVED: 'not-approved',
  E_OTHER_PLAN: 'refused',
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

/** The reason for an outcome, or `undefined` if it is a success. Reasons that require user action take precedence. */
export const reasonOfOutcome = (outcome: Outcome): FailureReason | undefined => {
  if (isAllDone(outcome) || isScheduled(outcome)) {
    return outcome.converged === false ? 'not-converged' : outcome.interrupted ? 'interrupted' : undefined
  }
  const reasons = new Set(outcome.steps.map(({ reason }) => reason))
  for (const cause of ['auth', 'rate-limited', 'project-busy', 'operation-timeout'] as const) {
    if (reasons.has(cause)) return cause
  }
  if (reasons.has('changed-meanwhile')) return 'plan-stale'
  if (outcome.interrupted) return 'interrupted'
  return outcome.steps.some(({ status }) => status === 'done') ? 'partially-applied' : 'apply-failed'
}

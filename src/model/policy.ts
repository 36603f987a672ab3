/** The results of policies. */

export type PolicyLevel = 'warn' | 'deny'

/**
 * `existing`: the violation is not new, so it is only a warning. `unknown`: the value could not be read.
 * `overridden`: allowed, with a reason.
 */
export const POLICY_OUTCOMES = ['denied', 'warned', 'existing', 'unknown', 'overridden'] as const

export type PolicyOutcome = (typeof POLICY_OUTCOMES)[number]

export interface PolicyResult {
  readonly policy: string
  /** The name of the rule. */
  readonly rule: string
  readonly level: PolicyLevel
  readonly outcome: PolicyOutcome
  /** Absent if the policy limits the whole plan. */
  readonly project?: string
  readonly branch?: string
  /** `primary`, or `replica NAME`. */
  readonly compute?: string
  /** What is denied, where, and the limit; without a full stop. */
  readonly message: string
  readonly reason: string
  /** Why the policy was overridden. */
  readonly override?: string
  /** Who overrode it. */
  readonly overriddenBy?: string
}

export interface PlanPolicies {
  /** Policy files, as displayed. */
  readonly files: readonly string[]
  /** The commit that the policies come from, if it is not the commit that is planned. */
  readonly ref?: string
  readonly results: readonly PolicyResult[]
  /** How the planned commit changes the policies. The changes take effect once it is merged. No full stops. */
  readonly changes: readonly string[]
}

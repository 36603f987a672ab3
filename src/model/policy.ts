/** Policies: rules that a team sets for its projects. */
import type { Source } from './diagnostic.ts'

export type PolicyRule =
  | { readonly kind: 'maxSize'; readonly cu: number }
  | { readonly kind: 'minSize'; readonly cu: number }
  | { readonly kind: 'maxProjectCu'; readonly cu: number }
  | { readonly kind: 'maxReplicas'; readonly count: number }
  | { readonly kind: 'scaleToZero'; readonly is: 'required' | 'forbidden' }
  | { readonly kind: 'maxScaleToZero'; readonly seconds: number }
  | { readonly kind: 'restartWindow'; readonly is: 'required' }
  | { readonly kind: 'protect'; readonly is: 'required' }
  | { readonly kind: 'prune'; readonly is: 'forbidden' }
  | { readonly kind: 'maxCuHours'; readonly cuHours: number }

export type PolicyLevel = 'warn' | 'deny'

export interface Policy {
  readonly name: string
  readonly level: PolicyLevel
  /** Shown with every violation. */
  readonly reason: string
  /** Globs for project ids and names. Absent: all projects. */
  readonly projects?: readonly string[]
  /** Globs for branch names. Absent: all branches. */
  readonly branches?: readonly string[]
  readonly except: readonly string[]
  /** Ids of the projects whose manifests contain the policy. Absent if it comes from a policy file. */
  readonly within?: readonly string[]
  readonly computes: 'any' | 'primary' | 'replica'
  readonly rule: PolicyRule
  readonly source: Source
}

/**
 * `existing`: the violation is not new, so it is only a warning. `unknown`: the value could not be read.
 * `overridden`: allowed, with a reason.
 */
export const POLICY_OUTCOMES = ['denied', 'warned', 'existing', 'unknown', 'overridden'] as const

export type PolicyOutcome = (typeof POLICY_OUTCOMES)[number]

export const POLICY_RULES = [
  'maxSize',
  'minSize',
  'maxProjectCu',
  'maxReplicas',
  'scaleToZero',
  'maxScaleToZero',
  'restartWindow',
  'protect',
  'prune',
  'maxCuHours',
] as const satisfies readonly PolicyRule['kind'][]

export interface PolicyResult {
  readonly policy: string
  readonly rule: PolicyRule['kind']
  readonly level: PolicyLevel
  readonly outcome: PolicyOutcome
  readonly project: string
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

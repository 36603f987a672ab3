/** Policies: what a team allows in its projects, whatever the manifests ask for. */
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
  /** Globs over ids and names; absent: every project. */
  readonly projects?: readonly string[]
  /** Globs over branch names; absent: every branch. */
  readonly branches?: readonly string[]
  readonly except: readonly string[]
  /** Ids of the projects whose manifests hold it; absent: it is in a policy file, for all projects. */
  readonly within?: readonly string[]
  readonly computes: 'any' | 'primary' | 'replica'
  readonly rule: PolicyRule
  readonly source: Source
}

/**
 * `existing`: it was no better before the plan, so it only warns. `unknown`: the value could not be read.
 * `overridden`: somebody allowed it, with a reason.
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
  /** Without a full stop: what is denied, where, and what the limit is. */
  readonly message: string
  readonly reason: string
  /** Why it was overridden. */
  readonly override?: string
  /** Who did. */
  readonly overriddenBy?: string
}

export interface PlanPolicies {
  /** Those that were read, as people are shown them. */
  readonly files: readonly string[]
  /** The commit whose policies count, if it is not the one that is planned. */
  readonly ref?: string
  readonly results: readonly PolicyResult[]
  /** What the manifests' own commit changes in the policies, which applies after the merge; without full stops. */
  readonly changes: readonly string[]
}

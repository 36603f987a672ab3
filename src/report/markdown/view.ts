/** What comments on a pull request show. */
import type { Diagnostic, Origin, Outcome, Plan } from '../../model/index.ts'

export interface Frame {
  /** Shown in the heading if there are several plans. */
  readonly name?: string
  /** The first line: an HTML comment by which the next run finds this comment. */
  readonly marker: string
  /** The commit of the manifests. */
  readonly commit: string
  /** The URL of a line in a manifest; `undefined` for no link. */
  readonly linkTo?: (file: string, line: number) => string | undefined
  /** Where to find the full text if it was shortened, as trusted Markdown. */
  readonly whole: string
}

/** Where the changes come from: something to be merged, or everything since a git ref. */
export type Introducer = 'this pull request' | 'this merge group' | { readonly since: string }

export interface PlanView extends Partial<Frame> {
  readonly plan: Plan
  readonly origin: Origin
  /** Absent if the plan is only about drift. */
  readonly introducedBy?: Introducer
  /** Shards that have no plan. */
  readonly missing?: readonly string[]
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** CU-hours a month. Smaller changes in cost are not shown. */
  readonly costThreshold?: number
  /** Sentences about how this plan was made, as trusted Markdown. */
  readonly notes: readonly string[]
}

export interface ProblemView extends Frame {
  readonly diagnostics: readonly Diagnostic[]
  readonly notes: readonly string[]
}

export interface OutcomeView extends Frame {
  readonly plan: Plan
  readonly outcome: Outcome
}

export interface FailureView extends Pick<Frame, 'marker' | 'name' | 'commit'> {
  /** The command that failed: `plan` or `apply`. */
  readonly what: string
  /** The failure reason, such as `auth`. */
  readonly reason: string
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** Whether the comment replaces one of an earlier run. */
  readonly isOutOfDate: boolean
  /** URL of the workflow run. */
  readonly run?: string
}

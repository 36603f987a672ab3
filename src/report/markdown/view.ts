/** The data for plans on pull requests. */
import type { Origin, Plan } from '../../model/index.ts'

export interface Frame {
  /** The name of the plan, shown in the heading if there are several plans. */
  readonly name?: string
  /** The first line. It is an HTML comment, from which the next run recognizes this comment. */
  readonly marker: string
  /** The commit that the manifests were read from. */
  readonly commit: string
  /** Returns the URL of a line in a manifest, or `undefined` if the line should not be a link. */
  readonly linkTo?: (file: string, line: number) => string | undefined
  /** Says where to find the full text if this text was shortened. Trusted Markdown. */
  readonly whole: string
}

/** What introduces the changes: a pull request or merge group, or all work since a git ref. */
export type Introducer = 'this pull request' | 'this merge group' | { readonly since: string }

export interface PlanView extends Partial<Frame> {
  readonly plan: Plan
  readonly origin: Origin
  /** Absent if the plan contains only drift. */
  readonly introducedBy?: Introducer
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** In CU-hours a month. A change in cost that is smaller than this is not shown. */
  readonly costThreshold?: number
  /** Sentences about how this plan was made. Trusted Markdown. */
  readonly notes: readonly string[]
}

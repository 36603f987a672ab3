/** What a pull request is shown. */
import type { Diagnostic, Origin, Outcome, Plan } from '../../model/index.ts'

export interface Frame {
  /** Which of several plans this is, for the heading; absent: the only one. */
  readonly name?: string
  /** First line of the comment, by which the next run finds it: an HTML comment. */
  readonly marker: string
  /** The commit that was read. */
  readonly commit: string
  /** Where a person finds the manifest's line; `undefined`: no link. */
  readonly linkTo?: (file: string, line: number) => string | undefined
  /** Where the whole is, when not all of it fits: in words, as Markdown of our own. */
  readonly whole: string
}

/** What introduces the changes: something that is to be merged, or all that came after a commit. */
export type Introducer = 'this pull request' | 'this merge group' | { readonly since: string }

export interface PlanView extends Omit<Frame, 'commit' | 'marker' | 'whole'>, Partial<Pick<Frame, 'marker' | 'whole'>> {
  /** Where it is known. */
  readonly commit?: string
  readonly plan: Plan
  readonly origin: Origin
  /** What introduces the changes; absent: nothing does, this is about the project as it is. */
  readonly introducedBy?: Introducer
  /** Shards of the fleet that have no plan: what they change is not known. */
  readonly missing?: readonly string[]
  /** When the snapshot was taken, ISO 8601; if it is known. */
  readonly takenAt?: string
  /** CU-hours a month: a cost that changes by less is not worth a line. */
  readonly costThreshold?: number
  /** What a reader should know about how this came about: Markdown of our own, one sentence each. */
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
  /** What failed: `plan`, `apply`. */
  readonly what: string
  /** A word of our own. */
  readonly reason: string
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** Whether it replaces what an earlier run showed. */
  readonly isOutOfDate: boolean
  /** Address of the workflow's run. */
  readonly run?: string
}

/** Differences between the manifests and the live project, and which side changed. */
import type { AttributeValue } from './attributes/index.ts'
import type { Source } from './diagnostic.ts'
import type { AttributeChange, Change, NamedBranch, PlannedCompute, UnmanagedCompute } from './plan.ts'

export const MOVERS = ['manifest', 'live', 'both'] as const

export type Mover = (typeof MOVERS)[number]

export const MOVER_WORDS: Readonly<Record<Mover, string>> = {
  manifest: 'the manifest changed',
  live: 'the live compute changed',
  both: 'both changed',
}

export interface Difference {
  readonly change: Change
  /** Absent if the whole compute differs: it must be created, moved, replaced or deleted. */
  readonly attribute?: AttributeChange
  readonly mover: Mover
  /** The most recent operation that may have caused the difference. The API does not show who started an operation. */
  readonly lastOperation?: DriftOperation
}

/** Whether the live project changed, perhaps in addition to the manifest. */
export const isDrift = ({ mover }: Pick<Difference, 'mover'>): boolean => mover !== 'manifest'

export interface DriftOperation {
  readonly id: string
  readonly action: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly computeId: string
}

// The changes of a plan by their origin, and computes that the manifests no longer manage.

/** A live compute that the base's manifests declare and the head's do not. It stays as it is. */
export interface ReleasedCompute extends UnmanagedCompute {
  readonly kind: 'compute'
  /** Where the manifests on the base branch declare it. */
  readonly source: Source
}

/** An attribute that the base sets and the head does not, of a compute that both declare. Its live value stays. */
export interface ReleasedAttribute extends Pick<UnmanagedCompute, 'project' | 'branch' | 'compute'> {
  readonly kind: 'attribute'
  /** Each entry of a map has its own path, as in a change. */
  readonly path: string
  /** `another value` for a Postgres setting or library whose live value the base does not declare either. */
  readonly live: AttributeValue
  readonly liveText: string
  /** The lines that set the default of the service or the project: `disabled: false`. Absent if it is unknown. */
  readonly undo?: string
  /** Set if the live value is the default. Such an attribute is in JSON only. */
  readonly isDefault?: true
  /** Where the manifests on the base branch set it. */
  readonly source: Source
}

/** A safeguard that the head removes, or a restart window that it opens at more times. */
export interface ReleasedSafeguard extends Pick<UnmanagedCompute, 'project'> {
  readonly kind: 'safeguard'
  /** A live branch, or the globs of a rule that matches none, or of a policy. */
  readonly branch: NamedBranch
  readonly safeguard: 'protect' | 'prune' | 'restartWindow' | 'policy'
  /** The compute that a restart window applies to. */
  readonly compute?: PlannedCompute
  /** `true`, or the window or the policy in words. */
  readonly before: string
  readonly after: string
}

/** What the base's manifests declare and the head's do not. */
export type Released = ReleasedCompute | ReleasedAttribute | ReleasedSafeguard

export interface Origin {
  /** Changes caused by differences between the manifests of base and head, in the plan's order. */
  readonly introduced: readonly Change[]
  /** Changes that the base's manifests would make too: existing drift. */
  readonly drift: readonly Change[]
  /** Changes that the base would make and the head does not: the head accepts the live state. */
  readonly settled: readonly Change[]
  /** Computes, then attributes, then safeguards; each sorted by project, branch name, and primary before replicas. */
  readonly released: readonly Released[]
  /** What could not be compared with the base, one sentence each. Absent if everything was compared. */
  readonly gaps?: readonly string[]
}

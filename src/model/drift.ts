/** Differences between the manifests and the live project, and which side changed. */
import type { Source } from './diagnostic.ts'
import type { AttributeChange, Change, UnmanagedCompute } from './plan.ts'

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
  /** Where the manifests on the base branch declare it. */
  readonly source: Source
}

export interface Origin {
  /** Changes caused by differences between the manifests of base and head, in the plan's order. */
  readonly introduced: readonly Change[]
  /** Changes that the base's manifests would make too: existing drift. */
  readonly drift: readonly Change[]
  /** Changes that the base would make and the head does not: the head accepts the live state. */
  readonly settled: readonly Change[]
  /** Sorted by project, then branch name, then primary before replicas. */
  readonly released: readonly ReleasedCompute[]
  /** What could not be compared with the base, one sentence each. Absent if everything was compared. */
  readonly gaps?: readonly string[]
}

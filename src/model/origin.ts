/** The changes of a plan by their origin, and computes that the manifests no longer manage. */
import type { Source } from './diagnostic.ts'
import type { Change, UnmanagedCompute } from './plan.ts'

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

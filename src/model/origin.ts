/** The changes of a plan by who caused them, and what the manifests no longer manage. */
import type { Source } from './diagnostic.ts'
import type { Change, UnmanagedCompute } from './plan.ts'

/** A live compute that the base's manifests declare and the head's do not. It keeps running. */
export interface ReleasedCompute extends UnmanagedCompute {
  /** In the base. */
  readonly source: Source
}

export interface Origin {
  /** By what differs between the manifests of the base and of the head. In the plan's order. */
  readonly introduced: readonly Change[]
  /** What the base's manifests would change as well: the live project had drifted before. */
  readonly drift: readonly Change[]
  /** Of these computes the base would change something that the head leaves: their drift is settled. */
  readonly settled: readonly Change[]
  /** Sorted by project, then branch name, then primary before replicas. */
  readonly released: readonly ReleasedCompute[]
  /** What could not be compared with the base, a sentence each; absent if all of it was. */
  readonly gaps?: readonly string[]
}

/** The changes of a plan, parted by who caused them. */
import type { Change } from './plan.ts'

export interface Origin {
  /** By what differs between the manifests of the base and of the head. In the plan's order. */
  readonly introduced: readonly Change[]
  /** What the base's manifests would change as well: the live project had drifted before. */
  readonly drift: readonly Change[]
  /** Of these computes the base would change something that the head leaves: their drift is settled. */
  readonly settled: readonly Change[]
}

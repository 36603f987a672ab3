/** What the API showed, at one moment: a snapshot. */
import type { ComputeAttributes, WireSettings } from './attributes/index.ts'

export type ComputeType = 'read_write' | 'read_only'

export interface ObservedCompute {
  readonly id: string
  readonly branchId: string
  readonly type: ComputeType
  readonly host: string
  /** `init`, `active` or `idle`; the API may grow others. */
  readonly state: string
  readonly pendingState?: string
  /** Every attribute the API showed. */
  readonly attributes: ComputeAttributes
  /** `settings` as the API showed it: a request must carry along what no manifest declares. Absent where it is empty. */
  readonly settings?: WireSettings
  /** ISO 8601. */
  readonly lastActive?: string
}

export interface ObservedBranch {
  readonly id: string
  readonly name: string
  readonly isDefault: boolean
  /** The API refuses to delete this branch's computes. */
  readonly isProtected: boolean
  readonly parentId?: string
}

/** A finished operation, from which the plan estimates how long the like will take. */
export interface PastOperation {
  readonly action: string
  readonly durationMs: number
}

export interface ObservedProject {
  readonly id: string
  readonly name?: string
  readonly branches: readonly ObservedBranch[]
  readonly computes: readonly ObservedCompute[]
  readonly pastOperations?: readonly PastOperation[]
}

/** A project that the service did not show: access denied, a server error, or an answer that makes no sense. */
export interface UnreadableProject {
  readonly id: string
  /** In the words of the service, without a full stop. */
  readonly message: string
  readonly hint?: string
}

/** The project ids that the key cannot see, or that do not exist, are in `missing`. */
export interface Observed {
  /** ISO 8601: when the first request of the snapshot was sent. */
  readonly takenAt: string
  readonly projects: readonly ObservedProject[]
  readonly missing: readonly string[]
  /** Absent where every project could be read. */
  readonly unreadable?: readonly UnreadableProject[]
}

/** Nobody can be connected to a compute that is idle and not about to be otherwise. */
export const isIdle = (compute: ObservedCompute): boolean =>
  compute.state === 'idle' && (compute.pendingState === undefined || compute.pendingState === 'idle')

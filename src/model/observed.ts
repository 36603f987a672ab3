/** A snapshot: the state that the API showed at one point in time. */
import type { ComputeAttributes, WireSettings } from './attributes/index.ts'

export type ComputeType = 'read_write' | 'read_only'

export interface ObservedCompute {
  readonly id: string
  readonly branchId: string
  readonly type: ComputeType
  readonly host: string
  /** `init`, `active` or `idle`; the API may add others. */
  readonly state: string
  readonly pendingState?: string
  /** All attributes that the API showed. */
  readonly attributes: ComputeAttributes
  /** `settings` from the API, because a request must repeat what no manifest declares. Absent if empty. */
  readonly settings?: WireSettings
  /** ISO 8601. */
  readonly createdAt?: string
  readonly lastActive?: string
  /** Last start; still set while the compute is idle. */
  readonly startedAt?: string
}

export interface ObservedBranch {
  readonly id: string
  readonly name: string
  readonly isDefault: boolean
  /** The API refuses to delete this branch's computes. */
  readonly isProtected: boolean
  readonly parentId?: string
  /** ISO 8601. */
  readonly createdAt?: string
  /** When the service will delete the branch and its computes. Absent: never. */
  readonly expiresAt?: string
  readonly usage?: BranchUsage
}

/** Usage of a branch's computes in the current consumption period, including deleted ones. */
export interface BranchUsage {
  /** Sum of the computes' active time. */
  readonly activeSeconds: number
  /** Sum of active seconds times size (CU). */
  readonly computeSeconds: number
}

/** Sorts the default branch first, then by name. Names with a slash, such as previews, come last. */
export const byBranch = (a: ObservedBranch, b: ObservedBranch): number =>
  Number(b.isDefault) - Number(a.isDefault) ||
  Number(a.name.includes('/')) - Number(b.name.includes('/')) ||
  (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1)

/** A finished operation, used to estimate how long similar ones will take. */
export interface PastOperation {
  readonly action: string
  readonly durationMs: number
  /** Only for starting and suspending a compute: its id, and the time (ISO 8601). */
  readonly computeId?: string
  readonly at?: string
}

/** From `GET /projects/{id}`. Fields that the service does not show are absent. */
export interface ProjectSettings {
  /** The account's plan as the service names it: `free_v3`, `launch_v3`, `scale_v3`… */
  readonly subscription?: string
  /** Defaults for new computes. */
  readonly computeDefaults?: Pick<ComputeAttributes, 'size' | 'scaleToZero'>
  /** Seconds per consumption period; absent: unlimited. The service suspends all computes when a quota is used up. */
  readonly quota?: { readonly computeSeconds?: number; readonly activeSeconds?: number }
  readonly maintenanceWindow?: MaintenanceWindow
  /** Start of the next service update, ISO 8601. Still set after a restart has applied the update. */
  readonly maintenanceScheduledFor?: string
  /** The consumption period of all counters, ISO 8601. */
  readonly period?: { readonly start: string; readonly end: string }
}

/** In UTC. Starts and ends on the same day. */
export interface MaintenanceWindow {
  /** 1 is Monday, 7 is Sunday. */
  readonly weekdays: readonly number[]
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`; `00:00` is the end of the day. */
  readonly to: string
}

export interface ObservedProject {
  readonly id: string
  /** For display only. Absent if the key may not read it. */
  readonly name?: string
  readonly branches: readonly ObservedBranch[]
  readonly computes: readonly ObservedCompute[]
  readonly pastOperations?: readonly PastOperation[]
  /** ISO 8601: the operation history has no gaps from this time on. */
  readonly operationsSince?: string
  /** Absent if the project itself was not read. */
  readonly settings?: ProjectSettings
}

/** A project that could not be read: access denied, a server error, or an invalid response. */
export interface UnreadableProject {
  readonly id: string
  /** The service's message, without a full stop. */
  readonly message: string
  readonly hint?: string
}

export interface Observed {
  /** ISO 8601: when the first request of the snapshot was sent. */
  readonly takenAt: string
  readonly projects: readonly ObservedProject[]
  /** Ids of projects that do not exist, or that the key cannot see. */
  readonly missing: readonly string[]
  /** Entries of `missing` that are names of projects, with the ids of those projects. */
  readonly namesakes?: readonly { readonly name: string; readonly ids: readonly string[] }[]
  /** Absent if every project could be read. */
  readonly unreadable?: readonly UnreadableProject[]
}

/** Whether a compute is idle and stays idle, so that it has no connections. */
export const isIdle = (compute: ObservedCompute): boolean =>
  compute.state === 'idle' && (compute.pendingState === undefined || compute.pendingState === 'idle')

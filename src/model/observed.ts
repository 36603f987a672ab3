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
  /** `settings` as the API showed it: a request must carry along what no manifest declares. Absent if it is empty. */
  readonly settings?: WireSettings
  /** ISO 8601. */
  readonly createdAt?: string
  readonly lastActive?: string
  /** When it last started; kept while it is idle. */
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
  /** When the service deletes the branch and its computes; absent: it stays. */
  readonly expiresAt?: string
  readonly usage?: BranchUsage
}

/** What all computes of a branch used in the current consumption period, deleted ones included. */
export interface BranchUsage {
  /** Time during which computes were active, summed over them. */
  readonly activeSeconds: number
  /** The same, each second times the size (CU) at that moment. */
  readonly computeSeconds: number
}

/** The default branch, then by name; names with a slash, such as those of previews, come last. */
export const byBranch = (a: ObservedBranch, b: ObservedBranch): number =>
  Number(b.isDefault) - Number(a.isDefault) ||
  Number(a.name.includes('/')) - Number(b.name.includes('/')) ||
  (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1)

/** A finished operation, from which the plan estimates how long the like will take. */
export interface PastOperation {
  readonly action: string
  readonly durationMs: number
  /** Of a start or a suspend only: which compute, and when (ISO 8601). */
  readonly computeId?: string
  readonly at?: string
}

/** What `GET /projects/{id}` shows; each field is absent if the service did not show it. */
export interface ProjectSettings {
  /** The account's plan, in the service's own word: `free_v3`, `launch_v3`, `scale_v3`… */
  readonly subscription?: string
  /** Defaults of computes that are created without a value. */
  readonly computeDefaults?: Pick<ComputeAttributes, 'size' | 'scaleToZero'>
  /** Seconds a consumption period; 0 and absent are unlimited. All computes are suspended once one is used up. */
  readonly quota?: { readonly computeSeconds?: number; readonly activeSeconds?: number }
  readonly maintenanceWindow?: MaintenanceWindow
  /** When the next service update starts, ISO 8601. It stays set after a restart has taken the update. */
  readonly maintenanceScheduledFor?: string
  /** The period that all counters count, ISO 8601. */
  readonly period?: { readonly start: string; readonly end: string }
}

/** In UTC, on one day. */
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
  /** For people only; absent if the key may not read it. */
  readonly name?: string
  readonly branches: readonly ObservedBranch[]
  readonly computes: readonly ObservedCompute[]
  readonly pastOperations?: readonly PastOperation[]
  /** ISO 8601: the past operations are complete from here on. */
  readonly operationsSince?: string
  /** Absent if the project itself was not read. */
  readonly settings?: ProjectSettings
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
  /** Those of `missing` that are names, with the ids of the projects that have them. */
  readonly namesakes?: readonly { readonly name: string; readonly ids: readonly string[] }[]
  /** Absent if every project could be read. */
  readonly unreadable?: readonly UnreadableProject[]
}

/** Nobody can be connected to a compute that is idle and not about to be otherwise. */
export const isIdle = (compute: ObservedCompute): boolean =>
  compute.state === 'idle' && (compute.pendingState === undefined || compute.pendingState === 'idle')

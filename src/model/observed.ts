/** A snapshot: the state that the API showed at one point in time. */
import type { ComputeAttributes, WireSettings } from './attributes/index.ts'
import type { Settlement } from './settlement.ts'

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
  /** `settings` from the API. A request must also send the settings that no manifest declares. Absent if empty. */
  readonly settings?: WireSettings
  /** ISO 8601. */
  readonly createdAt?: string
  readonly lastActive?: string
  /** When the compute last started. Still set while the compute is idle. */
  readonly startedAt?: string
  // For display only: plans do not depend on the fields below.
  readonly updatedAt?: string
  readonly suspendedAt?: string
  readonly proxyHost?: string
  readonly regionId?: string
  readonly provisioner?: string
  /** Where the compute was created from, such as `console`. */
  readonly creationSource?: string
}

export interface ObservedBranch {
  readonly id: string
  readonly name: string
  readonly isDefault: boolean
  /** Whether the service protects the branch. If so, the API refuses to delete its computes. */
  readonly isProtected: boolean
  readonly parentId?: string
  /** ISO 8601. */
  readonly createdAt?: string
  /** When the service will delete the branch and its computes. Absent if the branch does not expire. */
  readonly expiresAt?: string
  readonly usage?: BranchUsage
}

/** Usage of a branch's computes in the current consumption period, including deleted ones. */
export interface BranchUsage {
  /** How long the computes were active, in total. */
  readonly activeSeconds: number
  /** For each compute, its active seconds multiplied by its size in CU; then added up. */
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
  /** The id of the compute. Like `at` (ISO 8601), only set for operations that start or suspend a compute. */
  readonly computeId?: string
  readonly at?: string
}

/** From `GET /projects/{id}`. Fields that the service does not show are absent. */
export interface ProjectSettings {
  /** The account's plan as the service names it: `free_v3`, `launch_v3`, `scale_v3`… */
  readonly subscription?: string
  /** Defaults for new computes. */
  readonly computeDefaults?: Pick<ComputeAttributes, 'size' | 'scaleToZero'>
  /** Seconds per consumption period. Absent: no limit. Once a quota is used up, the service suspends all computes. */
  readonly quota?: { readonly computeSeconds?: number; readonly activeSeconds?: number }
  readonly maintenanceWindow?: MaintenanceWindow
  /** Start of the next service update, ISO 8601. Still set after a restart has applied the update. */
  readonly maintenanceScheduledFor?: string
  /** The current consumption period, to which all counters refer (ISO 8601). */
  readonly period?: { readonly start: string; readonly end: string }
}

const DAY_MS = 86_400_000

/** When the next service update is due, in milliseconds since the epoch. Ignores one that is over a day overdue. */
export const updateDue = (settings: ProjectSettings | undefined, now: number): number | undefined => {
  const due = settings?.maintenanceScheduledFor === undefined ? Number.NaN : parseUtc(settings.maintenanceScheduledFor)
  return Number.isNaN(due) || due < now - DAY_MS ? undefined : due
}

/** The service may return times without a zone, which are then in UTC. */
const parseUtc = (text: string): number => Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`)

/** All times are in UTC. The window starts and ends on the same day. */
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
  /** For display only. Absent if the API key has no access to it. */
  readonly name?: string
  readonly branches: readonly ObservedBranch[]
  readonly computes: readonly ObservedCompute[]
  readonly pastOperations?: readonly PastOperation[]
  /** The history of operations is complete from this time on (ISO 8601). */
  readonly operationsSince?: string
  /** Absent if the operations were not read. */
  readonly settlement?: Settlement
  /** Absent if the project itself was not read. */
  readonly settings?: ProjectSettings
}

/** A project that could not be read: access denied, a server error, or an invalid response. */
export interface UnreadableProject {
  readonly id: string
  /** The error message from the service, without a full stop. */
  readonly message: string
  readonly hint?: string
}

export interface Observed {
  /** ISO 8601: when the first request of the snapshot was sent. */
  readonly takenAt: string
  readonly projects: readonly ObservedProject[]
  /** Ids of projects that do not exist or that the API key cannot access. */
  readonly missing: readonly string[]
  /** Entries of `missing` that are the name of a project instead of an id, with the ids of the projects so named. */
  readonly namesakes?: readonly { readonly name: string; readonly ids: readonly string[] }[]
  /** Absent if every project could be read. */
  readonly unreadable?: readonly UnreadableProject[]
}

/** Whether a compute is idle and is not about to start. Such a compute has no connections. */
export const isIdle = (compute: ObservedCompute): boolean =>
  compute.state === 'idle' && (compute.pendingState === undefined || compute.pendingState === 'idle')

/** What the sandbox knows, as it is kept on disk. Times are milliseconds since the epoch unless named otherwise. */
import type { WireSettings } from '../../model/index.ts'
import type { CatalogChange } from '../computes/computes.ts'
import type { DatabaseRecord, RoleRecord } from './catalog.ts'
import type { ProjectSettings } from './project-settings.ts'

export interface ProjectRecord {
  readonly kind: 'project'
  readonly id: string
  readonly name: string
  readonly regionId: string
  /** Free projects have computes of 2 CU at most (docs/control-api.md). */
  readonly plan: 'free' | 'paid'
  readonly defaults: {
    readonly min: number
    readonly max: number
    readonly suspendTimeoutSeconds: number
    readonly pgSettings?: Readonly<Record<string, string>>
  }
  /** Postgres' major version. */
  readonly pgVersion?: number
  readonly settings?: ProjectSettings
  /** As the client named it; without one it is the service's usual. */
  readonly provisioner?: string
  readonly orgId?: string
  /** The restore window. */
  readonly historyRetentionSeconds?: number
  /** Detached from storage, since nobody asked for it. */
  readonly isDetached?: boolean
  readonly createdAt: number
  readonly updatedAt?: number
  /** When the next service update is due; only a seed sets it, and nothing happens then. */
  readonly maintenanceAt?: number
  /** It is hidden from every client. */
  readonly deletedAt?: number
  /** Until then it can be recovered; absent once its data is deleted. */
  readonly recoverableUntil?: number
}

export interface BranchRecord {
  readonly kind: 'branch'
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly parentId?: string
  /** The moment of the parent's history that it began with, if it is known. */
  readonly parentTime?: number
  /** Of one without data: the branch whose schema it began with. */
  readonly schemaOf?: string
  readonly isDefault: boolean
  readonly isProtected: boolean
  readonly state: 'init' | 'resetting' | 'ready' | 'archived'
  /** Absent: it has been so since it was made. */
  readonly stateChangedAt?: number
  readonly createdAt: number
  readonly updatedAt: number
  /** When it is to be deleted, as the API writes it. */
  readonly expiresAt?: string
  /** From when that was set to then. */
  readonly ttlSeconds?: number
  /** When its data was last replaced by another branch's, or by its own of earlier. */
  readonly lastResetAt?: number
  readonly annotation?: Annotation
  readonly roles?: readonly RoleRecord[]
  readonly databases?: readonly DatabaseRecord[]
  /** What was asked of its roles and databases and Postgres has not carried out yet, oldest first. */
  readonly changes?: readonly CatalogChange[]
}

/** What a client wants to remember of a branch. */
export interface Annotation {
  readonly value: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly updatedAt: number
}

export type ComputeState = 'init' | 'active' | 'idle'

export interface ComputeRecord {
  readonly kind: 'compute'
  readonly id: string
  readonly projectId: string
  readonly branchId: string
  readonly type: 'read_write' | 'read_only'
  readonly name?: string
  readonly min: number
  readonly max: number
  /** 0 default, −1 never, else seconds. */
  readonly suspendTimeoutSeconds: number
  readonly settings: WireSettings
  readonly disabled: boolean
  readonly poolerEnabled: boolean
  readonly passwordlessAccess: boolean
  /** As the client named it; without one it is the service's usual. */
  readonly provisioner?: string
  readonly state: ComputeState
  readonly pendingState?: ComputeState
  readonly createdAt: number
  readonly updatedAt: number
  readonly startedAt?: number
  readonly lastActive?: number
  readonly suspendedAt?: number
}

/** The public OpenAPI's eight (`error` is not in docs/control-api.md). */
export type OperationStatus =
  | 'scheduling'
  | 'running'
  | 'finished'
  | 'failed'
  | 'error'
  | 'cancelling'
  | 'cancelled'
  | 'skipped'

export interface RestoreWork {
  readonly from: string
  /** The branch that gets the data from before. */
  readonly preserveAs?: string
}

export interface OperationRecord {
  readonly kind: 'operation'
  readonly id: string
  readonly projectId: string
  readonly branchId: string
  readonly computeId?: string
  readonly action: string
  readonly status: OperationStatus
  /** Microseconds since the epoch, unlike any other of the project: the cursor of a page. */
  readonly createdAtUs: number
  readonly updatedAt: number
  readonly startedAt?: number
  readonly durationMs: number
  /** Of an `apply_config` that restarts the compute. */
  readonly restarts?: boolean
  /** Of a `create_branch` that gives a branch other data. */
  readonly restore?: RestoreWork
  /** The operation of the same call that must finish first. */
  readonly waitsFor?: string
  /** Absent: never. */
  readonly failures?: number
  /** Why it failed last. */
  readonly error?: string
  /** Of one that failed: when it is tried again. */
  readonly retryAt?: number
}

/** Nothing becomes of it any more; one that failed may be tried again (docs/control-api.md). */
export const isOver = ({ status, retryAt }: OperationRecord): boolean => {
  if (status === 'failed') return retryAt === undefined
  return status === 'finished' || status === 'error' || status === 'cancelled' || status === 'skipped'
}

/** A key besides the sandbox's own. Only the digest of its text is kept. */
export interface KeyRecord {
  readonly kind: 'key'
  /** SHA-256 of the key, in hexadecimal. */
  readonly id: string
  readonly of: 'personal' | 'organization' | 'project'
  /** Of an organization's key. */
  readonly orgId?: string
  /** Of a project-scoped key. */
  readonly projectId?: string
  readonly name?: string
  readonly createdAt?: number
  readonly isRevoked: boolean
}

export type WorldRecord = KeyRecord | ProjectRecord | BranchRecord | ComputeRecord | OperationRecord

/** One thing that changed: a record as it is now, or one that was deleted. */
export type WorldChange =
  | { readonly put: WorldRecord }
  | { readonly drop: { readonly kind: WorldRecord['kind']; readonly id: string } }

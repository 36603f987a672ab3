/**
 * The sandbox's state as it is stored on disk. Times are in milliseconds since the epoch, unless noted otherwise.
 *
 * The types are inferred from the schemas. Before a world is loaded, it is checked against the schemas.
 */
import { z } from 'zod'
import type { WireSettings } from '../../model/index.ts'
import type { CatalogChange } from '../computes/computes.ts'
import { settingsRequest } from './requests.ts'

type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T

const text = z.string()
const id = z.string().regex(/^[A-Za-z0-9-]{1,64}$/)
const number = z.number()
const flag = z.boolean()
const strings = z.record(text, text)
const times = { createdAt: number, updatedAt: number }

const projectRecord = z.strictObject({
  kind: z.literal('project'),
  id,
  name: text,
  regionId: id,
  /** Computes of free projects have at most 2 CU (docs/reference/control-api.md). */
  plan: z.enum(['free', 'paid']),
  defaults: z.strictObject({
    min: number,
    max: number,
    suspendTimeoutSeconds: number,
    pgSettings: strings.optional(),
  }),
  pgVersion: z.int().optional(),
  settings: settingsRequest.optional(),
  /** As the client requested it. Absent: the service's default. */
  provisioner: text.optional(),
  orgId: id.optional(),
  /** The restore window. */
  historyRetentionSeconds: number.optional(),
  /** Whether the storage was detached, because the project was idle for a long time. */
  isDetached: flag.optional(),
  createdAt: number,
  updatedAt: number.optional(),
  /** When the next service update is due. Only a seed can set this time, and the sandbox runs no update. */
  maintenanceAt: number.optional(),
  /** When the project was deleted. From then on, clients cannot use it. */
  deletedAt: number.optional(),
  /** The end of the period in which the project can be recovered. Removed when the data is deleted. */
  recoverableUntil: number.optional(),
})
export type ProjectRecord = Immutable<z.infer<typeof projectRecord>>

const role = z.strictObject({
  name: text,
  /**
   * Absent if the role cannot log in, or if its password was set with SQL and is therefore not known to the sandbox.
   */
  password: text.optional(),
  canLogin: flag,
  ...times,
})
export type RoleRecord = Immutable<z.infer<typeof role>>

const database = z.strictObject({
  id: z.int(),
  name: text,
  /** The name of a role on the same branch. */
  owner: text,
  ...times,
})
export type DatabaseRecord = Immutable<z.infer<typeof database>>

const catalogChange: z.ZodType<CatalogChange> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('put-role'),
    role: role.pick({ name: true, password: true, canLogin: true }).strip(),
  }),
  z.strictObject({ kind: z.literal('drop-role'), name: text }),
  z.strictObject({ kind: z.literal('put-database'), name: text, owner: text }),
  z.strictObject({ kind: z.literal('rename-database'), name: text, to: text }),
  z.strictObject({ kind: z.literal('drop-database'), name: text }),
])

const branchRecord = z.strictObject({
  kind: z.literal('branch'),
  id,
  projectId: id,
  name: text,
  parentId: id.optional(),
  /** The point in the parent's history from which the branch was created, if known. */
  parentTime: number.optional(),
  /** For a schema-only branch, the branch whose schema was copied. */
  schemaOf: id.optional(),
  isDefault: flag,
  isProtected: flag,
  state: z.enum(['init', 'resetting', 'ready', 'archived']),
  /** Absent if the state has not changed since the branch was created. */
  stateChangedAt: number.optional(),
  ...times,
  /** When the branch expires, as the API writes it. */
  expiresAt: z.iso.datetime().optional(),
  /** The time from when the expiration was set until the branch expires. */
  ttlSeconds: number.optional(),
  /** When the branch's data was last replaced by a restore or reset. */
  lastResetAt: number.optional(),
  /** Key-value pairs that a client attached to the branch. */
  annotation: z.strictObject({ value: strings, ...times }).optional(),
  roles: z.array(role).optional(),
  databases: z.array(database).optional(),
  /** Requested changes to roles and databases that Postgres has not executed yet, oldest first. */
  changes: z.array(catalogChange).optional(),
})
export type BranchRecord = Immutable<z.infer<typeof branchRecord>>

const computeState = z.enum(['init', 'active', 'idle'])
export type ComputeState = z.infer<typeof computeState>
const settings: z.ZodType<WireSettings> = z.looseObject({ pg_settings: strings.optional() })

const computeRecord = z.strictObject({
  kind: z.literal('compute'),
  id,
  projectId: id,
  branchId: id,
  type: z.enum(['read_write', 'read_only']),
  name: text.optional(),
  min: number,
  max: number,
  /** 0 means the default, and -1 means never. */
  suspendTimeoutSeconds: number,
  settings,
  disabled: flag,
  poolerEnabled: flag,
  passwordlessAccess: flag,
  /** As the client requested it. Absent: the service's default. */
  provisioner: text.optional(),
  state: computeState,
  pendingState: computeState.optional(),
  ...times,
  startedAt: number.optional(),
  lastActive: number.optional(),
  suspendedAt: number.optional(),
})
export type ComputeRecord = Immutable<z.infer<typeof computeRecord>>

const operationRecord = z.strictObject({
  kind: z.literal('operation'),
  id,
  projectId: id,
  branchId: text,
  computeId: id.optional(),
  action: text,
  /** All statuses of the public OpenAPI document. */
  status: z.enum(['scheduling', 'running', 'finished', 'failed', 'error', 'cancelling', 'cancelled', 'skipped']),
  /** Microseconds since the epoch, unique within the project, because pages use it as their cursor. */
  createdAtUs: number,
  updatedAt: number,
  startedAt: number.optional(),
  durationMs: number,
  /** Whether this `apply_config` restarts the compute. */
  restarts: flag.optional(),
  /**
   * For a `create_branch` that replaces the data of a branch. `preserveAs` is the branch that receives the old data.
   */
  restore: z.strictObject({ from: id, preserveAs: id.optional() }).optional(),
  /** The operation of the same request that must finish first. */
  waitsFor: id.optional(),
  /** How often the operation has failed. */
  failures: number.optional(),
  /** The most recent failure. */
  error: text.optional(),
  /** When a failed operation is retried. */
  retryAt: number.optional(),
})
export type OperationRecord = Immutable<z.infer<typeof operationRecord>>

/** An operation to start (docs/reference/control-api.md). */
export type NewOperation = Pick<OperationRecord, 'action' | 'branchId' | 'computeId' | 'restarts' | 'restore'>

export const operationOn = ({ branchId, id }: ComputeRecord, action: string): NewOperation => ({
  action,
  branchId,
  computeId: id,
})

/** An archived branch must be unarchived before it can be used. */
export const unarchive = (branch: BranchRecord | undefined): readonly NewOperation[] =>
  branch?.state === 'archived' ? [{ action: 'timeline_unarchive', branchId: branch.id }] : []

export const isRunning = ({ state }: ComputeRecord): boolean => state !== 'idle'

/** Whether the status of the operation is final. A failed operation may still be retried (docs/reference/control-api.md). */
export const isOver = ({ status, retryAt }: OperationRecord): boolean => {
  if (status === 'failed') return retryAt === undefined
  return status === 'finished' || status === 'error' || status === 'cancelled' || status === 'skipped'
}

/** An API key in addition to the sandbox's own. Only its digest is stored. */
const keyRecord = z.strictObject({
  kind: z.literal('key'),
  /** SHA-256 of the key, in hexadecimal. */
  id,
  of: z.enum(['personal', 'organization', 'project']),
  /** For the key of an organization. */
  orgId: id.optional(),
  /** For a project-scoped key. */
  projectId: id.optional(),
  name: text,
  createdAt: number,
  isRevoked: flag,
})
export type KeyRecord = Immutable<z.infer<typeof keyRecord>>

const record = z.discriminatedUnion('kind', [projectRecord, branchRecord, computeRecord, operationRecord, keyRecord])
export type WorldRecord = Immutable<z.infer<typeof record>>

const drop = z.strictObject({ kind: z.enum(['project', 'branch', 'compute', 'operation', 'key']), id })
/** A record that was created, changed or deleted. */
export const worldChange = z.union([z.strictObject({ put: record }), z.strictObject({ drop })])
export type WorldChange = Immutable<z.infer<typeof worldChange>>

/** Where the world is stored. */
export interface Store {
  /**
   * Writes either all of the changes or none. After it has returned, the changes are kept even if the process is
   * killed.
   */
  append(changes: readonly WorldChange[]): void
  /** Replaces everything that is stored. */
  replace(all: Iterable<WorldChange>): void
  close(): void
}

export const memoryStore: Store = { append: () => undefined, replace: () => undefined, close: () => undefined }

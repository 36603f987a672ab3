/**
 * The sandbox's state as stored on disk. Times are milliseconds since the epoch unless noted otherwise.
 *
 * The types are inferred from the schemas, against which a world is checked before it is loaded.
 */
import { z } from 'zod'
import type { WireSettings } from '../../model/index.ts'
import type { CatalogChange } from '../computes/computes.ts'
import { settingsRequest } from './project-settings.ts'

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
  /** Computes of free projects have at most 2 CU (docs/control-api.md). */
  plan: z.enum(['free', 'paid']),
  defaults: z.strictObject({
    min: number,
    max: number,
    suspendTimeoutSeconds: number,
    pgSettings: strings.exactOptional(),
  }),
  /** Major version of Postgres. */
  pgVersion: z.int().exactOptional(),
  settings: settingsRequest.exactOptional(),
  /** As the client requested it. Absent: the service's default. */
  provisioner: text.exactOptional(),
  orgId: id.exactOptional(),
  /** The restore window. */
  historyRetentionSeconds: number.exactOptional(),
  /** The project was idle for so long that the service detached its storage. */
  isDetached: flag.exactOptional(),
  createdAt: number,
  updatedAt: number.exactOptional(),
  /** When the next service update is due. Only a seed sets it, and the sandbox does not act on it. */
  maintenanceAt: number.exactOptional(),
  /** Set once the project is deleted: no client sees it any more. */
  deletedAt: number.exactOptional(),
  /** The end of the recovery period; removed when the data is deleted. */
  recoverableUntil: number.exactOptional(),
})
export type ProjectRecord = Immutable<z.infer<typeof projectRecord>>

const role = z.strictObject({
  name: text,
  /** Absent if the role cannot log in, or if SQL set the password, so that the sandbox does not know it. */
  password: text.exactOptional(),
  canLogin: flag,
  ...times,
})
export type RoleRecord = Immutable<z.infer<typeof role>>

const database = z.strictObject({
  id: z.int(),
  name: text,
  /** Name of a role of the branch. */
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
  parentId: id.exactOptional(),
  /** The point in the parent's history from which the branch was made, if known. */
  parentTime: number.exactOptional(),
  /** For a schema-only branch: the branch whose schema it copied. */
  schemaOf: id.exactOptional(),
  isDefault: flag,
  isProtected: flag,
  state: z.enum(['init', 'resetting', 'ready', 'archived']),
  /** Absent: the state has not changed since the branch was created. */
  stateChangedAt: number.exactOptional(),
  ...times,
  /** When the branch expires, as the API writes it. */
  expiresAt: z.iso.datetime().exactOptional(),
  /** Length of the expiration period, counted from when it was set. */
  ttlSeconds: number.exactOptional(),
  /** When a restore or reset last replaced its data. */
  lastResetAt: number.exactOptional(),
  /** Key-value pairs that a client attached to the branch. */
  annotation: z.strictObject({ value: strings, ...times }).exactOptional(),
  roles: z.array(role).exactOptional(),
  databases: z.array(database).exactOptional(),
  /** Requested changes to roles and databases that Postgres has not executed yet, oldest first. */
  changes: z.array(catalogChange).exactOptional(),
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
  name: text.exactOptional(),
  min: number,
  max: number,
  /** 0: the default; -1: never. */
  suspendTimeoutSeconds: number,
  settings,
  disabled: flag,
  poolerEnabled: flag,
  passwordlessAccess: flag,
  /** As the client requested it. Absent: the service's default. */
  provisioner: text.exactOptional(),
  state: computeState,
  pendingState: computeState.exactOptional(),
  ...times,
  startedAt: number.exactOptional(),
  lastActive: number.exactOptional(),
  suspendedAt: number.exactOptional(),
})
export type ComputeRecord = Immutable<z.infer<typeof computeRecord>>

const operationRecord = z.strictObject({
  kind: z.literal('operation'),
  id,
  projectId: id,
  branchId: text,
  computeId: id.exactOptional(),
  action: text,
  /** All statuses of the public OpenAPI document (docs/control-api.md lacks `error`). */
  status: z.enum(['scheduling', 'running', 'finished', 'failed', 'error', 'cancelling', 'cancelled', 'skipped']),
  /** Microseconds since the epoch, unique within the project: pages use it as their cursor. */
  createdAtUs: number,
  updatedAt: number,
  startedAt: number.exactOptional(),
  durationMs: number,
  /** Whether this `apply_config` restarts the compute. */
  restarts: flag.exactOptional(),
  /** For a `create_branch` that replaces the data of a branch. `preserveAs`: the branch that receives the old data. */
  restore: z.strictObject({ from: id, preserveAs: id.exactOptional() }).exactOptional(),
  /** The operation of the same request that must finish first. */
  waitsFor: id.exactOptional(),
  /** How often it has failed. */
  failures: number.exactOptional(),
  /** The most recent failure. */
  error: text.exactOptional(),
  /** When a failed operation is retried. */
  retryAt: number.exactOptional(),
})
export type OperationRecord = Immutable<z.infer<typeof operationRecord>>

export const isRunning = ({ state }: ComputeRecord): boolean => state !== 'idle'

/** Whether the operation has ended for good; a failed one may still be retried (docs/control-api.md). */
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
  orgId: id.exactOptional(),
  /** For a project-scoped key. */
  projectId: id.exactOptional(),
  name: text.exactOptional(),
  createdAt: number.exactOptional(),
  isRevoked: flag,
})
export type KeyRecord = Immutable<z.infer<typeof keyRecord>>

const record = z.discriminatedUnion('kind', [projectRecord, branchRecord, computeRecord, operationRecord, keyRecord])
export type WorldRecord = Immutable<z.infer<typeof record>>

const drop = z.strictObject({ kind: z.enum(['project', 'branch', 'compute', 'operation', 'key']), id })
/** A record that was created or changed, or one that was deleted. */
export const worldChange = z.union([z.strictObject({ put: record }), z.strictObject({ drop })])
export type WorldChange = Immutable<z.infer<typeof worldChange>>

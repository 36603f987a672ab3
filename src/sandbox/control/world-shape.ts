/** Recognizes a dumped world: what is loaded comes from a file that anyone may have written. */
import { z } from 'zod'
import type { CatalogChange } from '../computes/computes.ts'
import type { BranchRecord, ComputeRecord, KeyRecord, OperationRecord, ProjectRecord } from '../world/records.ts'
import type { WorldDump } from './control.ts'

/** A shape for each member of a record: one that is added to the record and not here does not compile. */
type ShapeOf<T> = { readonly [K in keyof Required<T>]: z.ZodType }

const text = z.string()
const id = z.string().regex(/^[A-Za-z0-9-]{1,64}$/)
const time = z.number()
const flag = z.boolean()
const strings = z.record(text, text)
const settings = z.looseObject({ pg_settings: strings.optional() })

const project = {
  kind: z.literal('project'),
  id,
  name: text,
  regionId: id,
  plan: z.enum(['free', 'paid']),
  defaults: z.strictObject({
    min: z.number(),
    max: z.number(),
    suspendTimeoutSeconds: z.number(),
    pgSettings: strings.optional(),
  }),
  pgVersion: z.int().optional(),
  settings: z.looseObject({}).optional(),
  provisioner: text.optional(),
  orgId: id.optional(),
  historyRetentionSeconds: z.number().optional(),
  isDetached: flag.optional(),
  createdAt: time,
  updatedAt: time.optional(),
  maintenanceAt: time.optional(),
  deletedAt: time.optional(),
  recoverableUntil: time.optional(),
} satisfies ShapeOf<ProjectRecord>

const catalogChange: z.ZodType<CatalogChange> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('put-role'),
    role: z.object({ name: text, password: text.exactOptional(), canLogin: flag }),
  }),
  z.strictObject({ kind: z.literal('drop-role'), name: text }),
  z.strictObject({ kind: z.literal('put-database'), name: text, owner: text }),
  z.strictObject({ kind: z.literal('rename-database'), name: text, to: text }),
  z.strictObject({ kind: z.literal('drop-database'), name: text }),
])

const branch = {
  kind: z.literal('branch'),
  id,
  projectId: id,
  name: text,
  parentId: id.optional(),
  parentTime: time.optional(),
  schemaOf: id.optional(),
  isDefault: flag,
  isProtected: flag,
  state: z.enum(['init', 'resetting', 'ready', 'archived']),
  stateChangedAt: time.optional(),
  createdAt: time,
  updatedAt: time,
  expiresAt: z.iso.datetime().optional(),
  ttlSeconds: z.number().optional(),
  lastResetAt: time.optional(),
  annotation: z.strictObject({ value: strings, createdAt: time, updatedAt: time }).optional(),
  roles: z
    .array(z.strictObject({ name: text, password: text.optional(), canLogin: flag, createdAt: time, updatedAt: time }))
    .optional(),
  databases: z
    .array(z.strictObject({ id: z.int(), name: text, owner: text, createdAt: time, updatedAt: time }))
    .optional(),
  changes: z.array(catalogChange).optional(),
} satisfies ShapeOf<BranchRecord>

const state = z.enum(['init', 'active', 'idle'])
const compute = {
  kind: z.literal('compute'),
  id,
  projectId: id,
  branchId: id,
  type: z.enum(['read_write', 'read_only']),
  name: text.optional(),
  min: z.number(),
  max: z.number(),
  suspendTimeoutSeconds: z.number(),
  settings,
  disabled: flag,
  poolerEnabled: flag,
  passwordlessAccess: flag,
  provisioner: text.optional(),
  state,
  pendingState: state.optional(),
  createdAt: time,
  updatedAt: time,
  startedAt: time.optional(),
  lastActive: time.optional(),
  suspendedAt: time.optional(),
} satisfies ShapeOf<ComputeRecord>

const operation = {
  kind: z.literal('operation'),
  id,
  projectId: id,
  branchId: text,
  computeId: id.optional(),
  action: text,
  status: z.enum(['scheduling', 'running', 'finished', 'failed', 'error', 'cancelling', 'cancelled', 'skipped']),
  createdAtUs: time,
  updatedAt: time,
  startedAt: time.optional(),
  durationMs: z.number(),
  restarts: flag.optional(),
  restore: z.strictObject({ from: id, preserveAs: id.optional() }).optional(),
  waitsFor: id.optional(),
  failures: z.number().optional(),
  error: text.optional(),
  retryAt: time.optional(),
} satisfies ShapeOf<OperationRecord>

const key = {
  kind: z.literal('key'),
  id,
  of: z.enum(['personal', 'organization', 'project']),
  orgId: id.optional(),
  projectId: id.optional(),
  name: text.optional(),
  createdAt: time.optional(),
  isRevoked: flag,
} satisfies ShapeOf<KeyRecord>

const record = z.discriminatedUnion('kind', [
  z.strictObject(project),
  z.strictObject(branch),
  z.strictObject(compute),
  z.strictObject(operation),
  z.strictObject(key),
])
const dump = z.strictObject({
  version: z.literal(1),
  changes: z.array(
    z.union([
      z.strictObject({ put: record }),
      z.strictObject({
        drop: z.strictObject({ kind: z.enum(['project', 'branch', 'compute', 'operation', 'key']), id }),
      }),
    ]),
  ),
})

export const isWorldDump = (value: unknown): value is WorldDump => dump.safeParse(value).success

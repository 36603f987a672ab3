/** Schemas for the bodies of requests (public OpenAPI). */
import { z } from 'zod'
import { isMachineSetting } from '../computes/computes.ts'

/** The id of a branch, project or organization. */
export const id = z.string().regex(/^[a-z0-9-]{1,60}$/, 'must have 1 to 60 lower-case letters, digits and hyphens')

/** A field that the service supports but the sandbox does not. A request with this field is rejected. */
const unsupported = (why: string) => z.never({ error: `is not supported by the sandbox: ${why}` })

export const pgSettings = z.record(z.string(), z.string()).superRefine((settings, context) => {
  for (const name of Object.keys(settings).filter(isMachineSetting)) {
    context.addIssue({ code: 'custom', path: [name], message: `parameter "${name}" cannot be changed` })
  }
})

const libraries = z.object({ use_defaults: z.boolean(), enabled_libraries: z.array(z.string()).readonly() }).partial()
const settings = z
  .object({
    pg_settings: pgSettings,
    preload_libraries: libraries,
    pgbouncer_settings: unsupported('it is deprecated'),
  })
  .partial()
  .refine(({ pg_settings }) => pg_settings !== undefined, 'settings must not be nil: `pg_settings` is missing')

const size = { autoscaling_limit_min_cu: z.number().min(0.25), autoscaling_limit_max_cu: z.number().min(0.25) }
const suspend_timeout_seconds = z.int().min(-1).max(604_800)
const provisioner = z.enum(['k8s-pod', 'k8s-neonvm', 'serverless-platform'])
const type = z.enum(['read_write', 'read_only'])

/** A compute that is created with its branch. */
const endpointOfBranch = z.object({ ...size, suspend_timeout_seconds, settings, provisioner }).partial()
export const changedEndpoint = endpointOfBranch.extend({
  branch_id: z.string().optional(),
  name: z.string().min(1).max(64).optional(),
  disabled: z.boolean().optional(),
  pooler_enabled: z.boolean().optional(),
  pooler_mode: z.literal('transaction').optional(),
  passwordless_access: z.boolean().optional(),
})
export const newEndpoint = changedEndpoint.extend({ branch_id: z.string(), type, region_id: z.string().optional() })
export const attributeNames = changedEndpoint.keyof().options
export const createBody = z.object({ endpoint: newEndpoint })
export const updateBody = z.object({ endpoint: changedEndpoint })
export type ComputeRequest = z.output<typeof changedEndpoint>
export type NewComputeRequest = Omit<z.output<typeof newEndpoint>, 'branch_id'>

const moment = z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
const lsn = z.string().regex(/^[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}$/, 'must be a log sequence number such as 0/1DE2850')
const branchName = z.string().min(1).max(256)

const newBranch = z
  .object({
    name: branchName,
    parent_id: id.or(z.literal('')),
    parent_timestamp: moment,
    parent_lsn: lsn,
    init_source: z.enum(['parent-data', 'schema-only']),
    protected: z.boolean(),
    archived: z.boolean(),
    expires_at: moment.nullable(),
  })
  .partial()
const annotation = z
  .record(z.string(), z.string())
  .refine((value) => Object.keys(value).length <= 50, 'must have at most 50 properties')

const changedBranch = newBranch.pick({ name: true, protected: true, expires_at: true })
export const restoreRequest = z.object({
  source_branch_id: id,
  source_timestamp: moment.optional(),
  source_lsn: lsn.optional(),
  preserve_under_name: z.string().max(256).optional(),
})

export type BranchRequest = z.output<typeof newBranch>
export type BranchUpdate = z.output<typeof changedBranch>
export type RestoreRequest = z.output<typeof restoreRequest>
export const branchBody = z.object({
  branch: newBranch.default({}),
  endpoints: z.array(endpointOfBranch.extend({ type })).default([]),
  annotation_value: annotation.optional(),
})
export const branchUpdateBody = z.object({ branch: changedBranch })

const count = z.int().min(0)
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 04:30' })
/** An IP address or a range: `192.0.2.1`, `192.0.2.0/24`, `192.0.2.1-192.0.2.9`, `2001:db8::/32`. */
const addresses = z
  .string()
  .regex(/^[0-9a-fA-F.:]+([/-][0-9a-fA-F.:]+)?$/, { error: 'must be an IP address or a range' })

/** The settings of a project in a request (public OpenAPI). */
export const settingsRequest = z
  .object({
    quota: z
      .object({
        active_time_seconds: count,
        compute_time_seconds: count,
        written_data_bytes: count,
        data_transfer_bytes: count,
        logical_size_bytes: count,
      })
      .partial(),
    allowed_ips: z.object({ ips: z.array(addresses).readonly(), protected_branches_only: z.boolean() }).partial(),
    enable_logical_replication: z.boolean(),
    maintenance_window: z.object({
      weekdays: z.array(z.int().min(1).max(7)).readonly(),
      start_time: timeOfDay,
      end_time: timeOfDay,
    }),
    block_public_connections: z.boolean(),
    block_vpc_connections: z.boolean(),
    audit_log_level: z.enum(['base', 'extended', 'full']),
    hipaa: z.boolean(),
    preload_libraries: libraries,
  })
  .partial()
export type ProjectSettings = z.output<typeof settingsRequest>

/** Postgres truncates longer names. */
const MAX_NAME_BYTES = 63
/** Names that Postgres or the service reserves. */
const RESERVED_NAME = /^(pg_.*|neon_superuser|supervisor|cloud_admin|public|none|postgres|template[01])$/

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
const CONTROL = /[\x00-\x1f\x7f]/

export const sqlName = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES, {
    error: `must have at most ${MAX_NAME_BYTES} bytes`,
  })
  .refine((name) => !CONTROL.test(name), { error: 'must not contain control characters' })
  .refine((name) => !RESERVED_NAME.test(name), { error: 'is a reserved name' })

/** The names of a new project's database and role, unless the request gives them (public OpenAPI). */
export const DEFAULT_DATABASE = 'neondb'
export const defaultRole = (database: string): string => `${database}_owner`

const projectFields = {
  name: z.string().min(1).max(256),
  /** At most 30 days. */
  history_retention_seconds: z.int().min(0).max(2_592_000),
  default_endpoint_settings: z
    .object({
      ...size,
      suspend_timeout_seconds,
      pg_settings: pgSettings,
      pgbouncer_settings: unsupported('it is deprecated'),
    })
    .partial(),
  settings: settingsRequest,
}
const changedProject = z.object(projectFields).partial()
const newProject = z
  .object({
    ...projectFields,
    branch: z
      .object({ name: branchName, role_name: sqlName, database_name: sqlName, annotations: annotation })
      .partial()
      .superRefine(({ role_name, database_name = DEFAULT_DATABASE }, context) => {
        const name = defaultRole(database_name)
        const why = sqlName.safeParse(name).error?.issues[0]?.message
        if (role_name === undefined && why !== undefined) {
          context.addIssue({
            code: 'custom',
            path: ['role_name'],
            message: `is required: the default, ${name}, ${why}`,
          })
        }
      }),
    pg_version: z.int(),
    provisioner,
    region_id: id,
    org_id: id,
    store_passwords: z.literal(true, { error: 'must be true: the sandbox always stores passwords' }),
    /** Deprecated names of the default endpoint settings. */
    ...size,
  })
  .partial()

export type NewProjectRequest = z.output<typeof newProject>
export type ProjectChange = z.output<typeof changedProject>
export const projectBody = z.object({ project: changedProject })
export const newProjectBody = z.object({ project: newProject })

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 422 | 423 | 429 | 500 | 501

/** An error response of the API. Its body is `{request_id, code, message}`, where `code` is often empty. */
export class ApiError extends Error {
  readonly status: ErrorStatus
  readonly code: string

  constructor(status: ErrorStatus, message: string, code = '') {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }
}

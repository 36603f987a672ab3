/** Converts records to the format of the API (docs/reference/control-api.md). JSON omits members that are `undefined`. */
import { hostOf, platformOf, proxyHost } from '../world/catalog.ts'
import { lsnOf, retentionOf } from '../world/moment.ts'
import { shownSettings } from '../world/project-commands.ts'
import {
  type BranchRecord,
  type ComputeRecord,
  type DatabaseRecord,
  isOver,
  type OperationRecord,
  type ProjectRecord,
  type RoleRecord,
} from '../world/records.ts'
import { monthOf } from '../world/usage-meter.ts'
import type { World } from '../world/world.ts'

/** A timestamp with a precision of a second (docs/reference/control-api.md). @param ms milliseconds since the epoch. */
export const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

const time = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : seconds(ms))

/** A timestamp with a precision of a microsecond (docs/reference/control-api.md). @param us microseconds since the epoch. */
export const microseconds = (us: number): string => {
  const ms = Math.floor(us / 1_000)
  return `${new Date(ms).toISOString().slice(0, 23)}${String(us - ms * 1_000).padStart(3, '0')}Z`
}

/** The time in microseconds since the epoch, or `undefined` if the text is not a timestamp. */
export const parseMicroseconds = (text: string): number | undefined => {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text)
  if (match === null) return undefined
  const whole = Date.parse(`${match[1]}Z`)
  return Number.isNaN(whole) ? undefined : whole * 1_000 + Number((match[2] ?? '').padEnd(6, '0'))
}

const consumptionPeriod = (now: number) => {
  const { start, end } = monthOf(now)
  return { consumption_period_start: seconds(start), consumption_period_end: seconds(end) }
}

const countersOf = (id: string, { usage }: World) => {
  const { activeSeconds, computeSeconds } = usage.of(id)
  return { cpu_used_sec: computeSeconds, active_time_seconds: activeSeconds, compute_time_seconds: computeSeconds }
}

/** A project in a list, without the counters that only `presentProject` shows. */
export const presentListedProject = (project: ProjectRecord, world: World) => ({
  ...presentBase(project),
  active_time: 0,
  cpu_used_sec: world.usage.of(project.id).computeSeconds,
})

export const presentProject = (project: ProjectRecord, world: World) => ({
  ...presentBase(project),
  ...countersOf(project.id, world),
  written_data_bytes: 0,
  data_transfer_bytes: 0,
  data_storage_bytes_hour: 0,
  ...consumptionPeriod(world.clock.now()),
  history_retention_seconds: retentionOf(project),
  maintenance_scheduled_for: time(project.maintenanceAt),
})

const presentBase = (project: ProjectRecord) => ({
  id: project.id,
  name: project.name,
  region_id: project.regionId,
  platform_id: platformOf(project),
  pg_version: project.pgVersion ?? 17,
  provisioner: project.provisioner ?? 'k8s-neonvm',
  proxy_host: proxyHost(project),
  store_passwords: true,
  branch_logical_size_limit: 0,
  branch_logical_size_limit_bytes: 0,
  creation_source: 'console',
  owner_id: 'sandbox',
  org_id: project.orgId,
  default_endpoint_settings: {
    autoscaling_limit_min_cu: project.defaults.min,
    autoscaling_limit_max_cu: project.defaults.max,
    suspend_timeout_seconds: project.defaults.suspendTimeoutSeconds,
    pg_settings: project.defaults.pgSettings,
  },
  settings: shownSettings(project.settings),
  created_at: seconds(project.createdAt),
  updated_at: seconds(project.updatedAt ?? project.createdAt),
  deleted_at: time(project.deletedAt),
  recoverable_until: time(project.recoverableUntil),
})

/** These fields are shown when a single project is read, but not in lists. */
export const presentOwner = ({ plan }: ProjectRecord) => ({
  owner: {
    name: 'sandbox',
    email: 'sandbox@example.com',
    branches_limit: -1,
    // Older clients, such as neon-api on PyPI, do not know `scale_v3`.
    subscription_type: plan === 'free' ? 'free_v3' : 'scale',
  },
})

export const presentBranch = (branch: BranchRecord, world: World) => ({
  id: branch.id,
  project_id: branch.projectId,
  parent_id: branch.parentId,
  parent_timestamp: time(branch.parentTime),
  parent_lsn: branch.parentTime === undefined || !world.keepsHistory ? undefined : lsnOf(branch.parentTime),
  init_source: branch.schemaOf === undefined ? 'parent-data' : 'schema-only',
  name: branch.name,
  current_state: branch.state,
  pending_state: branch.state === 'init' ? 'ready' : undefined,
  state_changed_at: seconds(branch.stateChangedAt ?? branch.createdAt),
  creation_source: 'console',
  default: branch.isDefault,
  primary: branch.isDefault,
  protected: branch.isProtected,
  expires_at: branch.expiresAt,
  ttl_interval_seconds: branch.ttlSeconds,
  last_reset_at: time(branch.lastResetAt),
  ...countersOf(branch.id, world),
  written_data_bytes: 0,
  data_transfer_bytes: 0,
  created_at: seconds(branch.createdAt),
  updated_at: seconds(branch.updatedAt),
})

export const presentAnnotation = ({ id, annotation }: BranchRecord) => ({
  object: { type: 'console/branch', id },
  value: annotation?.value ?? {},
  created_at: time(annotation?.createdAt),
  updated_at: time(annotation?.updatedAt),
})

export const presentCompute = (compute: ComputeRecord, project: ProjectRecord) => ({
  id: compute.id,
  host: hostOf(compute, project),
  proxy_host: proxyHost(project),
  project_id: compute.projectId,
  branch_id: compute.branchId,
  region_id: project.regionId,
  type: compute.type,
  name: compute.name,
  current_state: compute.state,
  pending_state: compute.pendingState,
  autoscaling_limit_min_cu: compute.min,
  autoscaling_limit_max_cu: compute.max,
  settings: compute.settings,
  pooler_enabled: compute.poolerEnabled,
  pooler_mode: 'transaction',
  disabled: compute.disabled,
  passwordless_access: compute.passwordlessAccess,
  creation_source: 'console',
  created_at: seconds(compute.createdAt),
  updated_at: seconds(compute.updatedAt),
  started_at: time(compute.startedAt),
  last_active: time(compute.lastActive),
  suspended_at: time(compute.suspendedAt),
  suspend_timeout_seconds: compute.suspendTimeoutSeconds,
  provisioner: compute.provisioner ?? 'k8s-neonvm',
})

/** @param isNew whether to show the password. Only responses to requests that create or reset a password show it. */
export const presentRole = (role: RoleRecord, branchId: string, isNew = false) => ({
  branch_id: branchId,
  name: role.name,
  password: isNew ? role.password : undefined,
  protected: false,
  authentication_method: role.canLogin ? 'password' : 'no_login',
  created_at: seconds(role.createdAt),
  updated_at: seconds(role.updatedAt),
})

export const presentDatabase = (database: DatabaseRecord, branchId: string) => ({
  id: database.id,
  branch_id: branchId,
  name: database.name,
  owner_name: database.owner,
  created_at: seconds(database.createdAt),
  updated_at: seconds(database.updatedAt),
})

export const presentOperation = (operation: OperationRecord) => ({
  id: operation.id,
  project_id: operation.projectId,
  branch_id: operation.branchId,
  endpoint_id: operation.computeId,
  action: operation.action,
  status: operation.status,
  failures_count: operation.failures ?? 0,
  error: operation.error,
  retry_at: time(operation.retryAt),
  created_at: seconds(operation.createdAtUs / 1_000),
  updated_at: seconds(operation.updatedAt),
  total_duration_ms: isOver(operation)
    ? Math.round(operation.updatedAt - (operation.startedAt ?? operation.updatedAt))
    : 0,
})

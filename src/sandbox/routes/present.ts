/** Records as the API shows them (docs/control-api.md). */
import { hostOf, proxyHost } from '../world/connection.ts'
import { lsnOf, retentionOf } from '../world/moment.ts'
import { shownSettings } from '../world/project-settings.ts'
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

/** Second precision (docs/control-api.md). */
export const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** Microsecond precision (docs/control-api.md). */
export const microseconds = (us: number): string => {
  const ms = Math.floor(us / 1_000)
  return `${new Date(ms).toISOString().slice(0, 23)}${String(us - ms * 1_000).padStart(3, '0')}Z`
}

/** The inverse; `undefined` if it is not such a timestamp. */
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

export const presentProject = (project: ProjectRecord, world: World) => ({
  id: project.id,
  name: project.name,
  region_id: project.regionId,
  platform_id: 'aws',
  pg_version: project.pgVersion ?? 17,
  provisioner: project.provisioner ?? 'k8s-neonvm',
  proxy_host: proxyHost(project),
  store_passwords: true,
  active_time: 0,
  ...countersOf(project.id, world),
  written_data_bytes: 0,
  data_transfer_bytes: 0,
  data_storage_bytes_hour: 0,
  ...consumptionPeriod(world.clock.now()),
  branch_logical_size_limit: 0,
  branch_logical_size_limit_bytes: 0,
  creation_source: 'console',
  owner_id: 'sandbox',
  history_retention_seconds: retentionOf(project),
  ...(project.orgId === undefined ? {} : { org_id: project.orgId }),
  default_endpoint_settings: {
    autoscaling_limit_min_cu: project.defaults.min,
    autoscaling_limit_max_cu: project.defaults.max,
    suspend_timeout_seconds: project.defaults.suspendTimeoutSeconds,
    ...(project.defaults.pgSettings === undefined ? {} : { pg_settings: project.defaults.pgSettings }),
  },
  settings: shownSettings(project.settings),
  created_at: seconds(project.createdAt),
  updated_at: seconds(project.updatedAt ?? project.createdAt),
  ...(project.maintenanceAt === undefined ? {} : { maintenance_scheduled_for: seconds(project.maintenanceAt) }),
  ...(project.deletedAt === undefined ? {} : { deleted_at: seconds(project.deletedAt) }),
  ...(project.recoverableUntil === undefined ? {} : { recoverable_until: seconds(project.recoverableUntil) }),
})

/** One project alone is shown with its account. */
export const presentOwner = ({ plan }: ProjectRecord) => ({
  owner: {
    name: 'sandbox',
    email: 'sandbox@example.com',
    branches_limit: -1,
    subscription_type: plan === 'free' ? 'free_v3' : 'scale_v3',
  },
})

export const presentBranch = (branch: BranchRecord, world: World) => ({
  id: branch.id,
  project_id: branch.projectId,
  ...(branch.parentId === undefined ? {} : { parent_id: branch.parentId }),
  ...(branch.parentTime === undefined ? {} : { parent_timestamp: seconds(branch.parentTime) }),
  ...(branch.parentTime === undefined || !world.keepsHistory ? {} : { parent_lsn: lsnOf(branch.parentTime) }),
  init_source: branch.schemaOf === undefined ? 'parent-data' : 'schema-only',
  name: branch.name,
  current_state: branch.state,
  state_changed_at: seconds(branch.stateChangedAt ?? branch.createdAt),
  creation_source: 'console',
  default: branch.isDefault,
  primary: branch.isDefault,
  protected: branch.isProtected,
  ...(branch.expiresAt === undefined ? {} : { expires_at: branch.expiresAt }),
  ...(branch.ttlSeconds === undefined ? {} : { ttl_interval_seconds: branch.ttlSeconds }),
  ...(branch.lastResetAt === undefined ? {} : { last_reset_at: seconds(branch.lastResetAt) }),
  ...countersOf(branch.id, world),
  written_data_bytes: 0,
  data_transfer_bytes: 0,
  created_at: seconds(branch.createdAt),
  updated_at: seconds(branch.updatedAt),
})

/** What a client noted about a branch. */
export const presentAnnotation = ({ id, annotation }: BranchRecord) => ({
  object: { type: 'console/branch', id },
  value: annotation?.value ?? {},
  ...(annotation === undefined
    ? {}
    : { created_at: seconds(annotation.createdAt), updated_at: seconds(annotation.updatedAt) }),
})

export const presentCompute = (compute: ComputeRecord, project: ProjectRecord) => ({
  id: compute.id,
  host: hostOf(compute, project),
  proxy_host: proxyHost(project),
  project_id: compute.projectId,
  branch_id: compute.branchId,
  region_id: project.regionId,
  type: compute.type,
  ...(compute.name === undefined ? {} : { name: compute.name }),
  current_state: compute.state,
  ...(compute.pendingState === undefined ? {} : { pending_state: compute.pendingState }),
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
  ...(compute.startedAt === undefined ? {} : { started_at: seconds(compute.startedAt) }),
  ...(compute.lastActive === undefined ? {} : { last_active: seconds(compute.lastActive) }),
  ...(compute.suspendedAt === undefined ? {} : { suspended_at: seconds(compute.suspendedAt) }),
  suspend_timeout_seconds: compute.suspendTimeoutSeconds,
  provisioner: compute.provisioner ?? 'k8s-neonvm',
})

/** Its password is in the answer that makes it, and nowhere else unless it is asked for. */
export const presentRole = (role: RoleRecord, branchId: string, isNew = false) => ({
  branch_id: branchId,
  name: role.name,
  ...(isNew && role.password !== undefined ? { password: role.password } : {}),
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
  ...(operation.computeId === undefined ? {} : { endpoint_id: operation.computeId }),
  action: operation.action,
  status: operation.status,
  failures_count: operation.failures ?? 0,
  ...(operation.error === undefined ? {} : { error: operation.error }),
  ...(operation.retryAt === undefined ? {} : { retry_at: seconds(operation.retryAt) }),
  created_at: seconds(operation.createdAtUs / 1_000),
  updated_at: seconds(operation.updatedAt),
  total_duration_ms: isOver(operation)
    ? Math.round(operation.updatedAt - (operation.startedAt ?? operation.updatedAt))
    : 0,
})

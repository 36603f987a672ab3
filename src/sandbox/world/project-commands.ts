/** Commands on projects (public OpenAPI). */
import { defaultVersion } from '../computes/computes.ts'
import { annotationOf } from './branch-commands.ts'
import { newCatalog } from './catalog.ts'
import { newCompute } from './compute-commands.ts'
import { newProjectId } from './ids.ts'
import { checkLimits, checkSuspendTimeout } from './limits.ts'
import { retentionOf } from './moment.ts'
import {
  type BranchRecord,
  type ComputeRecord,
  isRunning,
  type NewOperation,
  type OperationRecord,
  operationOn,
  type ProjectRecord,
} from './records.ts'
import { ApiError, type NewProjectRequest, type ProjectChange, type ProjectSettings } from './requests.ts'
import { defaultBranch, type ProjectTables } from './tables.ts'
import type { World } from './world.ts'

interface NewProject {
  readonly project: ProjectRecord
  readonly branch: BranchRecord
  readonly compute: ComputeRecord
  readonly operations: readonly OperationRecord[]
}

export const DEFAULT_REGION = 'aws-eu-central-1'
/** From the service's public documentation. */
export const REGIONS: readonly (readonly [string, string])[] = [
  ['aws-us-east-1', 'AWS US East 1 (N. Virginia)'],
  ['aws-us-east-2', 'AWS US East 2 (Ohio)'],
  ['aws-us-west-2', 'AWS US West 2 (Oregon)'],
  ['aws-eu-central-1', 'AWS Europe Central 1 (Frankfurt)'],
  ['aws-eu-west-2', 'AWS Europe West 2 (London)'],
  ['aws-ap-southeast-1', 'AWS Asia Pacific 1 (Singapore)'],
  ['aws-ap-southeast-2', 'AWS Asia Pacific 2 (Sydney)'],
  ['aws-sa-east-1', 'AWS South America East 1 (São Paulo)'],
  ['azure-eastus2', 'Azure East US 2 (Virginia)'],
  ['azure-westus3', 'Azure West US 3 (Arizona)'],
  ['azure-gwc', 'Azure Germany West Central (Frankfurt)'],
]

/**
 * Creates a project with a default branch, its primary, a role and a database. Starts `create_timeline`, then
 * `start_compute` (docs/reference/control-api.md).
 *
 * @param versions the available major versions of Postgres.
 * @throws {ApiError} 400 if the requested version or region is not available or a limit is exceeded.
 */
export const createProject = (
  world: World,
  request: NewProjectRequest,
  orgId: string | undefined,
  versions: readonly number[],
): NewProject => {
  const now = world.clock.now()
  const id = newProjectId((taken) => world.tables.projects.has(taken))
  const { branch: requested, autoscaling_limit_min_cu, autoscaling_limit_max_cu } = request
  const project: ProjectRecord = changed(
    {
      kind: 'project',
      id,
      name: request.name ?? id,
      regionId: regionOf(request.region_id),
      orgId,
      plan: 'paid',
      defaults: { min: 0.25, max: 2, suspendTimeoutSeconds: 0 },
      pgVersion: pgVersionOf(request.pg_version, versions),
      provisioner: request.provisioner,
      createdAt: now,
      updatedAt: now,
    },
    {
      ...request,
      default_endpoint_settings: {
        autoscaling_limit_min_cu,
        autoscaling_limit_max_cu,
        ...request.default_endpoint_settings,
      },
    },
    now,
  )
  const branch: BranchRecord = {
    kind: 'branch',
    id: world.newId('br'),
    projectId: id,
    name: requested?.name ?? 'main',
    isDefault: true,
    isProtected: false,
    state: 'init',
    createdAt: now,
    updatedAt: now,
    annotation: annotationOf(requested?.annotations, now),
    ...newCatalog(now, requested?.database_name, requested?.role_name),
  }
  const compute = newCompute(world, project, branch.id, { type: 'read_write' })
  const operations = world.commit(
    id,
    [project, branch, compute],
    [{ action: 'create_timeline', branchId: branch.id }, operationOn(compute, 'start_compute')],
  )
  return { project, branch, compute, operations }
}

/**
 * Does not wait for other operations of the project (responses recorded from the service). New defaults apply only to
 * computes that are created later (docs of the service). A change of the restore window starts `apply_storage_config`.
 * Enabling logical replication suspends running computes (public OpenAPI).
 *
 * @throws {ApiError} 400 if a limit is exceeded, or if the request turns off a setting that cannot be turned off; 422 if
 *   a limit of the account's plan is exceeded.
 */
export const updateProject = (
  world: World,
  id: string,
  request: ProjectChange,
): { readonly project: ProjectRecord; readonly operations: readonly OperationRecord[] } => {
  const { project: before, branches, computes } = world.project(id)
  checkSuspendTimeout(before, request.default_endpoint_settings?.suspend_timeout_seconds)
  const now = world.clock.now()
  const project = changed(before, request, now)
  const root = defaultBranch(branches)
  const isStorage = retentionOf(before) !== retentionOf(project)
  const suspended = isLogical(project) && !isLogical(before) ? [...computes.values()].filter(isRunning) : []
  const operations = world.commit(
    id,
    [project, ...suspended.map((compute) => ({ ...compute, pendingState: 'idle' as const, updatedAt: now }))],
    [
      ...(isStorage && root !== undefined ? [{ action: 'apply_storage_config', branchId: root.id }] : []),
      ...suspended.map((compute) => operationOn(compute, 'suspend_compute')),
    ],
  )
  return { project, operations }
}

const isLogical = ({ settings }: ProjectRecord): boolean => settings?.enable_logical_replication === true

const regionOf = (requested = DEFAULT_REGION): string => {
  const available = REGIONS.map(([id]) => id)
  if (available.includes(requested)) return requested
  throw new ApiError(400, `project.region_id: ${requested} is not a region; available: ${available.join(', ')}`)
}

const pgVersionOf = (requested: number | undefined, versions: readonly number[]): number => {
  if (requested === undefined) return defaultVersion(versions)
  if (versions.includes(requested)) return requested
  throw new ApiError(
    400,
    `project.pg_version: Postgres ${requested} is not available here; available: ${versions.join(', ')}`,
  )
}

const changed = (project: ProjectRecord, request: ProjectChange, now: number): ProjectRecord => {
  const requested = request.default_endpoint_settings
  const defaults = {
    min: requested?.autoscaling_limit_min_cu ?? project.defaults.min,
    max: requested?.autoscaling_limit_max_cu ?? project.defaults.max,
    suspendTimeoutSeconds: requested?.suspend_timeout_seconds ?? project.defaults.suspendTimeoutSeconds,
    pgSettings: requested?.pg_settings ?? project.defaults.pgSettings,
  }
  checkLimits(defaults, project, 'project.default_endpoint_settings')
  return {
    ...project,
    name: request.name ?? project.name,
    historyRetentionSeconds: request.history_retention_seconds ?? project.historyRetentionSeconds,
    settings:
      request.settings === undefined ? project.settings : withSettings(project.settings ?? {}, request.settings),
    defaults,
    updatedAt: now,
  }
}

/** How long a deleted project can be recovered. After that, its data is deleted. */
const RECOVERABLE_MS = 7 * 86_400_000
/** How many deleted projects to keep. Without this limit, tests that create and delete projects would fill the disk. */
const MOST_RECOVERABLE = 10

/**
 * Stops all computes, cancels the open operations, and starts `tenant_detach`. Does not wait for other operations
 * (responses recorded from the service).
 */
export const deleteProject = (world: World, id: string): ProjectRecord => {
  const tables = world.project(id)
  const { project, branches, computes } = tables
  if ([...branches.values()].some(({ isProtected }) => isProtected)) {
    throw new ApiError(422, 'cannot delete a project with protected branches')
  }
  const now = world.clock.now()
  world.commit(
    id,
    [
      { ...project, deletedAt: now, recoverableUntil: now + RECOVERABLE_MS },
      ...cancelled(tables, now),
      ...Array.from(computes.values(), (compute) => stopped(compute, now)),
    ],
    [{ action: 'tenant_detach', branchId: rootOf(branches) }],
  )
  const recoverable = [...world.tables.projects.values()]
    .map(({ project: other }) => other)
    .filter(isRecoverable)
    .sort((a, b) => (b.deletedAt ?? 0) - (a.deletedAt ?? 0))
  for (const oldest of recoverable.slice(MOST_RECOVERABLE)) {
    world.commit(oldest.id, [{ ...oldest, recoverableUntil: now }])
  }
  return project
}

/** The open operations of a project, cancelled. Those that remove what is already deleted continue. */
const cancelled = ({ unfinished, branches, computes }: ProjectTables, now: number): readonly OperationRecord[] =>
  [...unfinished.values()]
    .filter(({ branchId, computeId }) => branches.has(branchId) && (computeId === undefined || computes.has(computeId)))
    .map((operation) => ({ ...operation, status: 'cancelled', retryAt: undefined, updatedAt: now }))

/** The operations of branches that were being created or restored when the project was deleted. */
const interrupted = ({ branches, operationById }: ProjectTables): readonly NewOperation[] =>
  [...branches.values()]
    .filter(({ state }) => state === 'init' || state === 'resetting')
    .flatMap(({ id }) => {
      const all = [...operationById.values()].filter(({ branchId }) => branchId === id)
      return all.findLast(({ action }) => action === 'create_branch' || action === 'create_timeline') ?? []
    })

const stopped = (compute: ComputeRecord, now: number): ComputeRecord => ({
  ...compute,
  state: 'idle',
  pendingState: undefined,
  ...(isRunning(compute) ? { suspendedAt: now, updatedAt: now } : {}),
})

/**
 * Recovers a project and starts `tenant_attach`. The computes are idle and keep their host names. If the project was
 * deleted while branches were being created or restored, this is completed.
 *
 * @throws {ApiError} 404 if the project does not exist or its data is already deleted, 422 if it is not deleted.
 */
export const recoverProject = (
  world: World,
  id: string,
): { readonly project: ProjectRecord; readonly branches: readonly BranchRecord[] } => {
  const tables = world.anyProject(id)
  const { deletedAt, recoverableUntil, ...project } = tables.project
  if (deletedAt === undefined) throw new ApiError(422, 'project is not deleted')
  if (recoverableUntil === undefined) throw new ApiError(404, 'project not found')
  const { branches } = tables
  const now = world.clock.now()
  world.commit(
    id,
    [{ ...project, updatedAt: now }, ...cancelled(tables, now)],
    [{ action: 'tenant_attach', branchId: rootOf(branches) }, ...interrupted(tables)],
  )
  return { project, branches: [...branches.values()] }
}

/**
 * Starts `delete_tenant`, which deletes the data of a deleted project. Returns false if another operation is running.
 */
export const purgeProject = (world: World, id: string): boolean => {
  const tables = world.tables.projects.get(id)
  if (tables === undefined || !isRecoverable(tables.project)) return true
  if (tables.unfinished.size > 0) return false
  const { recoverableUntil, ...project } = tables.project
  world.commit(
    id,
    [project],
    [{ action: 'delete_tenant', branchId: rootOf(tables.branches) }],
    [...tables.computes.values()],
  )
  return true
}

export const isRecoverable = ({ deletedAt, recoverableUntil }: ProjectRecord): boolean =>
  deletedAt !== undefined && recoverableUntil !== undefined

const rootOf = (branches: ReadonlyMap<string, BranchRecord>): string => [...branches.keys()][0] ?? ''

// The settings of a project. They are stored as given, but shown with all members, because clients rely on all of them.

/**
 * The members in the request replace the existing members. Only `allowed_ips` is merged, because clients may send only
 * a part of it.
 *
 * @throws {ApiError} 400 if the request disables a setting that cannot be disabled (public OpenAPI).
 */
const withSettings = (before: ProjectSettings, requested: ProjectSettings): ProjectSettings => {
  if (before.enable_logical_replication === true && requested.enable_logical_replication === false) {
    throw new ApiError(400, 'project.settings.enable_logical_replication: once enabled, it cannot be disabled')
  }
  if (before.hipaa === true && requested.hipaa === false) {
    throw new ApiError(400, 'project.settings.hipaa: disabling HIPAA is not allowed')
  }
  const given = Object.fromEntries(Object.entries(requested).filter(([, value]) => value !== undefined))
  const allowed =
    requested.allowed_ips === undefined ? {} : { allowed_ips: { ...before.allowed_ips, ...requested.allowed_ips } }
  return { ...before, ...given, ...allowed }
}

export const shownSettings = (given: ProjectSettings = {}) => ({
  ...given,
  quota: given.quota ?? {},
  allowed_ips: {
    ips: given.allowed_ips?.ips ?? [],
    protected_branches_only: given.allowed_ips?.protected_branches_only ?? false,
  },
  enable_logical_replication: given.enable_logical_replication ?? false,
  // On the service, every project has a maintenance window. Its time does not matter, because the sandbox runs no
  // updates.
  maintenance_window: given.maintenance_window ?? { weekdays: [7], start_time: '04:00', end_time: '05:00' },
  block_public_connections: given.block_public_connections ?? false,
  block_vpc_connections: given.block_vpc_connections ?? false,
  hipaa: given.hipaa ?? false,
})

/** Commands on projects (public OpenAPI). */
import { defaultVersion } from '../computes/computes.ts'
import { annotationOf } from './branch-commands.ts'
import { newCatalog } from './catalog.ts'
import { newProjectId } from './ids.ts'
import { checkLimits } from './limits.ts'
import { retentionOf } from './moment.ts'
import { newCompute } from './new-compute.ts'
import { withSettings } from './project-settings.ts'
import {
  type BranchRecord,
  type ComputeRecord,
  isRunning,
  type OperationRecord,
  operationOn,
  type ProjectRecord,
} from './records.ts'
import { Refusal } from './refusal.ts'
import type { NewProjectRequest, ProjectChange } from './requests.ts'
import { defaultBranch } from './tables.ts'
import type { World } from './world.ts'

export interface NewProject {
  readonly project: ProjectRecord
  readonly branch: BranchRecord
  readonly compute: ComputeRecord
  readonly operations: readonly OperationRecord[]
}

const DEFAULT_REGION = 'aws-eu-central-1'

/**
 * Creates a project with a default branch, its primary, a role and a database. Starts `create_timeline`, then
 * `start_compute` (docs/control-api.md).
 *
 * @param versions the available major versions of Postgres.
 * @throws {Refusal} 400 if the requested version is not available or a limit is exceeded.
 */
export const createProject = (
  world: World,
  request: NewProjectRequest,
  orgId: string | undefined,
  versions: readonly number[],
): NewProject => {
  const now = world.clock.now()
  const id = newProjectId((taken) => world.tables.projects.has(taken))
  const { branch: asked, autoscaling_limit_min_cu, autoscaling_limit_max_cu } = request
  const project: ProjectRecord = changed(
    {
      kind: 'project',
      id,
      name: request.name ?? id,
      regionId: request.region_id ?? DEFAULT_REGION,
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
    name: asked?.name ?? 'main',
    isDefault: true,
    isProtected: false,
    state: 'init',
    createdAt: now,
    updatedAt: now,
    annotation: annotationOf(asked?.annotations, now),
    ...newCatalog(now, asked?.database_name, asked?.role_name),
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
 * New defaults apply to computes created later (docs of the service). Changing the restore window starts
 * `apply_storage_config`; enabling logical replication suspends running computes (public OpenAPI).
 *
 * @throws {Refusal} 400 if a limit is exceeded, or if the request turns off a setting that cannot be turned off.
 */
export const updateProject = (
  world: World,
  id: string,
  request: ProjectChange,
): { readonly project: ProjectRecord; readonly operations: readonly OperationRecord[] } => {
  const { project: before, branches, computes } = world.project(id)
  world.checkUnlocked(id)
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

const pgVersionOf = (asked: number | undefined, versions: readonly number[]): number => {
  if (asked === undefined) return defaultVersion(versions)
  if (versions.includes(asked)) return asked
  throw new Refusal(
    400,
    `project.pg_version: Postgres ${asked} is not available here; available: ${versions.join(', ')}`,
  )
}

const changed = (project: ProjectRecord, request: ProjectChange, now: number): ProjectRecord => {
  const asked = request.default_endpoint_settings
  const defaults = {
    min: asked?.autoscaling_limit_min_cu ?? project.defaults.min,
    max: asked?.autoscaling_limit_max_cu ?? project.defaults.max,
    suspendTimeoutSeconds: asked?.suspend_timeout_seconds ?? project.defaults.suspendTimeoutSeconds,
    pgSettings: asked?.pg_settings ?? project.defaults.pgSettings,
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

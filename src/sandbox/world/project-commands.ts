/** What a client can do to projects (facts of the public OpenAPI; the spec only names them). */
import { newProjectId } from './ids.ts'
import { checkLimits } from './limits.ts'
import { newCompute } from './new-compute.ts'
import type { BranchRecord, ComputeRecord, OperationRecord, ProjectRecord } from './records.ts'
import type { World } from './world.ts'

export interface ProjectRequest {
  readonly name?: string | undefined
  readonly region_id?: string | undefined
  readonly org_id?: string | undefined
  readonly history_retention_seconds?: number | undefined
  readonly default_endpoint_settings?:
    | {
        readonly autoscaling_limit_min_cu?: number | undefined
        readonly autoscaling_limit_max_cu?: number | undefined
        readonly suspend_timeout_seconds?: number | undefined
      }
    | undefined
}

export interface NewProject {
  readonly project: ProjectRecord
  readonly branch: BranchRecord
  readonly compute: ComputeRecord
  readonly operations: readonly OperationRecord[]
}

const DEFAULT_REGION = 'aws-eu-central-1'
const DEFAULT_RETENTION_SECONDS = 86_400

/** With a default branch and its primary; starts `create_timeline`, then `start_compute` (spec 2.1.1). */
export const createProject = (world: World, request: ProjectRequest, orgId: string | undefined): NewProject => {
  const now = world.clock.now()
  const id = newProjectId((taken) => world.tables.projects.has(taken))
  const project: ProjectRecord = withSettings(
    {
      kind: 'project',
      id,
      name: request.name ?? id,
      regionId: request.region_id ?? DEFAULT_REGION,
      ...(orgId === undefined ? {} : { orgId }),
      plan: 'paid',
      defaults: { min: 0.25, max: 2, suspendTimeoutSeconds: 0 },
      createdAt: now,
      updatedAt: now,
    },
    request,
    now,
  )
  const branch: BranchRecord = {
    kind: 'branch',
    id: world.newId('br'),
    projectId: id,
    name: 'main',
    isDefault: true,
    isProtected: false,
    state: 'init',
    createdAt: now,
    updatedAt: now,
  }
  const compute = newCompute(world, project, branch.id, { type: 'read_write' })
  const operations = world.commit(
    id,
    [project, branch, compute],
    [
      { action: 'create_timeline', branchId: branch.id },
      { action: 'start_compute', branchId: branch.id, computeId: compute.id },
    ],
  )
  return { project, branch, compute, operations }
}

/** Defaults hold for computes that are made later (docs of the service); a restore window is applied to storage. */
export const updateProject = (
  world: World,
  id: string,
  request: ProjectRequest,
): { readonly project: ProjectRecord; readonly operations: readonly OperationRecord[] } => {
  const { project: before, branches } = world.project(id)
  world.checkUnlocked(id)
  const project = withSettings(before, request, world.clock.now())
  const isStorage = retentionOf(before) !== retentionOf(project)
  const root = [...branches.values()].find(({ isDefault }) => isDefault)
  const operations = world.commit(
    id,
    [project],
    isStorage && root !== undefined ? [{ action: 'apply_storage_config', branchId: root.id }] : [],
  )
  return { project, operations }
}

export const retentionOf = ({ historyRetentionSeconds }: ProjectRecord): number =>
  historyRetentionSeconds ?? DEFAULT_RETENTION_SECONDS

const withSettings = (project: ProjectRecord, request: ProjectRequest, now: number): ProjectRecord => {
  const { default_endpoint_settings: asked, history_retention_seconds: retention } = request
  const defaults = {
    min: asked?.autoscaling_limit_min_cu ?? project.defaults.min,
    max: asked?.autoscaling_limit_max_cu ?? project.defaults.max,
    suspendTimeoutSeconds: asked?.suspend_timeout_seconds ?? project.defaults.suspendTimeoutSeconds,
  }
  checkLimits(defaults, project, 'project.default_endpoint_settings')
  return {
    ...project,
    ...(request.name === undefined ? {} : { name: request.name }),
    ...(retention === undefined ? {} : { historyRetentionSeconds: retention }),
    defaults,
    updatedAt: now,
  }
}

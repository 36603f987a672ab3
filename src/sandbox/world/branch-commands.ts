/** What a client can do to branches (facts of the public OpenAPI; the spec only names them). */
import type { ComputeRequest } from './compute-commands.ts'
import { newId } from './ids.ts'
import { checkLimits } from './limits.ts'
import type { BranchRecord, ComputeRecord, OperationRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

export interface BranchRequest {
  readonly name?: string | undefined
  readonly parent_id?: string | undefined
  readonly protected?: boolean | undefined
}

export interface BranchAnswer {
  readonly branch: BranchRecord
  readonly computes: readonly ComputeRecord[]
  readonly operations: readonly OperationRecord[]
}

/** Starts `create_branch`, and after it `start_compute` for each compute asked for (spec 2.1.1, 3.1). */
export const createBranch = (
  world: World,
  projectId: string,
  request: BranchRequest,
  endpoints: readonly (ComputeRequest & { readonly type: ComputeRecord['type'] })[],
): BranchAnswer => {
  const { branches, project } = world.project(projectId)
  const parent =
    request.parent_id === undefined
      ? [...branches.values()].find(({ isDefault }) => isDefault)
      : branches.get(request.parent_id)
  if (parent === undefined) throw new Refusal(404, 'branch not found')
  const id = newId('br')
  const name = request.name ?? id
  if ([...branches.values()].some((branch) => branch.name === name)) {
    throw new Refusal(409, `branch already exists; branch_name:"${name}"`)
  }
  if (endpoints.filter(({ type }) => type === 'read_write').length > 1) {
    throw new Refusal(422, 'read_write endpoint already exists', 'ENDPOINTS_LIMIT_EXCEEDED')
  }
  world.checkUnlocked(projectId)
  const now = world.clock.now()
  const branch: BranchRecord = {
    kind: 'branch',
    id,
    projectId,
    name,
    parentId: parent.id,
    isDefault: false,
    isProtected: request.protected ?? false,
    state: 'init',
    createdAt: now,
    updatedAt: now,
  }
  const computes = endpoints.map((endpoint): ComputeRecord => {
    const compute: ComputeRecord = {
      kind: 'compute',
      id: newId('ep'),
      projectId,
      branchId: id,
      type: endpoint.type,
      min: endpoint.autoscaling_limit_min_cu ?? project.defaults.min,
      max: endpoint.autoscaling_limit_max_cu ?? project.defaults.max,
      suspendTimeoutSeconds: endpoint.suspend_timeout_seconds ?? project.defaults.suspendTimeoutSeconds,
      settings: endpoint.settings ?? { pg_settings: {} },
      disabled: false,
      poolerEnabled: false,
      passwordlessAccess: false,
      state: 'init',
      pendingState: 'active',
      createdAt: now,
      updatedAt: now,
    }
    checkLimits(compute, project, { sizeChanged: true, timeoutChanged: true })
    return compute
  })
  const operations = world.commit(
    projectId,
    [branch, ...computes],
    [
      { action: 'create_branch', branchId: id },
      ...computes.map((compute) => ({ action: 'start_compute', branchId: id, computeId: compute.id })),
    ],
  )
  return { branch, computes, operations }
}

/** The record of a compute that a request creates or updates. */
import { checkLimits } from './limits.ts'
import type { ComputeRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { ComputeRequest, NewComputeRequest } from './requests.ts'
import type { World } from './world.ts'

/**
 * A compute about to start, or idle if the request disables it. Attributes that the request omits come from the
 * project's defaults. If it gives only one size limit and the default of the other contradicts it, both get that limit.
 *
 * @throws {Refusal} 400 if a limit is exceeded.
 */
export const newCompute = (
  world: World,
  project: ProjectRecord,
  branchId: string,
  request: NewComputeRequest,
): ComputeRecord => {
  if (request.region_id !== undefined && request.region_id !== project.regionId) {
    throw new Refusal(400, `endpoint.region_id: only the project's own region, ${project.regionId}, is allowed`)
  }
  const now = world.clock.now()
  const { defaults } = project
  const blank: ComputeRecord = {
    kind: 'compute',
    id: world.newId('ep'),
    projectId: project.id,
    branchId,
    type: request.type,
    min: Math.min(defaults.min, request.autoscaling_limit_max_cu ?? defaults.min),
    max: Math.max(defaults.max, request.autoscaling_limit_min_cu ?? defaults.max),
    suspendTimeoutSeconds: defaults.suspendTimeoutSeconds,
    settings: { pg_settings: defaults.pgSettings ?? {} },
    disabled: false,
    poolerEnabled: false,
    passwordlessAccess: false,
    state: request.disabled === true ? 'idle' : 'init',
    pendingState: request.disabled === true ? undefined : 'active',
    createdAt: now,
    updatedAt: now,
  }
  const compute = merge(blank, { ...request, branch_id: branchId }, now)
  checkLimits(compute, project)
  return compute
}

export const merge = (compute: ComputeRecord, request: ComputeRequest, now: number): ComputeRecord => ({
  ...compute,
  branchId: request.branch_id ?? compute.branchId,
  name: request.name ?? compute.name,
  min: request.autoscaling_limit_min_cu ?? compute.min,
  max: request.autoscaling_limit_max_cu ?? compute.max,
  suspendTimeoutSeconds: request.suspend_timeout_seconds ?? compute.suspendTimeoutSeconds,
  // Replaced as a whole, not merged (Neon staff in neondatabase/neon#7628).
  settings: request.settings ?? compute.settings,
  disabled: request.disabled ?? compute.disabled,
  poolerEnabled: request.pooler_enabled ?? compute.poolerEnabled,
  passwordlessAccess: request.passwordless_access ?? compute.passwordlessAccess,
  provisioner: request.provisioner ?? compute.provisioner,
  updatedAt: now,
})

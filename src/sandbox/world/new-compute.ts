/** A compute as a request asks for it, new or on top of what is there. */
import type { WireSettings } from '../../model/index.ts'
import { checkLimits } from './limits.ts'
import type { ComputeRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

/** The attributes that a request may name, as the API spells them. */
export interface ComputeRequest {
  readonly branch_id?: string | undefined
  readonly type?: 'read_write' | 'read_only' | undefined
  readonly region_id?: string | undefined
  readonly name?: string | undefined
  readonly autoscaling_limit_min_cu?: number | undefined
  readonly autoscaling_limit_max_cu?: number | undefined
  readonly suspend_timeout_seconds?: number | undefined
  readonly settings?: WireSettings | undefined
  readonly disabled?: boolean | undefined
  readonly pooler_enabled?: boolean | undefined
  readonly passwordless_access?: boolean | undefined
  readonly provisioner?: string | undefined
}

/**
 * About to start, or idle if it is disabled. What the request leaves out comes from the project's defaults; where
 * it names one limit and the default of the other is on the wrong side of it, both are that one.
 *
 * @throws {Refusal} 400 if a limit is broken.
 */
export const newCompute = (
  world: World,
  project: ProjectRecord,
  branchId: string,
  request: ComputeRequest & Pick<ComputeRecord, 'type'>,
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
    ...(request.disabled === true ? {} : { pendingState: 'active' }),
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
  ...(request.name === undefined ? {} : { name: request.name }),
  min: request.autoscaling_limit_min_cu ?? compute.min,
  max: request.autoscaling_limit_max_cu ?? compute.max,
  suspendTimeoutSeconds: request.suspend_timeout_seconds ?? compute.suspendTimeoutSeconds,
  // What is sent replaces what is there, whole (Neon staff in neondatabase/neon#7628).
  settings: request.settings ?? compute.settings,
  disabled: request.disabled ?? compute.disabled,
  poolerEnabled: request.pooler_enabled ?? compute.poolerEnabled,
  passwordlessAccess: request.passwordless_access ?? compute.passwordlessAccess,
  ...(request.provisioner === undefined ? {} : { provisioner: request.provisioner }),
  updatedAt: now,
})

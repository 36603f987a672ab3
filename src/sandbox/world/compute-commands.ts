/** Commands on computes (docs/reference/control-api.md). */
import { isDeepStrictEqual } from 'node:util'
import { canScaleToZero, maxConnections, SCALE_TO_ZERO_DEFAULT, temporaryDiskGib } from '../../model/index.ts'
import type { ComputeSpec } from '../computes/computes.ts'
import { catalogOf } from './catalog.ts'
import { checkActiveCount, checkCount, checkLimits, checkSuspendTimeout } from './limits.ts'
import {
  type BranchRecord,
  type ComputeRecord,
  isRunning,
  type NewOperation,
  type OperationRecord,
  operationOn,
  type ProjectRecord,
  unarchive,
} from './records.ts'
import { ApiError, type ComputeRequest, type NewComputeRequest } from './requests.ts'
import { type ProjectTables, primaryOf, type Tables } from './tables.ts'
import type { World } from './world.ts'

export interface ComputeAnswer {
  readonly compute: ComputeRecord
  /** The operations that the command started. */
  readonly operations: readonly OperationRecord[]
}

export const createCompute = (
  world: World,
  projectId: string,
  request: NewComputeRequest & { readonly branch_id: string },
): ComputeAnswer => {
  const tables = world.project(projectId)
  const { project } = tables
  const branch = world.branch(projectId, request.branch_id)
  world.checkUnlocked(projectId)
  checkPrimary(tables, request.branch_id, request.type)
  if (request.type === 'read_only') checkCount(tables, 'read replicas')
  checkSuspendTimeout(project, request.suspend_timeout_seconds)
  const compute = newCompute(world, project, request.branch_id, request)
  if (!compute.disabled) checkActiveCount(tables, compute.branchId)
  const operations = compute.disabled ? [] : [...unarchive(branch), operationOn(compute, 'start_compute')]
  return { compute, operations: world.commit(projectId, [compute], operations) }
}

/**
 * Responses show the new attributes immediately, but a running compute uses them only after the operations have
 * finished (docs/reference/control-api.md).
 */
export const updateCompute = (world: World, projectId: string, id: string, request: ComputeRequest): ComputeAnswer => {
  const before = world.compute(projectId, id)
  const tables = world.project(projectId)
  const { project } = tables
  const target = request.branch_id ?? before.branchId
  if (target !== before.branchId) world.branch(projectId, target)
  world.checkUnlocked(projectId)
  if (target !== before.branchId) checkPrimary(tables, target, before.type)
  checkSuspendTimeout(project, request.suspend_timeout_seconds)
  const merged = merge(before, request, world.clock.now())
  checkLimits(merged, project)
  const restarts = !isDeepStrictEqual(restartingOf(before), restartingOf(merged))
  const isConfigured = restarts || !isDeepStrictEqual(configOf(before), configOf(merged))
  const operations = [
    ...(isConfigured ? applyConfig(merged, tables.branches.get(target), restarts) : []),
    ...(merged.disabled && isRunning(merged) ? [operationOn(merged, 'suspend_compute')] : []),
  ]
  const compute = { ...merged, ...pendingAfter(operations) }
  return { compute, operations: world.commit(projectId, [compute], operations) }
}

/** The state that a compute will have when operations have ended that apply its configuration. */
export const pendingAfter = (operations: readonly NewOperation[]): Pick<ComputeRecord, 'pendingState'> => {
  const last = operations.at(-1)?.action
  return last === undefined ? {} : { pendingState: last === 'suspend_compute' ? 'idle' : 'active' }
}

/**
 * An idle compute is started to apply its new configuration, then suspended again (public OpenAPI, update example). A
 * disabled compute cannot be started until it is enabled, so the configuration is applied at its next start.
 */
export const applyConfig = (
  compute: ComputeRecord,
  branch: BranchRecord | undefined,
  restarts = false,
): readonly NewOperation[] => {
  const apply = { ...operationOn(compute, 'apply_config'), restarts }
  if (compute.state !== 'idle') return [apply]
  return compute.disabled ? [] : [...unarchive(branch), apply, operationOn(compute, 'suspend_compute')]
}

/** The attributes whose change restarts the compute: its size (docs/reference/control-api.md) and its preloaded libraries. */
const restartingOf = ({ min, max, settings }: ComputeRecord): readonly unknown[] => [
  min,
  max,
  settings.preload_libraries,
]

/** The other attributes whose change needs `apply_config`. The name and the branch do not (docs/reference/control-api.md). */
const configOf = ({ suspendTimeoutSeconds, settings, poolerEnabled, passwordlessAccess }: ComputeRecord) => [
  suspendTimeoutSeconds,
  settings.pg_settings,
  poolerEnabled,
  passwordlessAccess,
]

/**
 * Returns `undefined` if there is no such compute. This is not an error, because deleting is idempotent.
 *
 * @param suspends whether an operation stops a running compute and locks the project, as the public OpenAPI document
 *   shows. Otherwise the request itself stops the compute (docs/reference/control-api.md).
 */
export const deleteCompute = (
  world: World,
  projectId: string,
  id: string,
  suspends = false,
): ComputeAnswer | undefined => {
  const compute = world.project(projectId).computes.get(id)
  if (compute === undefined) return undefined
  world.checkUnlocked(projectId)
  if (world.project(projectId).branches.get(compute.branchId)?.isProtected === true) {
    throw new ApiError(422, 'endpoints of a protected branch cannot be deleted')
  }
  const operations = suspends && isRunning(compute) ? [operationOn(compute, 'suspend_compute')] : []
  return { compute, operations: world.commit(projectId, [], operations, [compute]) }
}

export const startCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  world.checkUnlocked(projectId)
  if (compute.disabled) throw new ApiError(422, 'endpoint is disabled: enable it before starting it')
  if (compute.state === 'active') return { compute, operations: [] }
  const tables = world.project(projectId)
  checkActiveCount(tables, compute.branchId)
  const branch = tables.branches.get(compute.branchId)
  return transition(world, compute, 'active', [...unarchive(branch), operationOn(compute, 'start_compute')])
}

export const suspendCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  world.checkUnlocked(projectId)
  if (compute.state === 'idle') return { compute, operations: [] }
  return transition(world, compute, 'idle', [operationOn(compute, 'suspend_compute')])
}

/** @throws {ApiError} 422 if the compute is not active (docs/reference/control-api.md). */
export const restartCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  world.checkUnlocked(projectId)
  if (compute.state !== 'active') throw new ApiError(422, 'endpoint is not active: start it before restarting it')
  const operations = [operationOn(compute, 'suspend_compute'), operationOn(compute, 'start_compute')]
  return transition(world, compute, 'active', operations)
}

const transition = (
  world: World,
  before: ComputeRecord,
  pendingState: 'active' | 'idle',
  operations: readonly NewOperation[],
): ComputeAnswer => {
  const compute: ComputeRecord = { ...before, pendingState, updatedAt: world.clock.now() }
  return { compute, operations: world.commit(before.projectId, [compute], operations) }
}

/** A branch has at most one primary (docs/reference/control-api.md). */
const checkPrimary = (tables: ProjectTables, branchId: string, type: ComputeRecord['type']): void => {
  if (type === 'read_write' && primaryOf(tables, branchId) !== undefined) {
    throw new ApiError(422, 'read_write endpoint already exists', 'ENDPOINTS_LIMIT_EXCEEDED')
  }
}

/**
 * The record of a compute that is about to start, or that is idle because the request disables it. Attributes that the
 * request omits are taken from the project's defaults. If the request has only one size limit, and the default of the
 * other limit contradicts it, both limits are set to the requested value.
 *
 * @throws {ApiError} 400 if a limit is exceeded.
 */
export const newCompute = (
  world: World,
  project: ProjectRecord,
  branchId: string,
  request: NewComputeRequest,
): ComputeRecord => {
  if (request.region_id !== undefined && request.region_id !== project.regionId) {
    throw new ApiError(400, `endpoint.region_id: only the project's own region, ${project.regionId}, is allowed`)
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
    passwordlessAccess: true,
    state: request.disabled === true ? 'idle' : 'init',
    pendingState: request.disabled === true ? undefined : 'active',
    createdAt: now,
    updatedAt: now,
  }
  const merged = merge(blank, { ...request, branch_id: branchId }, now)
  // The project's scale-to-zero time does not apply to a compute that is too large for one.
  const timeout = request.suspend_timeout_seconds ?? Math.min(defaults.suspendTimeoutSeconds, SCALE_TO_ZERO_DEFAULT)
  const compute = canScaleToZero(merged) ? merged : { ...merged, suspendTimeoutSeconds: timeout }
  checkLimits(compute, project)
  return compute
}

const merge = (compute: ComputeRecord, request: ComputeRequest, now: number): ComputeRecord => ({
  ...compute,
  branchId: request.branch_id ?? compute.branchId,
  name: request.name ?? compute.name,
  min: request.autoscaling_limit_min_cu ?? compute.min,
  max: request.autoscaling_limit_max_cu ?? compute.max,
  suspendTimeoutSeconds: request.suspend_timeout_seconds ?? compute.suspendTimeoutSeconds,
  // The settings are replaced as a whole, not merged (Neon staff in neondatabase/neon#7628).
  settings: request.settings ?? compute.settings,
  disabled: request.disabled ?? compute.disabled,
  poolerEnabled: request.pooler_enabled ?? compute.poolerEnabled,
  passwordlessAccess: request.passwordless_access ?? compute.passwordlessAccess,
  provisioner: request.provisioner ?? compute.provisioner,
  updatedAt: now,
})

// Translates the record of a compute into a spec for the compute backend.

const GIB = 1024 ** 3

export interface SpecRules {
  /** The size of the temporary disk is multiplied by this factor, so that a test can fill the disk. */
  readonly tempDiskScale: number
  /** The current size in CU. */
  readonly sizeOf: (compute: ComputeRecord) => number
  /** The major version for projects that do not specify one. */
  readonly pgVersion: () => number
}

/** The libraries that the service loads by default. */
export const DEFAULT_LIBRARIES: readonly string[] = ['pg_stat_statements']

const librariesOf = ({ settings }: ComputeRecord, project: ProjectRecord | undefined): readonly string[] => {
  const requested = settings.preload_libraries ?? project?.settings?.preload_libraries
  return [
    ...new Set([
      ...(requested?.use_defaults === true ? DEFAULT_LIBRARIES : []),
      ...(requested?.enabled_libraries ?? []),
    ]),
  ]
}

export const specOf = (compute: ComputeRecord, tables: Tables, rules: SpecRules): ComputeSpec => {
  const { project, branches } = tables.projects.get(compute.projectId) ?? {}
  const branch = branches?.get(compute.branchId)
  return {
    id: compute.id,
    branchId: compute.branchId,
    type: compute.type,
    size: { min: compute.min, max: compute.max },
    cu: rules.sizeOf(compute),
    maxConnections: maxConnections(compute),
    tempDiskBytes: temporaryDiskGib(compute) * GIB * rules.tempDiskScale,
    settings: compute.settings.pg_settings ?? {},
    libraries: librariesOf(compute, project),
    pgVersion: project?.pgVersion ?? rules.pgVersion(),
    isLogical: project?.settings?.enable_logical_replication === true,
    catalog: catalogOf(branch ?? {}),
    changes: branch?.changes ?? [],
  }
}

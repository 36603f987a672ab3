/** What a client can do to computes (docs/control-api.md). Each answers with the compute and the operations that it started. */
import { findBranch, unarchive } from './branch-commands.ts'
import { checkLimits } from './limits.ts'
import { type ComputeRequest, merge, newCompute } from './new-compute.ts'
import { checkActiveCount, checkReplicaCount, checkSuspendTimeout } from './plan-limits.ts'
import type { ComputeRecord, OperationRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { NewOperation, World } from './world.ts'

export interface ComputeAnswer {
  readonly compute: ComputeRecord
  readonly operations: readonly OperationRecord[]
}

export const createCompute = (
  world: World,
  projectId: string,
  request: ComputeRequest & { readonly branch_id: string; readonly type: ComputeRecord['type'] },
): ComputeAnswer => {
  const tables = world.project(projectId)
  const { project } = tables
  const branch = findBranch(world, projectId, request.branch_id)
  world.checkUnlocked(projectId)
  checkPrimary(world, projectId, request.branch_id, request.type)
  if (request.type === 'read_only') checkReplicaCount(tables, 1)
  checkSuspendTimeout(project, request.suspend_timeout_seconds)
  const compute = newCompute(world, project, request.branch_id, request)
  if (!compute.disabled) checkActiveCount(tables, compute.branchId)
  const operations = compute.disabled ? [] : [...unarchive(branch), operationOn(compute, 'start_compute')]
  return { compute, operations: world.commit(projectId, [compute], operations) }
}

/** What the request names is visible at once; what it does to a running compute takes the operations' time (docs/control-api.md). */
export const updateCompute = (world: World, projectId: string, id: string, request: ComputeRequest): ComputeAnswer => {
  const before = world.compute(projectId, id)
  const { project } = world.project(projectId)
  const moves = request.branch_id !== undefined && request.branch_id !== before.branchId
  if (moves) findBranch(world, projectId, request.branch_id ?? '')
  checkSuspendTimeout(project, request.suspend_timeout_seconds)
  world.checkUnlocked(projectId)
  if (moves) checkPrimary(world, projectId, request.branch_id, before.type)
  const merged = merge(before, request, world.clock.now())
  checkLimits(merged, project)
  const operations = operationsOf(before, merged)
  const last = operations.at(-1)?.action
  const compute: ComputeRecord =
    last === undefined ? merged : { ...merged, pendingState: last === 'suspend_compute' ? 'idle' : 'active' }
  return { compute, operations: world.commit(projectId, [compute], operations) }
}

/**
 * An idle compute wakes for a new configuration and is suspended again (public OpenAPI, update example); one that is
 * disabled cannot wake, and takes it up when it is started next.
 */
const operationsOf = (before: ComputeRecord, after: ComputeRecord): readonly NewOperation[] => {
  const restarts = restartingOf(before) !== restartingOf(after)
  const config = restarts || configOf(before) !== configOf(after)
  const apply = config ? [{ ...operationOn(after, 'apply_config'), restarts }] : []
  const suspend = operationOn(after, 'suspend_compute')
  if (before.state === 'idle') return config && !after.disabled ? [...apply, suspend] : []
  return after.disabled ? [...apply, suspend] : apply
}

/** A change of size restarts the compute (docs/control-api.md), and so do libraries that are loaded at the start. */
const restartingOf = ({ min, max, settings }: ComputeRecord): string =>
  JSON.stringify([min, max, settings.preload_libraries])

/** What is applied to the running compute: changing its name or branch is not a configuration change (docs/control-api.md). */
const configOf = ({ suspendTimeoutSeconds, settings, poolerEnabled, passwordlessAccess }: ComputeRecord): string =>
  JSON.stringify([suspendTimeoutSeconds, settings.pg_settings, poolerEnabled, passwordlessAccess])

/** `undefined` if there is no such compute: deleting is idempotent. */
export const deleteCompute = (world: World, projectId: string, id: string): ComputeAnswer | undefined => {
  const compute = world.project(projectId).computes.get(id)
  if (compute === undefined) return undefined
  world.checkUnlocked(projectId)
  if (world.project(projectId).branches.get(compute.branchId)?.isProtected === true) {
    throw new Refusal(422, 'endpoints of a protected branch cannot be deleted')
  }
  const operations = compute.state === 'idle' ? [] : [operationOn(compute, 'suspend_compute')]
  return { compute, operations: world.commit(projectId, [], operations, [compute]) }
}

export const startCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  world.checkUnlocked(projectId)
  if (compute.disabled) throw new Refusal(422, 'endpoint is disabled: enable it before starting it')
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

/** Works on an active compute only (docs/control-api.md). */
export const restartCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  world.checkUnlocked(projectId)
  if (compute.state !== 'active') throw new Refusal(422, 'endpoint is not active: start it before restarting it')
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

const operationOn = ({ branchId, id }: ComputeRecord, action: string): NewOperation => ({
  action,
  branchId,
  computeId: id,
})

/** One primary a branch (docs/control-api.md). */
const checkPrimary = (world: World, projectId: string, branchId: string, type: ComputeRecord['type']): void => {
  if (type !== 'read_write') return
  for (const compute of world.project(projectId).computes.values()) {
    if (compute.branchId === branchId && compute.type === 'read_write') {
      throw new Refusal(422, 'read_write endpoint already exists', 'ENDPOINTS_LIMIT_EXCEEDED')
    }
  }
}

/** What a client can do to computes (spec 4.3 to 4.8). Each answers with the compute and the operations that it started. */
import type { WireSettings } from '../../model/index.ts'
import { newId } from './ids.ts'
import { checkLimits } from './limits.ts'
import type { ComputeRecord, OperationRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { NewOperation, World } from './world.ts'

export interface ComputeAnswer {
  readonly compute: ComputeRecord
  readonly operations: readonly OperationRecord[]
}

/** The attributes that a request may name, as the API spells them. */
export interface ComputeRequest {
  readonly branch_id?: string | undefined
  readonly type?: 'read_write' | 'read_only' | undefined
  readonly name?: string | undefined
  readonly autoscaling_limit_min_cu?: number | undefined
  readonly autoscaling_limit_max_cu?: number | undefined
  readonly suspend_timeout_seconds?: number | undefined
  readonly settings?: WireSettings | undefined
  readonly disabled?: boolean | undefined
  readonly pooler_enabled?: boolean | undefined
  readonly passwordless_access?: boolean | undefined
}

export const createCompute = (
  world: World,
  projectId: string,
  request: ComputeRequest & { branch_id: string; type: ComputeRecord['type'] },
): ComputeAnswer => {
  const { project } = world.project(projectId)
  checkBranch(world, projectId, request.branch_id, request.type)
  world.checkUnlocked(projectId)
  const now = world.clock.now()
  const { defaults } = project
  const blank: ComputeRecord = {
    kind: 'compute',
    id: freshId(world),
    projectId,
    branchId: request.branch_id,
    type: request.type,
    min: request.autoscaling_limit_min_cu ?? Math.min(defaults.min, request.autoscaling_limit_max_cu ?? defaults.min),
    max: request.autoscaling_limit_max_cu ?? Math.max(defaults.max, request.autoscaling_limit_min_cu ?? defaults.max),
    suspendTimeoutSeconds: defaults.suspendTimeoutSeconds,
    settings: { pg_settings: {} },
    disabled: false,
    poolerEnabled: false,
    passwordlessAccess: false,
    state: 'init',
    pendingState: 'active',
    createdAt: now,
    updatedAt: now,
  }
  const made = { ...merge(blank, request, now), createdAt: now }
  checkLimits(made, project, { sizeChanged: true, timeoutChanged: true })
  if (made.disabled) {
    const { pendingState: _none, ...idle } = made
    const compute: ComputeRecord = { ...idle, state: 'idle' }
    return { compute, operations: world.commit(projectId, [compute]) }
  }
  return { compute: made, operations: world.commit(projectId, [made], [operationOn(made, 'start_compute')]) }
}

export const updateCompute = (world: World, projectId: string, id: string, request: ComputeRequest): ComputeAnswer => {
  const before = world.compute(projectId, id)
  const { project } = world.project(projectId)
  if (request.branch_id !== undefined && request.branch_id !== before.branchId) {
    checkBranch(world, projectId, request.branch_id, before.type)
  }
  world.checkUnlocked(projectId)
  const now = world.clock.now()
  const merged = merge(before, request, now)
  checkLimits(merged, project, {
    sizeChanged: request.autoscaling_limit_min_cu !== undefined || request.autoscaling_limit_max_cu !== undefined,
    timeoutChanged: request.suspend_timeout_seconds !== undefined,
  })
  const actions = actionsOf(before, merged)
  const pending = actions.at(-1) === 'suspend_compute' ? 'idle' : actions.length > 0 ? 'active' : undefined
  const compute: ComputeRecord = { ...merged, ...(pending === undefined ? {} : { pendingState: pending }) }
  return {
    compute,
    operations: world.commit(
      projectId,
      [compute],
      actions.map((action) => operationOn(compute, action)),
    ),
  }
}

/** A settings change is applied; an idle compute wakes for it and is suspended again (public OpenAPI, update example). */
const actionsOf = (before: ComputeRecord, after: ComputeRecord): readonly string[] => {
  if (after.disabled && before.state !== 'idle') return ['apply_config', 'suspend_compute']
  if (configOf(before) === configOf(after)) return []
  return before.state === 'idle' ? ['apply_config', 'suspend_compute'] : ['apply_config']
}

/** What a configuration operation has to apply: a name or a branch change starts none (spec 4.5). */
const configOf = (compute: ComputeRecord): string =>
  JSON.stringify([
    compute.min,
    compute.max,
    compute.suspendTimeoutSeconds,
    compute.settings,
    compute.disabled,
    compute.poolerEnabled,
    compute.passwordlessAccess,
  ])

/** `undefined` where there is no such compute: deleting is idempotent. */
export const deleteCompute = (world: World, projectId: string, id: string): ComputeAnswer | undefined => {
  const compute = world.project(projectId).computes.get(id)
  if (compute === undefined) return undefined
  if (world.project(projectId).branches.get(compute.branchId)?.isProtected === true) {
    throw new Refusal(422, 'endpoints of a protected branch cannot be deleted')
  }
  world.checkUnlocked(projectId)
  const operations = compute.state === 'idle' ? [] : [operationOn(compute, 'suspend_compute')]
  return { compute, operations: world.commit(projectId, [], operations, [compute]) }
}

export const startCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  if (compute.disabled) throw new Refusal(422, 'endpoint is disabled')
  if (compute.state === 'active' && compute.pendingState === undefined) return { compute, operations: [] }
  world.checkUnlocked(projectId)
  return transition(world, compute, 'active', ['start_compute'])
}

export const suspendCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  if (compute.state === 'idle' && compute.pendingState === undefined) return { compute, operations: [] }
  world.checkUnlocked(projectId)
  return transition(world, compute, 'idle', ['suspend_compute'])
}

/** Works on an active compute only (spec 4.7). */
export const restartCompute = (world: World, projectId: string, id: string): ComputeAnswer => {
  const compute = world.compute(projectId, id)
  world.checkUnlocked(projectId)
  if (compute.state !== 'active') throw new Refusal(422, 'endpoint is not active: start it before restarting it')
  return transition(world, compute, 'active', ['suspend_compute', 'start_compute'])
}

const transition = (
  world: World,
  before: ComputeRecord,
  pendingState: 'active' | 'idle',
  actions: readonly string[],
): ComputeAnswer => {
  const compute: ComputeRecord = { ...before, pendingState, updatedAt: world.clock.now() }
  return {
    compute,
    operations: world.commit(
      before.projectId,
      [compute],
      actions.map((action) => operationOn(compute, action)),
    ),
  }
}

const operationOn = ({ branchId, id }: ComputeRecord, action: string): NewOperation => ({
  action,
  branchId,
  computeId: id,
})

const merge = (compute: ComputeRecord, request: ComputeRequest, now: number): ComputeRecord => ({
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
  updatedAt: now,
})

/** One primary a branch (spec 1). */
const checkBranch = (world: World, projectId: string, branchId: string, type: ComputeRecord['type']): void => {
  const { branches, computes } = world.project(projectId)
  if (!branches.has(branchId)) throw new Refusal(404, 'branch not found')
  if (type !== 'read_write') return
  for (const compute of computes.values()) {
    if (compute.branchId === branchId && compute.type === 'read_write') {
      throw new Refusal(422, 'read_write endpoint already exists', 'ENDPOINTS_LIMIT_EXCEEDED')
    }
  }
}

const freshId = (world: World): string => {
  for (;;) {
    const id = newId('ep')
    if (!world.tables.has(id)) return id
  }
}

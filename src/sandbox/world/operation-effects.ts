/** The effects of operations: their work on the compute backend, and the records that they change when they end. */
import type { BranchSource, ComputeSpec, Computes } from '../computes/computes.ts'
import type { BranchRecord, ComputeRecord, OperationRecord, WorldRecord } from './records.ts'
import type { Tables } from './tables.ts'

/** Starts the work of an operation on the compute backend. Returns `undefined` if there is no such work. */
export const beginOperation = (
  operation: OperationRecord,
  tables: Tables,
  computes: Computes,
  specOf: (compute: ComputeRecord) => ComputeSpec,
): Promise<void> | undefined => {
  const compute = tables.compute(operation.computeId ?? '')
  switch (operation.action) {
    case 'create_branch':
      return operation.restore === undefined
        ? computes.addBranch(operation.branchId, sourceOf(operation, tables))
        : computes.restoreBranch(operation.branchId, { id: operation.id, ...operation.restore })
    case 'delete_timeline':
      return computes.removeBranch(operation.branchId)
    case 'delete_tenant':
      return removeAll(operation, tables, computes)
    case 'start_compute':
      return compute === undefined ? undefined : computes.start(specOf(compute))
    case 'suspend_compute':
      return compute === undefined ? computes.forget(operation.computeId ?? '') : computes.stop(compute.id)
    case 'apply_config':
      if (compute === undefined) return undefined
      if (compute.state === 'active') {
        return operation.restarts === true ? computes.restart(specOf(compute)) : computes.configure(specOf(compute))
      }
      // An idle compute is started to apply its new configuration, then suspended (public OpenAPI, update example).
      return computes.start(specOf(compute))
    default:
      return undefined
  }
}

const sourceOf = ({ projectId, branchId }: OperationRecord, tables: Tables): BranchSource | undefined => {
  const branch = tables.projects.get(projectId)?.branches.get(branchId)
  if (branch?.schemaOf !== undefined) return { branchId: branch.schemaOf, isSchemaOnly: true }
  return branch?.parentId === undefined ? undefined : { branchId: branch.parentId, isSchemaOnly: false }
}

/** Deletes the data of all branches of a project. The records of the branches are kept, but clients cannot see them. */
const removeAll = ({ projectId }: OperationRecord, tables: Tables, computes: Computes): Promise<void> | undefined => {
  const branches = [...(tables.projects.get(projectId)?.branches.keys() ?? [])]
  const removals = branches.flatMap((id) => computes.removeBranch(id) ?? [])
  return removals.length === 0 ? undefined : Promise.all(removals).then(() => undefined)
}

/** The records that change when an operation finishes (docs/control-api.md). */
export const finishOperation = (operation: OperationRecord, all: Tables, now: number): readonly WorldRecord[] => {
  const tables = all.projects.get(operation.projectId)
  const branch = tables?.branches.get(operation.branchId)
  const compute = tables?.computes.get(operation.computeId ?? '')
  switch (operation.action) {
    case 'create_branch':
    case 'create_timeline':
    case 'timeline_unarchive':
      return [branch, tables?.branches.get(operation.restore?.preserveAs ?? '')].flatMap((made) =>
        made === undefined ? [] : [{ ...made, state: 'ready' as const, stateChangedAt: now, updatedAt: now }],
      )
    case 'timeline_archive':
      return branch === undefined ? [] : [{ ...branch, state: 'archived', stateChangedAt: now, updatedAt: now }]
    case 'tenant_detach':
      return tables === undefined ? [] : [{ ...tables.project, isDetached: true }]
    case 'tenant_attach':
    case 'tenant_reattach':
      return tables === undefined ? [] : [{ ...tables.project, isDetached: false }]
    case 'start_compute':
      return compute === undefined ? [] : [settle(compute, 'active', now), ...withoutChanges(branch, compute)]
    case 'suspend_compute':
      return compute === undefined ? [] : [settle(compute, 'idle', now)]
    case 'apply_config':
      // If the compute must become idle again, its state is set by the suspension that follows.
      if (compute === undefined) return []
      if (compute.pendingState !== 'active') return withoutChanges(branch, compute)
      return [
        operation.restarts === true ? settle(compute, 'active', now) : withNothingPending(compute, now),
        ...withoutChanges(branch, compute),
      ]
    default:
      return []
  }
}

/**
 * Removes the pending changes to roles and databases, because a primary that was started or configured has made them.
 */
const withoutChanges = (
  branch: BranchRecord | undefined,
  { type, branchId }: ComputeRecord,
): readonly BranchRecord[] => {
  if (branch?.changes === undefined || branch.id !== branchId || type !== 'read_write') return []
  return [{ ...branch, changes: undefined }]
}

/**
 * For an operation that failed or was cancelled. Its compute or branch keeps its state, and no change remains pending.
 */
export const abandonOperation = (operation: OperationRecord, all: Tables, now: number): readonly WorldRecord[] => {
  const compute = all.compute(operation.computeId ?? '')
  if (compute !== undefined) return [withNothingPending(compute, now)]
  const branch = all.projects.get(operation.projectId)?.branches.get(operation.branchId)
  return branch?.state === 'resetting' ? [{ ...branch, state: 'ready', stateChangedAt: now, updatedAt: now }] : []
}

/** Sets the state of a compute. If another state was requested in the meantime, that state remains pending. */
const settle = (compute: ComputeRecord, state: 'active' | 'idle', now: number): ComputeRecord => ({
  ...compute,
  state,
  pendingState: compute.pendingState === state ? undefined : compute.pendingState,
  updatedAt: now,
  ...(state === 'idle' ? { suspendedAt: now } : { startedAt: now, lastActive: now }),
})

const withNothingPending = (compute: ComputeRecord, now: number): ComputeRecord => ({
  ...compute,
  pendingState: undefined,
  updatedAt: now,
})

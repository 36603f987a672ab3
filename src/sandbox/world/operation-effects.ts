/** Effects of operations: their work on the compute backend, and the records that change when they end. */
import type { BranchSource, ComputeSpec, Computes } from '../computes/computes.ts'
import type { BranchRecord, ComputeRecord, OperationRecord, WorldRecord } from './records.ts'
import type { Tables } from './tables.ts'

/** Starts the work of an operation on the compute backend; `undefined` if there is none. */
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
      // An idle compute is started for its new configuration; a suspension follows (public OpenAPI, update example).
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

/** Deletes the data of a project's branches. Their records remain, hidden from clients. */
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
      // If the compute should become idle again, the suspension that follows sets its state.
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

/** A primary that was started or configured has executed the branch's pending changes to roles and databases. */
const withoutChanges = (
  branch: BranchRecord | undefined,
  { type, branchId }: ComputeRecord,
): readonly BranchRecord[] => {
  if (branch?.changes === undefined || branch.id !== branchId || type !== 'read_write') return []
  return [{ ...branch, changes: undefined }]
}

/** For an operation that failed or was cancelled: its compute or branch stays as it is, with nothing pending. */
export const abandonOperation = (operation: OperationRecord, all: Tables, now: number): readonly WorldRecord[] => {
  const compute = all.compute(operation.computeId ?? '')
  if (compute !== undefined) return [withNothingPending(compute, now)]
  const branch = all.projects.get(operation.projectId)?.branches.get(operation.branchId)
  return branch?.state === 'resetting' ? [{ ...branch, state: 'ready', stateChangedAt: now, updatedAt: now }] : []
}

/** A state requested later stays pending. */
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

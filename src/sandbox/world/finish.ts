/** Effects of an operation on its compute, branch or project when it ends (docs/control-api.md). */
import type { BranchRecord, ComputeRecord, OperationRecord, WorldRecord } from './records.ts'
import type { Tables } from './tables.ts'

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
      return compute === undefined ? [] : [settle(compute, 'active', now), ...changed(branch, compute)]
    case 'suspend_compute':
      return compute === undefined ? [] : [settle(compute, 'idle', now)]
    case 'apply_config':
      // If the compute should become idle again, the suspension that follows sets its state.
      if (compute === undefined) return []
      if (compute.pendingState !== 'active') return changed(branch, compute)
      return [
        operation.restarts === true ? settle(compute, 'active', now) : withNothingPending(compute, now),
        ...changed(branch, compute),
      ]
    default:
      return []
  }
}

/** A primary that was started or configured has executed the branch's pending changes to roles and databases. */
const changed = (branch: BranchRecord | undefined, { type, branchId }: ComputeRecord): readonly BranchRecord[] => {
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

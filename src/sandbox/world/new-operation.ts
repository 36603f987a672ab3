/** Operations to start (docs/control-api.md). */
import type { BranchRecord, ComputeRecord, OperationRecord } from './records.ts'

export type NewOperation = Pick<OperationRecord, 'action' | 'branchId' | 'computeId' | 'restarts' | 'restore'>

export const operationOn = ({ branchId, id }: ComputeRecord, action: string): NewOperation => ({
  action,
  branchId,
  computeId: id,
})

/** An archived branch must be unarchived before it can be used. */
export const unarchive = (branch: BranchRecord | undefined): readonly NewOperation[] =>
  branch?.state === 'archived' ? [{ action: 'timeline_unarchive', branchId: branch.id }] : []

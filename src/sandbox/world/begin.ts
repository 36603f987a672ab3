/** Starts the work of an operation on the compute backend. */
import type { BranchSource, ComputeSpec, Computes } from '../computes/computes.ts'
import type { ComputeRecord, OperationRecord } from './records.ts'
import type { Tables } from './tables.ts'

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

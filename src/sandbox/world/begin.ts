/** What each operation asks of that which stands behind the computes, when it begins. */
import type { ComputeSpec, Computes } from '../computes/computes.ts'
import type { ComputeRecord, OperationRecord } from './records.ts'
import type { World } from './world.ts'

export const beginOperation = (
  operation: OperationRecord,
  world: World,
  computes: Computes,
  specOf: (compute: ComputeRecord) => ComputeSpec,
): Promise<void> | undefined => {
  const compute = world.tables.compute(operation.computeId ?? '')
  switch (operation.action) {
    case 'create_branch':
      return computes.addBranch(operation.branchId, parentOf(operation, world))
    case 'delete_timeline':
      return computes.removeBranch(operation.branchId)
    case 'start_compute':
      return compute === undefined ? undefined : computes.start(specOf(compute))
    case 'suspend_compute':
      return compute === undefined ? computes.forget(operation.computeId ?? '') : computes.stop(compute.id)
    case 'apply_config':
      if (compute === undefined) return undefined
      if (compute.state === 'active') {
        return operation.restarts === true ? computes.restart(specOf(compute)) : computes.configure(specOf(compute))
      }
      // It wakes for its new configuration; a suspension follows (public OpenAPI, update example).
      return computes.start(specOf(compute))
    default:
      return undefined
  }
}

const parentOf = ({ projectId, branchId }: OperationRecord, world: World): string | undefined =>
  world.tables.projects.get(projectId)?.branches.get(branchId)?.parentId

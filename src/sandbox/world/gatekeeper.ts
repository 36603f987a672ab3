/** Prepares computes for connections: starts a compute if it is idle, and makes clients wait while it is changing. */
import {
  CANNOT_CONNECT_NOW,
  type ComputeSpec,
  ConnectionError,
  type Gate,
  NO_SUCH_COMPUTE,
} from '../computes/computes.ts'
import { updateCatalog } from './catalog.ts'
import {
  type BranchRecord,
  type ComputeRecord,
  isOver,
  type OperationRecord,
  operationOn,
  unarchive,
} from './records.ts'
import { lastOperation, type ProjectTables } from './tables.ts'
import type { World } from './world.ts'

/** The minimum time, by the sandbox's clock, between two updates of `lastActive` by connections. */
const NOTE_EVERY_MS = 1_000

export const gatekeeper = (world: World, specOf: (compute: ComputeRecord) => ComputeSpec): Gate => {
  const waiting = new Map<string, Set<() => void>>()
  const resume = (computeId: string): void => {
    const clients = waiting.get(computeId)
    waiting.delete(computeId)
    for (const resumeClient of clients ?? []) resumeClient()
  }
  world.watch({
    compute: ({ id }) => resume(id),
    computeDeleted: ({ id }) => resume(id),
    branch: ({ id }) => {
      for (const computeId of waiting.keys()) if (world.tables.compute(computeId)?.branchId === id) resume(computeId)
    },
  })

  const change = (computeId: string): Promise<void> =>
    new Promise((resolve) => waiting.set(computeId, (waiting.get(computeId) ?? new Set()).add(resolve)))

  /**
   * Starts a compute even if its project is locked, because the control plane itself does this (docs/reference/control-api.md).
   */
  const wake = (compute: ComputeRecord, branch: BranchRecord | undefined): void =>
    void world.commit(
      compute.projectId,
      [{ ...compute, pendingState: 'active', updatedAt: world.clock.now() }],
      [...unarchive(branch), operationOn(compute, 'start_compute')],
    )

  const noteActivity = (compute: ComputeRecord): void => {
    const now = world.clock.now()
    if (compute.pendingState !== undefined || now - (compute.lastActive ?? 0) < NOTE_EVERY_MS) return
    world.commit(compute.projectId, [{ ...compute, lastActive: now }])
  }

  const projectOf = (computeId: string): ProjectTables | undefined => {
    const tables = world.tables.projects.get(world.tables.compute(computeId)?.projectId ?? '')
    return tables?.project.deletedAt === undefined ? tables : undefined
  }

  return {
    reach: async (computeId) => {
      /**
       * The last operation, if it ended before this client began to wait. Only a later operation can end the wait by
       * failing.
       */
      let known: string | undefined
      for (;;) {
        const tables = projectOf(computeId)
        const compute = tables?.computes.get(computeId)
        if (tables === undefined || compute === undefined) {
          throw new ConnectionError(NO_SUCH_COMPUTE, `The requested endpoint could not be found: ${computeId}`)
        }
        if (compute.disabled) {
          throw new ConnectionError(
            NO_SUCH_COMPUTE,
            `The endpoint ${computeId} is disabled: enable it through the API, then connect again`,
          )
        }
        const branch = tables.branches.get(compute.branchId)
        // While the branch's data is being replaced, its computes reject connections.
        const isResetting = branch?.state === 'resetting'
        if (!isResetting && compute.state === 'active' && compute.pendingState !== 'idle') {
          noteActivity(compute)
          return specOf(compute)
        }
        const last = lastOperation(tables, { computeId, branchId: compute.branchId })
        known ??= last !== undefined && isOver(last) ? last.id : 'none'
        if (!isResetting && compute.pendingState === undefined) {
          if (last !== undefined && last.id !== known && hasFailed(last)) {
            throw new ConnectionError(CANNOT_CONNECT_NOW, reasonOf(computeId, last, tables))
          }
          wake(compute, branch)
        }
        await change(computeId)
      }
    },
    found: (branchId, catalog) => updateCatalog(world, branchId, catalog),
    isKnown: (computeId) => projectOf(computeId) !== undefined,
  }
}

/** Why a compute could not be started. If the operation was cancelled, the operation that it waited for has failed. */
const reasonOf = (computeId: string, operation: OperationRecord, tables: ProjectTables): string => {
  let failed: OperationRecord | undefined = operation
  while (failed !== undefined && failed.error === undefined) failed = tables.operationById.get(failed.waitsFor ?? '')
  const why = failed?.error === undefined ? '' : `: ${failed.error}`
  return `The endpoint ${computeId} could not be started${why}`
}

const hasFailed = (operation: OperationRecord): boolean =>
  isOver(operation) && operation.status !== 'finished' && operation.status !== 'skipped'

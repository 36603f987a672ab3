/** Admits connections to computes: starts an idle one, and lets clients wait while a compute is changing. */
import {
  type ComputeSpec,
  ConnectionRefusal,
  type Gate,
  type LiveCatalog,
  NO_SUCH_COMPUTE,
} from '../computes/computes.ts'
import { operationOn, unarchive } from './new-operation.ts'
import { type BranchRecord, type ComputeRecord, isOver, type OperationRecord } from './records.ts'
import type { ProjectTables } from './tables.ts'
import { updateCatalog } from './update-catalog.ts'
import type { World } from './world.ts'

const CANNOT_START = '57P03'
/** Connections update `lastActive` at most this often, by the sandbox's clock. */
const NOTE_EVERY_MS = 1_000

export class Gatekeeper implements Gate {
  readonly #world: World
  readonly #specOf: (compute: ComputeRecord) => ComputeSpec
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(world: World, specOf: (compute: ComputeRecord) => ComputeSpec) {
    this.#world = world
    this.#specOf = specOf
    world.watch({
      compute: ({ id }) => this.#changed(id),
      computeDeleted: ({ id }) => this.#changed(id),
      branch: ({ id }) => {
        for (const waiting of this.#waiting.keys()) {
          if (world.tables.compute(waiting)?.branchId === id) this.#changed(waiting)
        }
      },
    })
  }

  #changed(computeId: string): void {
    const waiting = this.#waiting.get(computeId)
    this.#waiting.delete(computeId)
    for (const resume of waiting ?? []) resume()
  }

  async reach(computeId: string): Promise<ComputeSpec> {
    /** The last operation from before this client waited. If it failed, the compute is started again. */
    let known: string | undefined
    for (;;) {
      const compute = this.#world.tables.compute(computeId)
      if (compute === undefined || this.#isDeleted(compute)) {
        throw new ConnectionRefusal(NO_SUCH_COMPUTE, `The requested endpoint could not be found: ${computeId}`)
      }
      if (compute.disabled) {
        throw new ConnectionRefusal(
          NO_SUCH_COMPUTE,
          `The endpoint ${computeId} is disabled: enable it through the API, then connect again`,
        )
      }
      // While the branch's data is being replaced, its computes reject connections.
      const isResetting = this.#branchOf(compute)?.state === 'resetting'
      if (!isResetting && compute.state === 'active' && compute.pendingState !== 'idle') {
        this.#noteActivity(compute)
        return this.#specOf(compute)
      }
      const last = this.#lastOperation(computeId)
      known ??= last !== undefined && isOver(last) ? last.id : 'none'
      if (!isResetting && compute.pendingState === undefined) {
        if (last !== undefined && last.id !== known && hasFailed(last)) {
          throw new ConnectionRefusal(CANNOT_START, this.#reason(computeId, last))
        }
        this.#wake(compute)
      }
      await this.#change(computeId)
    }
  }

  found(branchId: string, catalog: LiveCatalog): void {
    updateCatalog(this.#world, branchId, catalog)
  }

  isKnown(computeId: string): boolean {
    return this.#world.tables.compute(computeId) !== undefined
  }

  #branchOf({ projectId, branchId }: ComputeRecord): BranchRecord | undefined {
    return this.#world.tables.projects.get(projectId)?.branches.get(branchId)
  }

  #isDeleted({ projectId }: ComputeRecord): boolean {
    return this.#world.tables.projects.get(projectId)?.project.deletedAt !== undefined
  }

  /** Ignores the project's lock: the control plane itself starts the compute (docs/control-api.md). */
  #wake(compute: ComputeRecord): void {
    const world = this.#world
    world.commit(
      compute.projectId,
      [{ ...compute, pendingState: 'active', updatedAt: world.clock.now() }],
      [...unarchive(this.#branchOf(compute)), operationOn(compute, 'start_compute')],
    )
  }

  #noteActivity(compute: ComputeRecord): void {
    const now = this.#world.clock.now()
    if (compute.pendingState !== undefined || now - (compute.lastActive ?? 0) < NOTE_EVERY_MS) return
    this.#world.commit(compute.projectId, [{ ...compute, lastActive: now }])
  }

  #change(computeId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(computeId) ?? new Set()
      waiting.add(resolve)
      this.#waiting.set(computeId, waiting)
    })
  }

  #lastOperation(computeId: string): OperationRecord | undefined {
    const tables = this.#tablesOf(computeId)
    const last = tables?.operations.findLast(({ id }) => tables.operationById.get(id)?.computeId === computeId)
    return tables?.operationById.get(last?.id ?? '')
  }

  #tablesOf(computeId: string): ProjectTables | undefined {
    return this.#world.tables.projects.get(this.#world.tables.compute(computeId)?.projectId ?? '')
  }

  /** If the operation was cancelled, the reason is the failure of the one that it waited for. */
  #reason(computeId: string, operation: OperationRecord): string {
    const operations = this.#tablesOf(computeId)?.operationById
    let failed: OperationRecord | undefined = operation
    while (failed !== undefined && failed.error === undefined) failed = operations?.get(failed.waitsFor ?? '')
    const why = failed?.error === undefined ? '' : `: ${failed.error}`
    return `The endpoint ${computeId} could not be started${why}`
  }
}

const hasFailed = (operation: OperationRecord): boolean =>
  isOver(operation) && operation.status !== 'finished' && operation.status !== 'skipped'

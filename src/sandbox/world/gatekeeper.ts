/** Lets connections in: wakes an idle compute, however many ask at once, and has them wait while it changes. */
import {
  type ComputeSpec,
  ConnectionRefusal,
  type FoundCatalog,
  type Gate,
  NO_SUCH_COMPUTE,
} from '../computes/computes.ts'
import { unarchive } from './branch-commands.ts'
import { noteCatalog } from './note-catalog.ts'
import type { ComputeRecord } from './records.ts'
import type { World } from './world.ts'

const CANNOT_START = '57P03'
/** How often at most a connection is written down as activity, in milliseconds of the sandbox's time. */
const NOTE_EVERY_MS = 1_000

export class Gatekeeper implements Gate {
  readonly #world: World
  readonly #specOf: (compute: ComputeRecord) => ComputeSpec
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(world: World, specOf: (compute: ComputeRecord) => ComputeSpec) {
    this.#world = world
    this.#specOf = specOf
    world.watch({ compute: ({ id }) => this.#changed(id), computeGone: ({ id }) => this.#changed(id) })
  }

  #changed(computeId: string): void {
    const waiting = this.#waiting.get(computeId)
    this.#waiting.delete(computeId)
    for (const go of waiting ?? []) go()
  }

  async reach(computeId: string): Promise<ComputeSpec> {
    for (let waited = false; ; waited = true) {
      const compute = this.#world.tables.compute(computeId)
      if (compute === undefined) {
        throw new ConnectionRefusal(NO_SUCH_COMPUTE, `The requested endpoint could not be found: ${computeId}`)
      }
      if (compute.disabled) {
        throw new ConnectionRefusal(
          NO_SUCH_COMPUTE,
          `The endpoint ${computeId} is disabled: enable it through the API and connect again`,
        )
      }
      if (compute.state === 'active' && compute.pendingState !== 'idle') {
        this.#note(compute)
        return this.#specOf(compute)
      }
      if (compute.pendingState === undefined) {
        if (waited) throw new ConnectionRefusal(CANNOT_START, reasonOf(this.#world, compute))
        this.#wake(compute)
      }
      await this.#change(computeId)
    }
  }

  found(branchId: string, catalog: FoundCatalog): void {
    noteCatalog(this.#world, branchId, catalog)
  }

  /** The control plane's own doing: no lock holds it up (spec 2.1.1). */
  #wake(compute: ComputeRecord): void {
    const world = this.#world
    const branch = world.tables.projects.get(compute.projectId)?.branches.get(compute.branchId)
    world.commit(
      compute.projectId,
      [{ ...compute, pendingState: 'active', updatedAt: world.clock.now() }],
      [...unarchive(branch), { action: 'start_compute', branchId: compute.branchId, computeId: compute.id }],
    )
  }

  #note(compute: ComputeRecord): void {
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
}

const reasonOf = (world: World, { id, projectId }: ComputeRecord): string => {
  const tables = world.tables.projects.get(projectId)
  const last = tables?.operations.findLast((operation) => tables.operationById.get(operation.id)?.computeId === id)
  const error = tables?.operationById.get(last?.id ?? '')?.error
  return `The endpoint ${id} could not be started${error === undefined ? '' : `: ${error}`}`
}

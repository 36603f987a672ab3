/** Suspends what nobody uses (spec 3.2): the compute's own timer, on the sandbox's clock. */
import { SCALE_TO_ZERO_DEFAULT_SECONDS, SCALE_TO_ZERO_NEVER, SIZE_TABLE } from '../../model/index.ts'
import type { ComputeRecord } from './records.ts'
import type { World } from './world.ts'

/** How soon to look again where an operation stands in the way. */
const BUSY_MS = 1_000

export class ScaleToZero {
  readonly #timers = new Map<string, () => void>()

  /** To be told of each change of a compute. */
  watch(compute: ComputeRecord, world: World): void {
    this.#timers.get(compute.id)?.()
    this.#timers.delete(compute.id)
    const due = dueTime(compute)
    if (due !== undefined)
      this.#timers.set(
        compute.id,
        world.at(due, () => this.#suspend(compute, world)),
      )
  }

  #suspend({ projectId, id }: ComputeRecord, world: World): void {
    const tables = world.tables.projects.get(projectId)
    const compute = tables?.computes.get(id)
    if (tables === undefined || compute === undefined || dueTime(compute) === undefined) return
    if (tables.unfinished.size > 0) {
      this.#timers.set(
        id,
        world.at(world.clock.now() + BUSY_MS, () => this.#suspend(compute, world)),
      )
      return
    }
    world.commit(
      projectId,
      [{ ...compute, pendingState: 'idle', updatedAt: world.clock.now() }],
      [{ action: 'suspend_compute', branchId: compute.branchId, computeId: id }],
    )
  }
}

const dueTime = (compute: ComputeRecord): number | undefined => {
  const { state, pendingState, suspendTimeoutSeconds: seconds, lastActive, max } = compute
  if (state !== 'active' || pendingState !== undefined || lastActive === undefined) return undefined
  if (seconds === SCALE_TO_ZERO_NEVER || max > SIZE_TABLE.scaleToZeroMaxCu) return undefined
  return lastActive + (seconds === 0 ? SCALE_TO_ZERO_DEFAULT_SECONDS : seconds) * 1_000
}

/** Suspends computes that have been unused for their timeout (docs/control-api.md), by the sandbox's clock. */
import { SCALE_TO_ZERO_DEFAULT_SECONDS, SCALE_TO_ZERO_NEVER, SIZE_TABLE } from '../../model/index.ts'
import type { Activity } from '../computes/computes.ts'
import { operationOn } from './new-operation.ts'
import type { ComputeRecord } from './records.ts'
import { Timers } from './timers.ts'
import type { World } from './world.ts'

/** Delay before the next check while an operation runs. */
const BUSY_MS = 1_000

export class ScaleToZero {
  readonly #world: World
  readonly #activityOf: (computeId: string) => Promise<Activity> | undefined
  readonly #timers: Timers

  /** @param activityOf returns what clients do with a compute, or `undefined` if the backend cannot tell. */
  constructor(world: World, activityOf: (computeId: string) => Promise<Activity> | undefined) {
    this.#world = world
    this.#activityOf = activityOf
    this.#timers = new Timers(world)
    world.watch({ compute: (compute) => this.#watch(compute), computeDeleted: ({ id }) => this.#timers.cancel(id) })
  }

  #watch(compute: ComputeRecord): void {
    const due = dueTime(compute)
    if (due === undefined) this.#timers.cancel(compute.id)
    else this.#checkAt(compute.id, due)
  }

  #checkAt(id: string, time: number): void {
    this.#timers.set(id, time, () => this.#check(id))
  }

  #check(id: string): void {
    const compute = this.#world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const activity = this.#activityOf(id)
    if (activity === undefined) this.#suspend(compute)
    // No answer: the compute is stopping, or busy.
    const retry = (): void => this.#checkAt(id, this.#world.clock.now() + BUSY_MS)
    void activity?.then((seen) => this.#judge(id, seen), retry)
  }

  /** Suspends the compute, or restarts the timeout at the last use. */
  #judge(id: string, { busy, lastUse: moment }: Activity): void {
    const compute = this.#world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const now = this.#world.clock.now()
    const lastUse = busy ? now : this.#world.clock.when(moment)
    const isUsed = lastUse > (compute.lastActive ?? 0)
    const used = isUsed ? { ...compute, lastActive: lastUse } : compute
    if (!isUsed || (dueTime(used) ?? 0) <= now) this.#suspend(used)
    else this.#world.commit(compute.projectId, [used])
  }

  #suspend(compute: ComputeRecord): void {
    const { id, projectId } = compute
    const now = this.#world.clock.now()
    const isBusy = (this.#world.tables.projects.get(projectId)?.unfinished.size ?? 0) > 0
    if ((dueTime(compute) ?? now) > now) this.#watch(compute)
    else if (isBusy) this.#checkAt(id, now + BUSY_MS)
    else {
      const suspended: ComputeRecord = { ...compute, pendingState: 'idle', updatedAt: now }
      this.#world.commit(projectId, [suspended], [operationOn(compute, 'suspend_compute')])
    }
  }
}

const dueTime = (compute: ComputeRecord): number | undefined => {
  const { state, pendingState, suspendTimeoutSeconds: seconds, lastActive, max } = compute
  if (state !== 'active' || pendingState !== undefined || lastActive === undefined) return undefined
  if (seconds === SCALE_TO_ZERO_NEVER || max > SIZE_TABLE.scaleToZeroMaxCu) return undefined
  return lastActive + (seconds === 0 ? SCALE_TO_ZERO_DEFAULT_SECONDS : seconds) * 1_000
}

/** Suspends what nobody uses (docs/control-api.md): the compute's own timer, on the sandbox's clock. */
import { SCALE_TO_ZERO_DEFAULT_SECONDS, SCALE_TO_ZERO_NEVER, SIZE_TABLE } from '../../model/index.ts'
import type { Activity } from '../computes/computes.ts'
import type { ComputeRecord } from './records.ts'
import type { World } from './world.ts'

/** How soon to check again while an operation runs. */
const BUSY_MS = 1_000

export class ScaleToZero {
  readonly #world: World
  readonly #activityOf: (computeId: string) => Promise<Activity> | undefined
  readonly #timers = new Map<string, () => void>()

  /** @param activityOf what its clients do; `undefined` if nobody can know. */
  constructor(world: World, activityOf: (computeId: string) => Promise<Activity> | undefined) {
    this.#world = world
    this.#activityOf = activityOf
    world.watch({ compute: (compute) => this.#watch(compute), computeGone: ({ id }) => this.#forget(id) })
  }

  #watch(compute: ComputeRecord): void {
    this.#forget(compute.id)
    const due = dueTime(compute)
    if (due !== undefined) this.#set(compute.id, due)
  }

  #forget(computeId: string): void {
    this.#timers.get(computeId)?.()
    this.#timers.delete(computeId)
  }

  #set(id: string, time: number): void {
    this.#timers.set(
      id,
      this.#world.at(time, () => this.#check(id)),
    )
  }

  #check(id: string): void {
    const compute = this.#world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const activity = this.#activityOf(id)
    if (activity === undefined) {
      this.#suspend(compute)
      return
    }
    void activity.then(
      (seen) => this.#judge(id, seen),
      // It did not answer: it is about to stop, or it is busy.
      () => this.#set(id, this.#world.clock.now() + BUSY_MS),
    )
  }

  /** What clients did since counts from then on. */
  #judge(id: string, { busy, lastUse: moment }: Activity): void {
    const compute = this.#world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const now = this.#world.clock.now()
    const lastUse = busy ? now : this.#world.clock.when(moment)
    if (lastUse <= (compute.lastActive ?? 0)) {
      this.#suspend(compute)
      return
    }
    const used = { ...compute, lastActive: lastUse }
    if ((dueTime(used) ?? 0) <= now) {
      this.#suspend(used)
      return
    }
    this.#world.commit(compute.projectId, [used])
  }

  #suspend(compute: ComputeRecord): void {
    const { id, projectId, branchId } = compute
    const now = this.#world.clock.now()
    if ((dueTime(compute) ?? now) > now) {
      this.#watch(compute)
      return
    }
    if ((this.#world.tables.projects.get(projectId)?.unfinished.size ?? 0) > 0) {
      this.#set(id, now + BUSY_MS)
      return
    }
    this.#world.commit(
      projectId,
      [{ ...compute, pendingState: 'idle', updatedAt: now }],
      [{ action: 'suspend_compute', branchId, computeId: id }],
    )
  }
}

const dueTime = (compute: ComputeRecord): number | undefined => {
  const { state, pendingState, suspendTimeoutSeconds: seconds, lastActive, max } = compute
  if (state !== 'active' || pendingState !== undefined || lastActive === undefined) return undefined
  if (seconds === SCALE_TO_ZERO_NEVER || max > SIZE_TABLE.scaleToZeroMaxCu) return undefined
  return lastActive + (seconds === 0 ? SCALE_TO_ZERO_DEFAULT_SECONDS : seconds) * 1_000
}

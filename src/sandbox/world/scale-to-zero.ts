/**
 * Suspends computes that have not been used for their scale-to-zero time (docs/control-api.md), on the sandbox's clock.
 */
import { SCALE_TO_ZERO_DEFAULT_SECONDS, SCALE_TO_ZERO_NEVER, SIZE_TABLE } from '../../model/index.ts'
import type { Activity } from '../computes/computes.ts'
import { type ComputeRecord, operationOn } from './records.ts'
import { Timers } from './timers.ts'
import type { World } from './world.ts'

/** The delay before the next check if an operation is running. */
const BUSY_MS = 1_000

/** @param activityOf returns the activity of a compute's clients, or `undefined` if the backend cannot tell. */
export const scaleToZero = (world: World, activityOf: (computeId: string) => Promise<Activity> | undefined): void => {
  const timers = new Timers(world)

  const watch = (compute: ComputeRecord): void => {
    const due = dueTime(compute)
    if (due === undefined) timers.cancel(compute.id)
    else checkAt(compute.id, due)
  }

  const checkAt = (id: string, time: number): void => timers.set(id, time, () => check(id))

  const check = (id: string): void => {
    const compute = world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const activity = activityOf(id)
    if (activity === undefined) suspend(compute)
    // If the compute does not respond, it is stopping or busy, so check again later.
    const retry = (): void => checkAt(id, world.clock.now() + BUSY_MS)
    void activity?.then((seen) => judge(id, seen), retry)
  }

  /** Suspends the compute or, if it was used in the meantime, waits until its timeout has passed since its last use. */
  const judge = (id: string, { busy, lastUse: moment }: Activity): void => {
    const compute = world.tables.compute(id)
    if (compute === undefined || dueTime(compute) === undefined) return
    const now = world.clock.now()
    const lastUse = busy ? now : world.clock.when(moment)
    const isUsed = lastUse > (compute.lastActive ?? 0)
    const used = isUsed ? { ...compute, lastActive: lastUse } : compute
    if (!isUsed || (dueTime(used) ?? 0) <= now) suspend(used)
    else world.commit(compute.projectId, [used])
  }

  const suspend = (compute: ComputeRecord): void => {
    const { id, projectId } = compute
    const now = world.clock.now()
    const isBusy = (world.tables.projects.get(projectId)?.unfinished.size ?? 0) > 0
    if ((dueTime(compute) ?? now) > now) watch(compute)
    else if (isBusy) checkAt(id, now + BUSY_MS)
    else {
      const suspended: ComputeRecord = { ...compute, pendingState: 'idle', updatedAt: now }
      world.commit(projectId, [suspended], [operationOn(compute, 'suspend_compute')])
    }
  }

  world.watch({ compute: watch, computeDeleted: ({ id }) => timers.cancel(id) })
}

const dueTime = (compute: ComputeRecord): number | undefined => {
  const { state, pendingState, suspendTimeoutSeconds: seconds, lastActive, max } = compute
  if (state !== 'active' || pendingState !== undefined || lastActive === undefined) return undefined
  if (seconds === SCALE_TO_ZERO_NEVER || max > SIZE_TABLE.scaleToZeroMaxCu) return undefined
  return lastActive + (seconds === 0 ? SCALE_TO_ZERO_DEFAULT_SECONDS : seconds) * 1_000
}

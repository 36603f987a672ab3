/** Restarts by the service for maintenance, and how they relate to the restarts in a plan. */
import { parseTime } from '../base/index.ts'
import { neverSleeps, type ObservedCompute } from '../model/index.ts'

const DAY_MS = 86_400_000
/** An update restarts only computes that have been active for at least this long. */
const UPDATE_AFTER_DAYS = 30

/** Whether an update restarts the compute: only if it has been active for 30 days without interruption. */
export const updateRestarts = (compute: ObservedCompute, due: number): 'yes' | 'maybe' | 'no' => {
  if (compute.state !== 'active') return 'no'
  const since = parseTime(compute.startedAt)
  if (since === undefined) return 'maybe'
  if (due - since < UPDATE_AFTER_DAYS * DAY_MS) return 'no'
  return neverSleeps(compute.attributes) ? 'yes' : 'maybe'
}

/** How a restart in the plan relates to a restart by the service. */
export type Meeting = 'takes-update' | 'restarts-twice' | 'same-time'

/**
 * Any restart applies the update, so if the step runs first, the service has nothing left to do.
 *
 * @param opens when the step can run: now, or when its windows open.
 */
export const meetingOf = (opens: number, due: number): Meeting =>
  opens === due ? 'same-time' : opens < due ? 'takes-update' : 'restarts-twice'

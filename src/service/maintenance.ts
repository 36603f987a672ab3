/** Restarts by the service for maintenance, and how they relate to the restarts in a plan. */
import { type ObservedCompute, SCALE_TO_ZERO_NEVER } from '../model/index.ts'

const DAY_MS = 86_400_000
/** An update restarts only computes that have been active for at least this long. */
const UPDATE_AFTER_DAYS = 30

/** Whether an update restarts the compute: only if it has been active for 30 days without interruption. */
export const updateRestarts = (compute: ObservedCompute, due: number): 'yes' | 'maybe' | 'no' => {
  if (compute.state !== 'active') return 'no'
  const since = compute.startedAt === undefined ? Number.NaN : Date.parse(compute.startedAt)
  if (Number.isNaN(since)) return 'maybe'
  if (due - since < UPDATE_AFTER_DAYS * DAY_MS) return 'no'
  return compute.attributes.scaleToZero === SCALE_TO_ZERO_NEVER ? 'yes' : 'maybe'
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

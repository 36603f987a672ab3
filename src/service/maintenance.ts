/** Restarts by the service for maintenance, and how they relate to the restarts in a plan. */
import { type ObservedCompute, type ProjectSettings, SCALE_TO_ZERO_NEVER } from '../model/index.ts'

const DAY_MS = 86_400_000
/** An update restarts only computes that have been active for at least this long. */
const UPDATE_AFTER_DAYS = 30

/** When the next service update is due, in milliseconds since the epoch. Ignores one that is over a day overdue. */
export const updateDue = (settings: ProjectSettings | undefined, now: number): number | undefined => {
  const due = settings?.maintenanceScheduledFor === undefined ? Number.NaN : parseUtc(settings.maintenanceScheduledFor)
  return Number.isNaN(due) || due < now - DAY_MS ? undefined : due
}

/** The service may return times without a zone, which are then in UTC. */
const parseUtc = (text: string): number => Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`)

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

/** Restarts that the service plans by itself, and how a plan's restarts fall together with them. */
import { type ObservedCompute, type ProjectSettings, SCALE_TO_ZERO_NEVER } from '../model/index.ts'

const DAY_MS = 86_400_000
/** Only computes that have been active this long are restarted for an update. */
const UPDATE_AFTER_DAYS = 30

/** The service update to come, milliseconds since the epoch; one that was due a day ago no longer counts. */
export const updateDue = (settings: ProjectSettings | undefined, now: number): number | undefined => {
  const due = settings?.maintenanceScheduledFor === undefined ? Number.NaN : parseUtc(settings.maintenanceScheduledFor)
  return Number.isNaN(due) || due < now - DAY_MS ? undefined : due
}

/** The service shows times without a zone, which are UTC. */
const parseUtc = (text: string): number => Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`)

/** Whether an update restarts the compute: it must have been active for 30 days without a pause. */
export const updateRestarts = (compute: ObservedCompute, due: number): 'yes' | 'maybe' | 'no' => {
  if (compute.state !== 'active') return 'no'
  const since = compute.startedAt === undefined ? Number.NaN : Date.parse(compute.startedAt)
  if (Number.isNaN(since)) return 'maybe'
  if (due - since < UPDATE_AFTER_DAYS * DAY_MS) return 'no'
  return compute.attributes.scaleToZero === SCALE_TO_ZERO_NEVER ? 'yes' : 'maybe'
}

/** How a restart of the plan and the service's meet. */
export type Meeting = 'takes-update' | 'restarts-twice' | 'same-time'

/**
 * Any restart takes the update, so one that comes first leaves nothing to do.
 *
 * @param opens when the step can run: now, or when its windows open.
 */
export const meetingOf = (opens: number, due: number): Meeting =>
  opens === due ? 'same-time' : opens < due ? 'takes-update' : 'restarts-twice'

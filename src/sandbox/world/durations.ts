/**
 * How long operations take, in milliseconds. The service does not document its durations. These are long enough for a
 * user to follow what happens.
 */
export type Durations = Readonly<Record<string, number>>

export const DURATIONS: Durations = {
  start_compute: 700,
  suspend_compute: 400,
  apply_config: 1_500,
  create_branch: 1_000,
  delete_timeline: 600,
  create_timeline: 1_000,
  timeline_unarchive: 1_000,
}

/** The operations that take only as long as the work of Postgres if computes are real. */
const WORK = ['start_compute', 'suspend_compute', 'apply_config', 'create_branch', 'create_timeline', 'delete_timeline']
export const WORK_DURATIONS: Durations = Object.fromEntries(WORK.map((action) => [action, 0]))

const OTHER_MS = 500
/** By what fraction durations may be shorter or longer by default. */
const SPREAD = 0.1
const GOLDEN_RATIO = 0.618_033_988_749_895

/**
 * The duration of an operation. It varies from one operation to the next, but the same history always results in the
 * same durations.
 *
 * @param ordinal the index of the operation in its project. It is multiplied by the golden ratio, because the multiples
 *   are spread evenly over the range.
 */
export const durationOf = (action: string, ordinal: number, durations: Durations, spread = SPREAD): number => {
  const place = (ordinal * GOLDEN_RATIO) % 1
  return Math.round((durations[action] ?? OTHER_MS) * (1 + spread * (2 * place - 1)))
}

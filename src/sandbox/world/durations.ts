/** How long operations take: the spec gives no durations, these are chosen for a person to follow. Milliseconds. */
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

/** Where real work is behind these, they take as long as that takes. */
export const WORK_DURATIONS: Durations = {
  start_compute: 0,
  suspend_compute: 0,
  apply_config: 0,
  create_branch: 0,
  create_timeline: 0,
  delete_timeline: 0,
}
const OTHER_MS = 500
/** To either side, as a share, where nothing else is asked for. */
const SPREAD = 0.1
const GOLDEN_RATIO = 0.618_033_988_749_895

/**
 * @param ordinal which operation of its project it is. The same history takes the same time, and two like operations in
 *   a row do not: steps of the golden ratio spread evenly.
 */
export const durationOf = (action: string, ordinal: number, durations: Durations, spread = SPREAD): number => {
  const place = (ordinal * GOLDEN_RATIO) % 1
  return Math.round((durations[action] ?? OTHER_MS) * (1 + spread * (2 * place - 1)))
}

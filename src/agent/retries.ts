/** When to retry, and when to stop. Times are in milliseconds since the epoch. */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

const FIRST_WAIT = 30 * SECOND
const LONGEST_WAIT = 15 * MINUTE

/** @param failures consecutive, at least one. Reset by a commit that changes the project, a window or `reconcile`. */
export const waitAfter = (failures: number): number => Math.min(FIRST_WAIT * 2 ** (failures - 1), LONGEST_WAIT)

export interface Revert {
  readonly at: number
  readonly key: string
  readonly want: string | null
}

/** Reverts in the last 7 days to the same declared value, which count as a conflict. */
export const countReverts = (reverts: readonly Revert[], key: string, want: string | null, now: number): number =>
  reverts.filter((revert) => revert.key === key && revert.want === want && revert.at > now - 7 * DAY).length

export interface Refusal {
  readonly key: string
  readonly want: string | null
  readonly live: string | null
  readonly why: 'not-effective' | 'rejected'
}

/** A new branch rejects changes for a while, so rejections count only from the third one on. */
const REJECTIONS = 3

export const wasRefused = (refusals: readonly Refusal[], { key, want, live }: Omit<Refusal, 'why'>): boolean => {
  const same = refusals.filter((one) => one.key === key && one.want === want && one.live === live)
  return same.some(({ why }) => why === 'not-effective') || same.length >= REJECTIONS
}

/** When a difference was seen in its current form. */
export interface Sighting {
  readonly firstSeenAt: number
  readonly refreshedAt: number
  readonly fetchedAt: number
  readonly isChanging: boolean
}

/** Prevents reporting a stale list, a running change or an apply after a merge as drift. */
export const isConfirmed = ({ firstSeenAt, refreshedAt, fetchedAt, isChanging }: Sighting): boolean =>
  !isChanging && refreshedAt - firstSeenAt >= MINUTE && fetchedAt > firstSeenAt && fetchedAt <= refreshedAt

/** When something is tried again, and when it is not. Times are milliseconds since the epoch. */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

const FIRST_WAIT = 30 * SECOND
const LONGEST_WAIT = 15 * MINUTE

/** @param failures in a row, at least one. A commit that changes the project, a window or `reconcile` resets them. */
export const waitAfter = (failures: number): number => Math.min(FIRST_WAIT * 2 ** (failures - 1), LONGEST_WAIT)

const INTERRUPTIONS_A_DAY = 3

/** So that a value that the service ignores never restarts a database all day. @param attempts when it was tried before. */
export const mayInterrupt = (attempts: readonly number[], now: number): boolean =>
  attempts.filter((at) => at > now - DAY).length < INTERRUPTIONS_A_DAY

export interface Revert {
  readonly at: number
  readonly key: string
  readonly want: string | null
}

/** Reverts that still count towards a conflict: of the last 7 days, to the same declared value. */
export const countReverts = (reverts: readonly Revert[], key: string, want: string | null, now: number): number =>
  reverts.filter((revert) => revert.key === key && revert.want === want && revert.at > now - 7 * DAY).length

export interface Refusal {
  readonly key: string
  readonly want: string | null
  readonly live: string | null
  readonly why: 'not-effective' | 'rejected'
}

/** A new branch rejects changes for a while, so a rejection counts from the third on. */
const REJECTIONS = 3

export const wasRefused = (refusals: readonly Refusal[], { key, want, live }: Omit<Refusal, 'why'>): boolean => {
  const same = refusals.filter((one) => one.key === key && one.want === want && one.live === live)
  return same.some(({ why }) => why === 'not-effective') || same.length >= REJECTIONS
}

/** What was seen of a difference from the moment on at which it was first seen as it is now. */
export interface Sighting {
  readonly firstSeenAt: number
  readonly refreshedAt: number
  readonly fetchedAt: number
  readonly isChanging: boolean
}

/** Keeps a list that lags, a running change and an apply after a merge from being reported as drift. */
export const isConfirmed = ({ firstSeenAt, refreshedAt, fetchedAt, isChanging }: Sighting): boolean =>
  !isChanging && refreshedAt - firstSeenAt >= MINUTE && fetchedAt > firstSeenAt && fetchedAt <= refreshedAt

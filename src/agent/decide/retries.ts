/** Decides when to retry, and when to stop retrying. Times are in milliseconds since the epoch. */
import type { AgentStatus, Step } from '../../model/index.ts'
import type { ProjectFile } from '../data-folder.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

const FIRST_WAIT = 30 * SECOND
const LONGEST_WAIT = 15 * MINUTE

/**
 * How long to wait before the next attempt.
 *
 * @param failures the number of consecutive failures, at least one. A commit that changes the project, a window that
 *   opens, and the command `reconcile` reset it.
 */
export const waitAfter = (failures: number): number => Math.min(FIRST_WAIT * 2 ** (failures - 1), LONGEST_WAIT)

/** A time that is further away than any wait means that the clock was set back since. */
export const mayRetry = ({ retryAt }: Pick<ProjectFile, 'retryAt'>, now: number): boolean =>
  retryAt === undefined || now >= retryAt || retryAt > now + LONGEST_WAIT

/** The consecutive rounds that could not read a project. */
export interface Unread {
  /** When the first of them began. */
  readonly since: number
  /** When the last of them began. */
  readonly at: number
  readonly rounds: number
}

/**
 * The state of a project after a round that could not read it. A single failure leaves the state as it is for a minute,
 * because the service often responds again a moment later.
 *
 * @param shown the state before, if the project was read since the agent started.
 */
export const afterFailedRead = (
  httpStatus: number | undefined,
  { since, rounds }: Unread,
  now: number,
  shown: AgentStatus | undefined,
): AgentStatus => {
  if (rounds === 1 && now - since < MINUTE && shown?.state !== 'Progressing') return shown ?? { state: 'Unknown' }
  return { state: 'Failing', reason: httpStatus === 401 || httpStatus === 403 ? 'KeyRefused' : 'Unreachable' }
}

export type Revert = ProjectFile['reverts'][number]

/** Counts how often drift was reverted to the same declared value in the last 7 days. Too many are a conflict. */
export const countReverts = (reverts: readonly Revert[], key: string, want: string | null, now: number): number =>
  reverts.filter((revert) => revert.key === key && revert.want === want && revert.at > now - 7 * DAY).length

export type Refusal = ProjectFile['refusals'][number]

/** A new branch rejects changes for a while, so only the third rejection counts as permanent. */
const REJECTIONS = 3

export const wasRefused = (refusals: readonly Refusal[], { key, want, live }: Omit<Refusal, 'why'>): boolean => {
  const same = refusals.filter((one) => one.key === key && one.want === want && one.live === live)
  return same.some(({ why }) => why === 'not-effective') || same.length >= REJECTIONS
}

export type Sighting = ProjectFile['sightings'][string]

/** Makes sure that a stale list, a change in progress or an apply right after a merge is not reported as drift. */
export const isConfirmed = ({ firstSeenAt, refreshedAt, fetchedAt, isChanging }: Sighting): boolean =>
  !isChanging && refreshedAt - firstSeenAt >= MINUTE && fetchedAt > firstSeenAt && fetchedAt <= refreshedAt

/** Identifies the compute of a step among the attempts. */
export const subjectOf = ({ compute, change }: Step): string => compute.id ?? change

const INTERRUPTIONS_A_DAY = 3

/** Limits the restarts of a compute. Otherwise, a value that the service ignores would cause restarts all day. */
export const mayInterrupt = ({ attempts }: Pick<ProjectFile, 'attempts'>, step: Step, now: number): boolean =>
  attempts.filter((one) => one.interrupts && one.compute === subjectOf(step) && one.at > now - DAY).length <
  INTERRUPTIONS_A_DAY

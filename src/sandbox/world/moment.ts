/** A moment in a branch's past, by time or by position in its write-ahead log. */

import type { BranchRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import { retentionOf } from './retention.ts'
import type { World } from './world.ts'

export interface MomentRequest {
  readonly timestamp?: string | undefined
  readonly lsn?: string | undefined
}

/**
 * Milliseconds since the epoch; now, where the request names no moment.
 *
 * A simulated compute has no data, so any moment of its kept history can be had. Real data is kept as it is now and not
 * as it was: a moment in the past is refused, and never taken for now.
 *
 * @param prefix of the request's two fields: `parent` or `source`.
 * @throws {Refusal} 400 if it is not a moment of the branch's history, 422 if no history is kept.
 */
export const momentOf = (
  world: World,
  branch: BranchRecord,
  { timestamp, lsn }: MomentRequest,
  prefix: string,
): number => {
  const now = world.clock.now()
  if (timestamp === undefined && lsn === undefined) return now
  if (timestamp !== undefined && lsn !== undefined) {
    throw new Refusal(400, `${prefix}_timestamp and ${prefix}_lsn exclude each other: name one`)
  }
  const field = lsn === undefined ? `${prefix}_timestamp` : `${prefix}_lsn`
  const time = lsn === undefined ? Date.parse(timestamp ?? '') : timeOfLsn(lsn)
  if (Number.isNaN(time)) throw new Refusal(400, `${field}: not a moment`)
  if (!world.keepsHistory) {
    throw new Refusal(
      422,
      `${field}: not available in the sandbox with real computes, which keep no history: leave it out for the present state`,
      'HISTORY_NOT_KEPT',
    )
  }
  const { project } = world.project(branch.projectId)
  const earliest = earliestMoment(branch, project, now)
  if (time > now || time < earliest) {
    throw new Refusal(
      400,
      `${field}: outside of the history that is kept, ${new Date(earliest).toISOString()} to ${new Date(now).toISOString()}`,
    )
  }
  return Math.max(time, branch.createdAt)
}

const earliestMoment = ({ createdAt }: BranchRecord, project: ProjectRecord, now: number): number =>
  // Clients name moments to the second: the one in which the branch was made counts whole.
  Math.max(Math.floor(createdAt / 1_000) * 1_000, now - retentionOf(project) * 1_000)

/**
 * Simulated computes write no log. Their positions in it are the milliseconds since the epoch, so that a position and a
 * time name the same moment, and later moments have higher positions.
 */
export const lsnOf = (time: number): string => {
  const position = BigInt(Math.round(time))
  return `${(position >> 32n).toString(16)}/${(position & 0xffff_ffffn).toString(16)}`.toUpperCase()
}

const timeOfLsn = (lsn: string): number => {
  const [, high = '', low = ''] = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/i.exec(lsn) ?? []
  return high === '' ? Number.NaN : Number((BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`))
}

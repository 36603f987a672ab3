/** Points in a branch's history, which are given as a time or as a position in the write-ahead log (LSN). */
import type { BranchRecord, ProjectRecord } from './records.ts'
import { ApiError } from './requests.ts'
import type { World } from './world.ts'

interface MomentRequest {
  readonly timestamp?: string | undefined
  readonly lsn?: string | undefined
}

const DEFAULT_RETENTION_SECONDS = 86_400

/** How far back a project's history reaches, in seconds (public OpenAPI). */
export const retentionOf = ({ historyRetentionSeconds }: ProjectRecord): number =>
  historyRetentionSeconds ?? DEFAULT_RETENTION_SECONDS

/**
 * The requested point in history, in milliseconds since the epoch. Defaults to now.
 *
 * Simulated computes have no data, so they accept any point within the restore window. Real computes keep no history.
 * For them, the request is rejected, because returning current data would be wrong.
 *
 * @param prefix how the names of the two request fields begin: `parent` or `source`.
 * @throws {ApiError} 400 if the point is outside the branch's history, 422 if no history is kept.
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
    throw new ApiError(400, `${prefix}_timestamp and ${prefix}_lsn are mutually exclusive`)
  }
  const field = lsn === undefined ? `${prefix}_timestamp` : `${prefix}_lsn`
  const time = lsn === undefined ? Date.parse(timestamp ?? '') : timeOfLsn(lsn)
  if (Number.isNaN(time)) throw new ApiError(400, `${field}: not a valid point in history`)
  if (!world.keepsHistory) {
    throw new ApiError(
      422,
      `${field}: not available, because real computes in the sandbox keep no history; omit it to use current data`,
      'HISTORY_NOT_KEPT',
    )
  }
  const { project } = world.project(branch.projectId)
  const earliest = earliestMoment(branch, project, now)
  if (time > now || time < earliest) {
    throw new ApiError(
      400,
      `${field}: outside of the available history, ${new Date(earliest).toISOString()} to ${new Date(now).toISOString()}`,
    )
  }
  return Math.max(time, branch.createdAt)
}

const earliestMoment = ({ createdAt }: BranchRecord, project: ProjectRecord, now: number): number =>
  // Clients send times in whole seconds, so accept the whole second in which the branch was created.
  Math.max(Math.floor(createdAt / 1_000) * 1_000, now - retentionOf(project) * 1_000)

/** Simulated computes write no log, so their LSN is the time in milliseconds since the epoch. */
export const lsnOf = (time: number): string => {
  const position = BigInt(Math.round(time))
  return `${(position >> 32n).toString(16)}/${(position & 0xffff_ffffn).toString(16)}`.toUpperCase()
}

const timeOfLsn = (lsn: string): number => {
  const [, high = '', low = ''] = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/i.exec(lsn) ?? []
  return high === '' ? Number.NaN : Number((BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`))
}

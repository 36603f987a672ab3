/**
 * Suspends projects. A suspended project is refreshed and reported on, but nothing is applied to it. Times are in
 * milliseconds since the epoch.
 */
import { EspalierError } from '../base/index.ts'

export interface Suspension {
  readonly until: number
  readonly reason: string
}

const LONGEST = 30 * 24 * 60 * 60_000

/** @throws {EspalierError} `E_USAGE` if the reason is empty, or the duration is not between 0 and 30 days. */
export const suspend = (now: number, duration: number, reason: string): Suspension => {
  if (reason.trim() === '') throw new EspalierError('E_USAGE', 'A suspension needs a reason: --reason TEXT.')
  if (!(duration > 0 && duration <= LONGEST)) {
    throw new EspalierError('E_USAGE', 'A suspension must be longer than 0 and at most 30 days.')
  }
  return { until: now + duration, reason }
}

export const isSuspended = (suspension: Suspension | undefined, now: number): boolean =>
  suspension !== undefined && now < suspension.until

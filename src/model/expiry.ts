/** Branches that expire. */

import { formatUtc } from '../base/index.ts'
import type { ObservedBranch } from './observed.ts'

/** Default: changes that interrupt are skipped on branches that expire within an hour. */
export const SKIP_EXPIRING_SECONDS = 3600

/** Seconds until the branch expires, 0 if it already has. `undefined` if it does not expire. */
export const secondsToLive = ({ expiresAt }: Pick<ObservedBranch, 'expiresAt'>, now: number): number | undefined => {
  const expires = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt)
  return Number.isNaN(expires) ? undefined : Math.max(0, Math.floor((expires - now) / 1000))
}

/** `in 21 h`, `in 40 min`, `now`. */
const untilExpiry = (seconds: number): string => {
  if (seconds < 60) return 'now'
  if (seconds < 7200) return `in ${Math.floor(seconds / 60)} min`
  const hours = Math.floor(seconds / 3600)
  return hours < 48 ? `in ${hours} h` : `in ${Math.floor(hours / 24)} days`
}

/** `expires Sun 22 Nov 18:02 UTC (in 21 h)`; `undefined` if the branch does not expire. */
export const expiryWords = (branch: Pick<ObservedBranch, 'expiresAt'>, now: number): string | undefined => {
  const left = secondsToLive(branch, now)
  return left === undefined || branch.expiresAt === undefined
    ? undefined
    : `expires ${formatUtc(Date.parse(branch.expiresAt))} (${untilExpiry(left)})`
}

/** Why to skip a change, without a full stop; `undefined` if it should be made. */
export const expiryReason = (
  branch: Pick<ObservedBranch, 'name' | 'expiresAt'>,
  { interrupts, now, skipSeconds = SKIP_EXPIRING_SECONDS }: { interrupts: boolean; now: number; skipSeconds?: number },
): string | undefined => {
  const left = secondsToLive(branch, now)
  if (left === undefined || skipSeconds === 0) return undefined
  if (left === 0) return `${branch.name} has expired and is about to be deleted`
  return interrupts && left < skipSeconds ? `${branch.name} expires ${untilExpiry(left)}` : undefined
}

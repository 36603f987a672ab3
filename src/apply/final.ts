import type { Operation } from '../api/index.ts'

const ENDS: ReadonlyMap<string, 'good' | 'bad'> = new Map([
  ['finished', 'good'],
  ['skipped', 'good'],
  ['cancelled', 'bad'],
  ['error', 'bad'],
])
/** How long a failed operation is given to be retried. */
const GRACE_MS = 30_000

/**
 * How an operation ended, or `undefined` while it has not. `failed` alone is no end, since the service may retry it; it
 * is one when nothing has happened for a while, nor since the retry that the service announced.
 *
 * @param failedSince when it was first seen to be failed as it is now, in milliseconds since the epoch.
 */
export const endOf = (operation: Operation, failedSince: number, now: number): 'good' | 'bad' | undefined => {
  if (operation.status !== 'failed') return ENDS.get(operation.status)
  const retryAt = Date.parse(operation.retryAt ?? '')
  const since = Number.isNaN(retryAt) ? failedSince : Math.max(failedSince, retryAt)
  return now - since >= GRACE_MS ? 'bad' : undefined
}

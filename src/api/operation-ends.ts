import type { Clock } from '../model/index.ts'
import type { Operation } from './wire.ts'

export type OperationEnd = 'good' | 'bad'

/** Spec 2.1.2; `error` is in the service's public OpenAPI only. Any other word is waited on. */
const ENDS: ReadonlyMap<string, OperationEnd> = new Map([
  ['finished', 'good'],
  ['skipped', 'good'],
  ['cancelled', 'bad'],
  ['error', 'bad'],
])
/** How long a failed operation is given to be retried. */
const GRACE_MS = 30_000

/**
 * How operations ended. `failed` alone is not final, since the service may retry it; it is one when nothing has happened
 * for 30 s after the failure, or after the retry that the service announced.
 */
export class OperationEnds {
  readonly #clock: Clock
  readonly #seen = new Map<string, { readonly operation: Operation; readonly since: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Called on every poll.
   *
   * @returns `undefined` while it has not ended.
   */
  see(operation: Operation): OperationEnd | undefined {
    const now = this.#clock.now()
    const before = this.#seen.get(operation.id)
    const hasMoved =
      operation.status !== before?.operation.status ||
      operation.failuresCount !== before.operation.failuresCount ||
      operation.updatedAt !== before.operation.updatedAt
    // What moves under our eyes is timed by our clock; the service's is asked only for what was before.
    const since = before === undefined ? now - ageMs(operation, this.#clock) : hasMoved ? now : before.since
    this.#seen.set(operation.id, { operation, since })
    if (operation.status !== 'failed') return ENDS.get(operation.status)
    return now - since >= retryDelayMs(operation) + GRACE_MS ? 'bad' : undefined
  }
}

/** As far as one poll shows. */
export const hasEnded = (operation: Operation, clock: Clock): boolean =>
  new OperationEnds(clock).see(operation) !== undefined

/** 0 if the service's clock is ahead of ours. */
const ageMs = ({ updatedAt }: Operation, clock: Clock): number =>
  Math.max(0, (clock.date?.() ?? clock.now()) - Date.parse(updatedAt)) || 0

/** Both times are the service's, so its clock need not agree with ours. */
const retryDelayMs = ({ retryAt = '', updatedAt }: Operation): number =>
  Math.max(0, Date.parse(retryAt) - Date.parse(updatedAt)) || 0

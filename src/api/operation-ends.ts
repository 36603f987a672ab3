import type { Clock } from '../base/index.ts'
import type { Operation } from './wire.ts'

type OperationEnd = 'good' | 'bad'

/** Final statuses (docs/control-api.md). Operations with any other status are still running. */
const ENDS: ReadonlyMap<string, OperationEnd> = new Map([
  ['finished', 'good'],
  ['skipped', 'good'],
  ['cancelled', 'bad'],
  ['error', 'bad'],
])
/** How long to wait for the service to retry a failed operation. */
const GRACE_MS = 30_000

/**
 * Tracks how operations end. `failed` is not final, because the service may retry. It becomes final if nothing happens
 * for 30 s after the failure, or after the announced retry.
 */
export class OperationEnds {
  readonly #clock: Clock
  readonly #seen = new Map<string, { readonly operation: Operation; readonly since: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Call on every poll. Returns `undefined` until the operation has ended. */
  see(operation: Operation): OperationEnd | undefined {
    const now = this.#clock.now()
    const before = this.#seen.get(operation.id)
    const hasMoved =
      operation.status !== before?.operation.status ||
      operation.failuresCount !== before.operation.failuresCount ||
      operation.updatedAt !== before.operation.updatedAt
    // Changes between polls are timed by our clock. The service's timestamps only matter for the first poll.
    const since = before === undefined ? now - ageMs(operation, this.#clock) : hasMoved ? now : before.since
    this.#seen.set(operation.id, { operation, since })
    if (operation.status !== 'failed') return ENDS.get(operation.status)
    return now - since >= retryDelayMs(operation) + GRACE_MS ? 'bad' : undefined
  }
}

/** Whether an operation has ended, judged by a single poll. */
export const hasEnded = (operation: Operation, clock: Clock): boolean =>
  new OperationEnds(clock).see(operation) !== undefined

/** 0 if the service's clock is ahead of ours. */
const ageMs = ({ updatedAt }: Operation, clock: Clock): number =>
  Math.max(0, (clock.date?.() ?? clock.now()) - Date.parse(updatedAt)) || 0

/** Compares two times of the service, so its clock need not agree with ours. */
const retryDelayMs = ({ retryAt = '', updatedAt }: Operation): number =>
  Math.max(0, Date.parse(retryAt) - Date.parse(updatedAt)) || 0

// Finds the operation that holds a project's lock.

/** A failed operation holds the lock only if the service announced a retry. */
const mayHoldLock = (operation: Operation, clock: Clock): boolean =>
  !hasEnded(operation, clock) && (operation.status !== 'failed' || operation.retryAt !== undefined)

/**
 * `operation OP_ID (apply_config on ep-…, running)`; `undefined` if no operation holds the lock.
 *
 * @param operations the project's most recent operations, newest first.
 */
export const lockHolder = (operations: readonly Operation[], clock: Clock): string | undefined => {
  // The most likely holder is the oldest running operation, then the oldest scheduled one, then the newest failed one.
  const open = operations.filter((one) => mayHoldLock(one, clock)).toReversed()
  const holder =
    open.find(({ status }) => status === 'running' || status === 'cancelling') ??
    open.find(({ status }) => status !== 'failed') ??
    open.at(-1)
  if (holder === undefined) return undefined
  const where = holder.endpointId ?? holder.branchId
  return `operation ${holder.id} (${holder.action}${where === undefined ? '' : ` on ${where}`}, ${holder.status})`
}

import { type Clock, dateOf } from '../base/index.ts'
import { operationEnd } from '../model/index.ts'
import type { Operation } from './wire.ts'

/** Tracks how operations end while they are polled. */
export class OperationEnds {
  readonly #clock: Clock
  readonly #seen = new Map<string, { readonly operation: Operation; readonly since: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Call on every poll. Returns `undefined` until the operation has ended. */
  see(operation: Operation): ReturnType<typeof operationEnd> {
    const now = this.#clock.now()
    const before = this.#seen.get(operation.id)
    const hasMoved =
      operation.status !== before?.operation.status ||
      operation.failuresCount !== before.operation.failuresCount ||
      operation.updatedAt !== before.operation.updatedAt
    // Changes between polls are timed by our clock. The service's timestamps only matter for the first poll.
    const since = before === undefined ? now - ageMs(operation, this.#clock) : hasMoved ? now : before.since
    this.#seen.set(operation.id, { operation, since })
    return operationEnd(operation, now - since)
  }
}

/** Whether an operation has ended, judged by a single poll. */
export const hasEnded = (operation: Operation, clock: Clock): boolean =>
  new OperationEnds(clock).see(operation) !== undefined

/** 0 if the service's clock is ahead of ours. */
const ageMs = ({ updatedAt }: Operation, clock: Clock): number =>
  Math.max(0, dateOf(clock) - Date.parse(updatedAt)) || 0

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

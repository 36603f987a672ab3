/** Finds the operation that holds a project's lock. */
import type { Clock } from '../model/index.ts'
import { hasEnded } from './operation-ends.ts'
import type { Operation } from './wire.ts'

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

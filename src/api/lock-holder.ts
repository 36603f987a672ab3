/** Finds the operation that holds a project's lock. */
import { type Clock, projectOf } from '../model/index.ts'
import { hasEnded } from './operation-ends.ts'
import type * as wire from './wire.ts'

/** A failed operation holds the lock only if the service announced a retry. */
const mayHoldLock = (operation: wire.Operation, clock: Clock): boolean =>
  !hasEnded(operation, clock) && (operation.status !== 'failed' || operation.retryAt !== undefined)

/** Running operations are the most likely holder, then scheduled ones, then those to be retried. */
const lockRank = (status: string): number => {
  if (status === 'running' || status === 'cancelling') return 0
  return status === 'failed' ? 2 : 1
}

/** `operation OP_ID (apply_config on ep-…, running)`. */
export const lockHolder = async (
  newestOf: (project: string) => Promise<readonly wire.Operation[]>,
  path: string,
  clock: Clock,
): Promise<string | undefined> => {
  const project = projectOf(path)
  if (project === undefined) return undefined
  const operations = await newestOf(project)
  // Oldest first: the oldest running operation started first. For failed ones, the newest is the most relevant.
  const open = operations.filter((one) => mayHoldLock(one, clock)).toReversed()
  const holder =
    open.find(({ status }) => lockRank(status) === 0) ??
    open.find(({ status }) => lockRank(status) === 1) ??
    open.at(-1)
  if (holder === undefined) return undefined
  const where = holder.endpointId ?? holder.branchId
  return `operation ${holder.id} (${holder.action}${where === undefined ? '' : ` on ${where}`}, ${holder.status})`
}

/** Who holds a project's lock, as its newest operations show. */
import { type Clock, projectOf } from '../model/index.ts'
import { hasEnded } from './operation-ends.ts'
import type * as wire from './wire.ts'

/** One that failed holds the lock only until the retry that the service announced. */
const mayHoldLock = (operation: wire.Operation, clock: Clock): boolean =>
  !hasEnded(operation, clock) && (operation.status !== 'failed' || operation.retryAt !== undefined)

/** Which of several holds the lock: what runs, before what is to run, before one that is to be retried. */
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
  // The list is newest first, and the oldest of a rank began first; of failed ones the newest says most of now.
  const open = operations.filter((one) => mayHoldLock(one, clock)).toReversed()
  const holder =
    open.find(({ status }) => lockRank(status) === 0) ??
    open.find(({ status }) => lockRank(status) === 1) ??
    open.at(-1)
  if (holder === undefined) return undefined
  const where = holder.endpointId ?? holder.branchId
  return `operation ${holder.id} (${holder.action}${where === undefined ? '' : ` on ${where}`}, ${holder.status})`
}

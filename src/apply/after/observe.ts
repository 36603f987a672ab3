/** What a step did to the compute's connections, as far as the reads of the step show it. */
import type { Operation } from '../../api/index.ts'
import { defined } from '../../base/index.ts'
import { isIdle, type Observation, type ObservedCompute, type ObservedEffect } from '../../model/index.ts'

/** The reads of a step. All times in them are times of the service. */
export interface Evidence {
  /** Read right before the last request. */
  readonly before: ObservedCompute | undefined
  /** Read after the step's operations had ended. */
  readonly after: ObservedCompute | undefined
  /** Ids of the operations that the step started. */
  readonly own: readonly string[]
  /** The project's newest operations, if they were read while waiting. */
  readonly listed: readonly Operation[] | undefined
  /** Whether the response was lost, and if so, whether the request was sent again. */
  readonly lost: 'no' | 'yes' | 'sent again'
  /** When the next service update is due, in milliseconds. */
  readonly updateDue: number | undefined
}

const HOUR_MS = 3_600_000
/** The operations that start or suspend a compute, or may restart it. */
const INTERRUPTING = ['start_compute', 'suspend_compute', 'apply_config']

export const observe = (evidence: Evidence): Omit<Observation, 'predicted'> => {
  const { before, after, own, lost } = evidence
  const seen = (observed: ObservedEffect, at?: string) => defined({ observed, at })
  if (before === undefined || after === undefined || (lost !== 'no' && own.length === 0)) return seen('unknown')
  const foreign = foreignIn(evidence, before)
  const isForeign = (action: string): boolean => foreign?.some((operation) => operation.action === action) === true
  if (isIdle(before)) return seen(after.state === 'active' && isForeign('start_compute') ? 'woke' : 'was-idle')
  const { startedAt, suspendedAt } = after
  if (before.startedAt === undefined || startedAt === undefined) return seen('unknown')
  if (startedAt !== before.startedAt) {
    const isOurs = foreign?.length === 0 && lost !== 'sent again' && !isUpdateDue(evidence, startedAt)
    return seen(isOurs ? 'restarted' : 'restarted-cause-unknown', startedAt)
  }
  if (suspendedAt !== undefined && suspendedAt !== before.suspendedAt) {
    // A step that starts no operation, such as a rename, suspends nothing.
    const isOurs = own.length > 0 && !isForeign('suspend_compute')
    return seen(isOurs ? 'suspended' : 'suspended-by-itself', suspendedAt)
  }
  return seen('no-restart-seen')
}

/**
 * The interrupting operations of others on this compute since it was read. `undefined` if it is unknown which there
 * were: no list was read, or it is so old that the step's own operations are missing from it.
 */
const foreignIn = (
  { own, listed }: Evidence,
  { id, updatedAt = '' }: ObservedCompute,
): readonly Operation[] | undefined => {
  const shown = new Set(listed?.map((operation) => operation.id))
  if (listed === undefined || own.length === 0 || !own.every((operation) => shown.has(operation))) return undefined
  // An operation that had ended when the compute was read has not changed it since.
  const readAt = Date.parse(updatedAt) || 0
  return listed.filter(
    (operation) =>
      operation.endpointId === id &&
      INTERRUPTING.includes(operation.action) &&
      !own.includes(operation.id) &&
      Date.parse(operation.updatedAt) > readAt,
  )
}

const isUpdateDue = ({ updateDue }: Evidence, at: string): boolean =>
  updateDue !== undefined && Math.abs(Date.parse(at) - updateDue) <= HOUR_MS

/** Whether a read shows a compute that is not changing any more. */
export const isAtRest = ({ state, pendingState }: ObservedCompute): boolean => (pendingState ?? state) === state

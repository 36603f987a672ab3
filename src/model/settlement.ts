/** How operations end, and what they leave behind on computes. */

/** The part of an operation that decides how it ended and what it leaves behind. */
export interface SeenOperation {
  readonly id: string
  readonly action: string
  readonly endpointId?: string
  readonly status: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly retryAt?: string
}

type OperationEnd = 'good' | 'bad'

/** Final statuses (docs/reference/control-api.md). Operations with any other status are still running. */
const ENDS: ReadonlyMap<string, OperationEnd> = new Map([
  ['finished', 'good'],
  ['skipped', 'good'],
  ['cancelled', 'bad'],
  ['error', 'bad'],
])
/** How long to wait for the service to retry a failed operation. */
const GRACE_MS = 30_000

/**
 * How an operation ended; `undefined` if it has not. `failed` is not final, because the service may retry. It becomes
 * final if nothing happens for 30 s after the failure, or after the announced retry.
 *
 * @param quietMs how long the operation has not changed.
 */
export const operationEnd = (
  { status, retryAt = '', updatedAt }: Pick<SeenOperation, 'status' | 'retryAt' | 'updatedAt'>,
  quietMs: number,
): OperationEnd | undefined => {
  if (status !== 'failed') return ENDS.get(status)
  // Both are times of the service, so its clock need not agree with ours.
  const retryMs = Math.max(0, Date.parse(retryAt) - Date.parse(updatedAt)) || 0
  return quietMs >= retryMs + GRACE_MS ? 'bad' : undefined
}

/** Whether an operation is still being worked on, and not only waiting for a retry after a failure. */
export const isUnderWay = ({ status }: Pick<SeenOperation, 'status'>): boolean =>
  status !== 'failed' && !ENDS.has(status)

/** Whether an operation did what it was started for. */
export const endedWell = ({ status }: Pick<SeenOperation, 'status'>): boolean => ENDS.get(status) === 'good'

/** The `espalier compute` command that settles a compute. */
export const REPAIRS = ['restart', 'start', 'suspend'] as const

export type Repair = (typeof REPAIRS)[number]

export interface UnsettledCompute {
  readonly id: string
  /** The operation that ended badly, as the API shows it. */
  readonly operation: Pick<SeenOperation, 'id' | 'action' | 'status' | 'updatedAt'>
  readonly repair: Repair
}

/** What a project's newest operations say about its computes. */
export interface Settlement {
  readonly unsettled: readonly UnsettledCompute[]
  /** Operations that have not ended, and that will leave their compute unsettled if they fail. */
  readonly open: readonly { readonly compute: string; readonly operation: string }[]
  /** Ids of computes whose operations go back further than was read. */
  readonly unknown: readonly string[]
}

/** Finds the compute and the operations that belong to an accepted request. */
import { hasEnded, type Operation } from '../../api/index.ts'
import type { ObservedCompute, Step } from '../../model/index.ts'
import { findInPlace } from '../before/find-in-place.ts'
import type { RunContext } from '../context.ts'
import { LONG_READ_BACK_DELAYS_MS, type Sent } from '../send/send-step.ts'

interface Started {
  /** `undefined` if a create was accepted but its compute has not appeared yet. */
  readonly computeId: string | undefined
  readonly operations: readonly Operation[]
  /** The project's newest operations, if they were read to find these. */
  readonly listed?: readonly Operation[]
}

export const startedBy = async (
  step: Step,
  sent: Extract<Sent, { kind: 'answered' | 'found' }>,
  context: RunContext,
): Promise<Started> => {
  if (sent.kind === 'found') {
    const { compute, lostAt } = sent
    if (compute !== undefined) return fromCompute(compute, step, context, lostAt)
    const { id = '' } = step.compute
    const isOpen = (one: Operation): boolean => one.endpointId === id && !hasEnded(one, context.clock)
    const all = await newest(step, context)
    return { computeId: id, operations: all.filter(isOpen), listed: all }
  }
  const { operations, compute } = sent.mutation
  const isCreate = step.kind === 'create'
  const named = isCreate ? operations.find(({ endpointId }) => endpointId !== undefined)?.endpointId : step.compute.id
  // The response to a change of a known compute does not decide which one is checked.
  const computeId = (isCreate ? compute?.id : undefined) ?? named
  const isAnswered = compute !== undefined || step.kind === 'delete'
  if (isAnswered || (computeId !== undefined && operations.length > 0)) return { computeId, operations }
  // The request was accepted, but the response does not name the compute or the operations.
  const live = isCreate
    ? await findMade(step, context)
    : await context.api.getCompute(step.project, step.compute.id ?? '', { signal: context.abort })
  return live === undefined || operations.length > 0
    ? { computeId: live?.id ?? computeId, operations }
    : fromCompute(live, step, context, sent.at)
}

const fromCompute = async (
  compute: ObservedCompute,
  step: Step,
  context: RunContext,
  since: number | undefined,
): Promise<Started> => ({ computeId: compute.id, ...(await operationsOf(compute, step, context, since)) })

/** Looks for the compute of an accepted create several times, because such a create is never sent again. */
const findMade = async (step: Step, context: RunContext): Promise<ObservedCompute | undefined> => {
  const search = { others: new Set<string>() }
  for (const delayMs of [0, ...LONG_READ_BACK_DELAYS_MS]) {
    if (delayMs > 0) {
      const message = 'looking for the created compute, because the response does not name it'
      await context.record({ type: 'wait', step: step.id, why: 'reading-back', message, delayMs })
      await context.clock.sleep(delayMs, context.abort)
    }
    const made = await findInPlace(step, context, search)
    if (made !== undefined) return made
  }
  return undefined
}

/** How far times may differ. The API reports whole seconds, and responses take time. */
const CLOCK_SKEW_MS = 5_000

/**
 * Finds the operations of a change whose response was lost. The list of operations may be stale. Whether an operation
 * is expected is therefore determined from the compute's pending state or from the kind of change.
 *
 * @param since when this run sent the request, by the service's clock. Absent if another client made the change.
 */
const operationsOf = async (
  compute: ObservedCompute,
  step: Step,
  context: RunContext,
  since: number | undefined,
): Promise<Omit<Started, 'computeId'>> => {
  const isNew = ({ createdAt }: Operation): boolean =>
    since !== undefined && Date.parse(createdAt) >= since - CLOCK_SKEW_MS
  const isExpected = since !== undefined && startsOperation(step)
  let live: ObservedCompute | undefined = compute
  for (const delayMs of [0, ...LONG_READ_BACK_DELAYS_MS]) {
    if (delayMs > 0) {
      await context.clock.sleep(delayMs, context.abort)
      live = await context.api.getCompute(step.project, compute.id, { signal: context.abort })
    }
    const listed = await newest(step, context)
    const operations = listed.filter(
      (one) =>
        one.endpointId === compute.id && !context.expected.isOwn(one) && (!hasEnded(one, context.clock) || isNew(one)),
    )
    if (operations.length > 0 || (live?.pendingState === undefined && !isExpected)) return { operations, listed }
  }
  return { operations: [] }
}

/** Whether the request starts an operation. Only a new name or another branch does not (docs/reference/control-api.md). */
const startsOperation = ({ kind, request }: Step): boolean => {
  const { name: _name, branch_id: _branch, ...config } = request.body?.endpoint ?? {}
  return kind === 'create' ? config.disabled !== true : Object.keys(config).length > 0
}

const newest = async ({ project }: Step, { api, abort }: RunContext): Promise<readonly Operation[]> =>
  (await api.listOperations(project, { limit: 100 }, { signal: abort })).operations

/** The compute that a create made whose answer was lost. */
import type { WriteApi } from '../api/index.ts'
import type { ObservedCompute, Step } from '../model/index.ts'

interface Context {
  readonly api: WriteApi
  /** What was live before the run, and what the run made. */
  readonly known: ReadonlyMap<string, unknown>
  readonly abort: AbortSignal | undefined
}

/** What a search has found out so far. */
export interface Search {
  /** Ids that operations name, and that are not what was asked for or are gone. */
  readonly others: Set<string>
}

/** Its operation is the newest but for those that the control plane started by itself meanwhile. */
const OPERATIONS = 20

/**
 * A compute that was not there before, of the branch, type and name that were asked for. The list of computes may lag
 * behind, so those that only the newest operations tell of are looked at as well.
 */
export const lookForCreated = async (
  step: Step,
  context: Context,
  { others }: Search,
): Promise<ObservedCompute | undefined> => {
  const { api, known, abort } = context
  const call = { signal: abort }
  const computes = await api.listComputes(step.project, call)
  const listed = computes.find((compute) => isNew(compute, context) && isAsked(compute, step))
  if (listed !== undefined) return listed
  const { operations } = await api.listOperations(step.project, { limit: OPERATIONS }, call)
  const ids = new Set(operations.map(({ endpointId }) => endpointId))
  for (const { id } of computes) ids.delete(id)
  for (const id of ids) {
    if (id === undefined || known.has(id) || others.has(id)) continue
    const compute = await api.getCompute(step.project, id, call)
    if (compute !== undefined && isAsked(compute, step)) return compute
    others.add(id)
  }
  return undefined
}

/** One more of what a create made that was sent twice. */
export const twinOf = async (step: Step, context: Context): Promise<ObservedCompute | undefined> => {
  const computes = await context.api.listComputes(step.project, { signal: context.abort })
  return computes.find((compute) => isNew(compute, context) && isAsked(compute, step))
}

const isNew = ({ id }: ObservedCompute, { known }: Context): boolean => !known.has(id)

const isAsked = ({ branchId, type, attributes }: ObservedCompute, { request }: Step): boolean => {
  const asked = request.body?.endpoint
  return branchId === asked?.branch_id && type === asked.type && attributes.name === asked.name
}

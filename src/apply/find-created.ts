/** A compute that already exists where a step is about to create one: made by a request whose answer was lost, or by somebody else. */
import type { ObservedCompute, Step, StepRequest } from '../model/index.ts'
import type { RunContext } from './context.ts'

/** What a search has found out so far. */
export interface Search {
  /** Ids that operations name, and that are not what is asked for. */
  readonly others: Set<string>
}

/** Its operation is the newest, apart from those that the control plane has started by itself since. */
const OPERATIONS = 20

/**
 * The primary of the branch, or a replica of the name, that the plan did not know in that place. The list of computes may
 * lag behind: those that only the newest operations name are read as well, and what it shows is read by id before it
 * counts.
 */
export const findInPlace = async (
  step: Step,
  { api, knowledge, abort }: RunContext,
  { others }: Search,
): Promise<ObservedCompute | undefined> => {
  const call = { signal: abort }
  const [computes, { operations }] = await Promise.all([
    api.listComputes(step.project, call),
    api.listOperations(step.project, { limit: OPERATIONS }, call),
  ])
  const wasKnown = (id: string): boolean => {
    const known = knowledge.of(id)
    return known !== undefined && (known.kind !== 'live' || isInPlace(known.compute, step))
  }
  const listed = computes.filter((compute) => isInPlace(compute, step)).map(({ id }) => id)
  const shown = new Set(computes.map(({ id }) => id))
  const branch = step.request.body?.endpoint.branch_id
  const named = operations
    .filter(({ branchId }) => branchId === undefined || branchId === branch)
    .flatMap(({ endpointId }) => endpointId ?? [])
    .filter((id) => !shown.has(id) && !others.has(id) && knowledge.of(id) === undefined)
  for (const id of new Set([...listed, ...named])) {
    if (wasKnown(id)) continue
    const compute = await api.getCompute(step.project, id, call)
    if (compute !== undefined && isInPlace(compute, step)) return compute
    others.add(id)
  }
  return undefined
}

/** The primary that holds the place which a move is about to take. */
export const findPrimary = async (
  step: Step,
  { api, knowledge, abort }: RunContext,
): Promise<ObservedCompute | undefined> => {
  const call = { signal: abort }
  for (const { id } of (await api.listComputes(step.project, call)).filter((one) => isInPlace(one, step))) {
    if (id === step.compute.id || knowledge.of(id)?.kind === 'deleted') continue
    // The list may show where it was before an earlier step.
    const compute = await api.getCompute(step.project, id, call)
    if (compute !== undefined && isInPlace(compute, step)) return compute
  }
  return undefined
}

const isInPlace = ({ branchId, type, attributes }: ObservedCompute, step: Step): boolean => {
  const asked: NonNullable<StepRequest['body']>['endpoint'] = step.request.body?.endpoint ?? {}
  if (branchId !== asked.branch_id || type !== (asked.type ?? step.compute.type)) return false
  return type === 'read_write' || attributes.name === asked.name
}

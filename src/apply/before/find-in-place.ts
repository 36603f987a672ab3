/** Finds a compute in the place where a step would create one. A lost request or another client may have created it. */
import type { ObservedCompute, Step, StepRequest } from '../../model/index.ts'
import type { RunContext } from '../context.ts'
import type { ExpectedState } from './expected-state.ts'

/** What a search has ruled out so far. */
export interface Search {
  /** The ids of computes that were read and do not match. */
  readonly others: Set<string>
}

/** How many operations to read. The one of the create is among the newest, even if a few others have started since. */
const OPERATIONS = 20

/**
 * Finds a compute that the plan did not know about: the primary of the branch, or the replica with the requested name.
 * The list of computes may be stale, so computes that only recent operations mention are considered too. Every
 * candidate is read by its id.
 */
export const findInPlace = async (
  step: Step,
  { api, expected, abort }: RunContext,
  { others }: Search,
): Promise<ObservedCompute | undefined> => {
  const call = { signal: abort }
  const [computes, { operations }] = await Promise.all([
    api.listComputes(step.project, call),
    api.listOperations(step.project, { limit: OPERATIONS }, call),
  ])
  const listed = computes.filter((compute) => isInPlace(compute, step)).map(({ id }) => id)
  const shown = new Set(computes.map(({ id }) => id))
  const branch = step.request.body?.endpoint.branch_id
  const named = operations
    .filter(({ branchId }) => branchId === undefined || branchId === branch)
    .flatMap(({ endpointId }) => endpointId ?? [])
    .filter((id) => !shown.has(id) && !others.has(id) && expected.of(id) === undefined)
  for (const id of new Set([...listed, ...named])) {
    if (isExpected(id, step, expected)) continue
    const compute = await api.getCompute(step.project, id, call)
    if (compute !== undefined && isInPlace(compute, step)) return compute
    others.add(id)
  }
  return undefined
}

/** Finds a listed compute in the place of the step's own one: where a primary moves to, or where a create was made. */
export const findOther = async (
  step: Step,
  ownId: string | undefined,
  { api, expected, abort }: RunContext,
): Promise<ObservedCompute | undefined> => {
  const call = { signal: abort }
  for (const { id } of (await api.listComputes(step.project, call)).filter((one) => isInPlace(one, step))) {
    if (id === ownId || isExpected(id, step, expected)) continue
    // The list may still show the branch that the compute was on before.
    const compute = await api.getCompute(step.project, id, call)
    if (compute !== undefined && isInPlace(compute, step)) return compute
  }
  return undefined
}

/** Whether the plan knew that this compute was in place, or this run has created or deleted it. */
const isExpected = (id: string, step: Step, expected: ExpectedState): boolean => {
  const known = expected.of(id)
  return known !== undefined && (known.kind !== 'live' || isInPlace(known.compute, step))
}

const isInPlace = ({ branchId, type, attributes }: ObservedCompute, step: Step): boolean => {
  const asked: NonNullable<StepRequest['body']>['endpoint'] = step.request.body?.endpoint ?? {}
  if (branchId !== asked.branch_id || type !== (asked.type ?? step.compute.type)) return false
  return type === 'read_write' || attributes.name === asked.name
}

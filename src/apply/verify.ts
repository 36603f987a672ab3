/** Whether a compute is what a request asked for. */
import {
  attributesFromWire,
  type ComputeAttributes,
  differingKeys,
  type ObservedCompute,
  rowOf,
  type StepRequest,
} from '../model/index.ts'

/**
 * What the request asks for and the compute does not show: before (where it is known), asked and got, in words. Empty: it
 * is in effect.
 */
export const notInEffect = (
  request: StepRequest,
  live: ObservedCompute,
  before?: ObservedCompute,
): readonly string[] => {
  const endpoint = request.body?.endpoint
  if (endpoint === undefined) return []
  const asked: ComputeAttributes = {
    ...attributesFromWire(endpoint),
    ...askedSize(endpoint, live.attributes),
  }
  const branch = endpoint.branch_id
  return [
    ...(branch === undefined || branch === live.branchId ? [] : [`branch: asked ${branch}, got ${live.branchId}`]),
    ...differingKeys(asked, live.attributes).map((key) => {
      const row = rowOf(key)
      const got = live.attributes[key]
      const was = before?.attributes[key]
      const had = was === undefined ? '' : `before ${row.format(was)}, `
      return `${row.path}: ${had}asked ${row.format(asked[key])}, got ${got === undefined ? 'nothing' : row.format(got)}`
    }),
  ]
}

/** A request may name one limit only: the other one stays as it is. */
const askedSize = (
  endpoint: NonNullable<StepRequest['body']>['endpoint'],
  live: ComputeAttributes,
): Pick<ComputeAttributes, 'size'> => {
  const min = endpoint.autoscaling_limit_min_cu ?? live.size?.min
  const max = endpoint.autoscaling_limit_max_cu ?? live.size?.max
  const named = endpoint.autoscaling_limit_min_cu !== undefined || endpoint.autoscaling_limit_max_cu !== undefined
  return named && min !== undefined && max !== undefined ? { size: { min, max } } : {}
}

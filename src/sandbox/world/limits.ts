/** The limits of spec 8, checked on a compute as it would be. */
import { SIZE_TABLE, sizeStep } from '../../model/index.ts'
import type { ComputeRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'

const FREE_PLAN_MAX_CU = 2
const SHORTEST_TIMEOUT_SECONDS = 60
const LONGEST_TIMEOUT_SECONDS = 604_800
const NEVER = -1

type Limited = Pick<ComputeRecord, 'min' | 'max' | 'suspendTimeoutSeconds'>

/**
 * @param sizeChanged whether the request names a limit; `timeoutChanged` whether it names the timeout.
 * @throws {Refusal} 400 where a rule is broken, 422 where the account's plan does not allow it.
 */
export const checkLimits = (
  { min, max, suspendTimeoutSeconds: timeout }: Limited,
  project: ProjectRecord,
  { sizeChanged, timeoutChanged }: { readonly sizeChanged: boolean; readonly timeoutChanged: boolean },
): void => {
  if (sizeChanged) checkSize(min, max, project)
  if (timeoutChanged && timeout !== 0 && timeout !== NEVER) {
    if (timeout < SHORTEST_TIMEOUT_SECONDS || timeout > LONGEST_TIMEOUT_SECONDS) {
      throw new Refusal(400, 'endpoint.suspend_timeout_seconds must be -1, 0 or between 60 and 604800')
    }
  }
  if ((timeoutChanged || sizeChanged) && max > SIZE_TABLE.scaleToZeroMaxCu && timeout !== NEVER) {
    throw new Refusal(
      400,
      `scale to zero is available only for computes up to ${SIZE_TABLE.scaleToZeroMaxCu} CU; set endpoint.suspend_timeout_seconds to -1`,
    )
  }
}

const checkSize = (min: number, max: number, project: ProjectRecord): void => {
  for (const [field, cu] of [
    ['autoscaling_limit_min_cu', min],
    ['autoscaling_limit_max_cu', max],
  ] as const) {
    if (sizeStep(cu) === undefined) throw new Refusal(400, `endpoint.${field}: ${cu} is not a valid compute size`)
  }
  if (min > max) {
    throw new Refusal(
      400,
      'endpoint.autoscaling_limit_min_cu must not be greater than endpoint.autoscaling_limit_max_cu',
    )
  }
  if (min !== max && max > SIZE_TABLE.autoscalingMaxCu) {
    throw new Refusal(400, `autoscaling is available up to ${SIZE_TABLE.autoscalingMaxCu} CU`)
  }
  if (max - min > SIZE_TABLE.maxSpreadCu) {
    throw new Refusal(400, `the autoscaling range must not exceed ${SIZE_TABLE.maxSpreadCu} CU`)
  }
  if (project.plan === 'free' && max > FREE_PLAN_MAX_CU) {
    throw new Refusal(422, `compute sizes above ${FREE_PLAN_MAX_CU} CU are not available on the free plan`)
  }
}

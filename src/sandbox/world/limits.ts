/** Limits on the size and timeout of a compute (docs/control-api.md). */
import {
  nearestStep,
  SCALE_TO_ZERO_DEFAULT,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  SCALE_TO_ZERO_NEVER,
  SIZE_TABLE,
  sizeStep,
} from '../../model/index.ts'
import type { ComputeRecord, ProjectRecord } from './records.ts'
import { Refusal } from './refusal.ts'

const FREE_PLAN_MAX_CU = 2

type Limited = Pick<ComputeRecord, 'min' | 'max' | 'suspendTimeoutSeconds'>

export interface LimitProblem {
  /** Name of the API field. */
  readonly field: 'autoscaling_limit_min_cu' | 'autoscaling_limit_max_cu' | 'suspend_timeout_seconds'
  readonly message: string
  /** Whether the account's plan sets the limit, rather than the service. */
  readonly ofPlan: boolean
}

/** The first limit that is exceeded. */
export const limitProblem = (
  { min, max, suspendTimeoutSeconds: timeout }: Limited,
  plan: ProjectRecord['plan'],
): LimitProblem | undefined => {
  const problem = (field: LimitProblem['field'], message: string): LimitProblem => ({ field, message, ofPlan: false })
  for (const [field, cu] of [
    ['autoscaling_limit_min_cu', min],
    ['autoscaling_limit_max_cu', max],
  ] as const) {
    if (sizeStep(cu) === undefined) {
      return problem(field, `${cu} CU is not a compute size; the nearest is ${nearestStep(cu)?.cu} CU`)
    }
  }
  if (min > max) return problem('autoscaling_limit_min_cu', `${min} CU is above the maximum of ${max} CU`)
  if (min !== max && max > SIZE_TABLE.autoscalingMaxCu) {
    return problem('autoscaling_limit_max_cu', `autoscaling is available up to ${SIZE_TABLE.autoscalingMaxCu} CU`)
  }
  if (max - min > SIZE_TABLE.maxSpreadCu) {
    return problem(
      'autoscaling_limit_max_cu',
      `the autoscaling range from ${min} to ${max} CU exceeds ${SIZE_TABLE.maxSpreadCu} CU`,
    )
  }
  if (plan === 'free' && max > FREE_PLAN_MAX_CU) {
    const message = `computes above ${FREE_PLAN_MAX_CU} CU are not available on the free plan`
    return { field: 'autoscaling_limit_max_cu', message, ofPlan: true }
  }
  const isSpecial = timeout === SCALE_TO_ZERO_DEFAULT || timeout === SCALE_TO_ZERO_NEVER
  if (!isSpecial && (timeout < SCALE_TO_ZERO_MIN_SECONDS || timeout > SCALE_TO_ZERO_MAX_SECONDS)) {
    return problem(
      'suspend_timeout_seconds',
      `${timeout} is not allowed: -1 (never), 0 (default) or ${SCALE_TO_ZERO_MIN_SECONDS} to ${SCALE_TO_ZERO_MAX_SECONDS} seconds`,
    )
  }
  if (max > SIZE_TABLE.scaleToZeroMaxCu && timeout !== SCALE_TO_ZERO_NEVER) {
    return problem(
      'suspend_timeout_seconds',
      `computes above ${SIZE_TABLE.scaleToZeroMaxCu} CU cannot scale to zero: it must be never (-1)`,
    )
  }
  return undefined
}

/** @throws {Refusal} 400 if a limit is exceeded, 422 if the account's plan sets it. */
export const checkLimits = (compute: Limited, { plan }: ProjectRecord, where = 'endpoint'): void => {
  const problem = limitProblem(compute, plan)
  if (problem !== undefined) {
    throw new Refusal(problem.ofPlan ? 422 : 400, `${where}.${problem.field}: ${problem.message}`)
  }
}

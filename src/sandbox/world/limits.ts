/** The limits of the service and of account plans (docs/reference/control-api.md; docs of the service, "Plans" and "Limits"). */
import {
  canScaleToZero,
  formatDuration,
  nearestStep,
  SCALE_TO_ZERO_DEFAULT,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  SCALE_TO_ZERO_NEVER,
  SIZE_TABLE,
  sizeStep,
} from '../../model/index.ts'
import type { ComputeRecord, ProjectRecord } from './records.ts'
import { ApiError } from './requests.ts'
import type { ProjectTables } from './tables.ts'

const FREE_PLAN_MAX_CU = 2

type Limited = Pick<ComputeRecord, 'min' | 'max' | 'suspendTimeoutSeconds'>

interface LimitProblem {
  /** The name of the field in the API. */
  readonly field: 'autoscaling_limit_min_cu' | 'autoscaling_limit_max_cu' | 'suspend_timeout_seconds'
  readonly message: string
  /** Whether the limit belongs to the account's plan. Otherwise, it applies to all accounts. */
  readonly ofPlan: boolean
}

/** The words for scale-to-zero times in messages. Seeds and the API write these times differently. */
interface TimeoutWords {
  /** The values that are not times. */
  readonly special: string
  readonly allowed: string
  readonly of: (seconds: number) => string
}

const IN_REQUESTS: TimeoutWords = {
  special: '-1 (never) or 0 (default)',
  allowed: `-1 (never), 0 (default) or ${SCALE_TO_ZERO_MIN_SECONDS} to ${SCALE_TO_ZERO_MAX_SECONDS} seconds`,
  of: String,
}

export const IN_SEEDS: TimeoutWords = {
  special: '`never` or `default`',
  allowed: `\`never\`, \`default\` or ${formatDuration(SCALE_TO_ZERO_MIN_SECONDS)} to ${formatDuration(SCALE_TO_ZERO_MAX_SECONDS)}`,
  of: formatDuration,
}

/** The first limit that is exceeded, or `undefined` if there is none. */
export const limitProblem = (
  { min, max, suspendTimeoutSeconds: timeout }: Limited,
  plan: ProjectRecord['plan'],
  words: TimeoutWords = IN_REQUESTS,
): LimitProblem | undefined => {
  const problem = (field: LimitProblem['field'], message: string): LimitProblem => ({ field, message, ofPlan: false })
  for (const [field, cu] of [
    ['autoscaling_limit_min_cu', min],
    ['autoscaling_limit_max_cu', max],
  ] as const) {
    if (sizeStep(cu) === undefined) {
      return problem(field, `${cu} CU is not a valid compute size; the nearest is ${nearestStep(cu)?.cu} CU`)
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
    return problem('suspend_timeout_seconds', `${words.of(timeout)} is not allowed: use ${words.allowed}`)
  }
  if (!isSpecial && !canScaleToZero({ max })) {
    return problem(
      'suspend_timeout_seconds',
      `computes above ${SIZE_TABLE.scaleToZeroMaxCu} CU cannot scale to zero: set it to ${words.special}`,
    )
  }
  return undefined
}

/** @throws {ApiError} 400 if a limit of the service is exceeded, 422 if a limit of the account's plan is exceeded. */
export const checkLimits = (compute: Limited, { plan }: ProjectRecord, where = 'endpoint'): void => {
  const problem = limitProblem(compute, plan)
  if (problem !== undefined) {
    throw new ApiError(problem.ofPlan ? 422 : 400, `${where}.${problem.field}: ${problem.message}`)
  }
}

const UNLIMITED = Number.POSITIVE_INFINITY
/** For each kind of resource, how many a plan allows in a project. */
const COUNTS = {
  branches: { free: 10, paid: 5_000, code: 'BRANCHES', count: ({ branches }) => branches.size },
  'root branches': {
    free: 3,
    paid: 25,
    code: 'ROOT_BRANCHES',
    count: ({ branches }) => countOf(branches, ({ parentId }) => parentId === undefined),
  },
  'protected branches': {
    free: 0,
    paid: 5,
    code: 'BRANCHES_PROTECTED',
    count: ({ branches }) => countOf(branches, ({ isProtected }) => isProtected),
  },
  'read replicas': {
    free: 3,
    paid: UNLIMITED,
    code: 'ENDPOINTS',
    count: ({ computes }) => countOf(computes, ({ type }) => type === 'read_only'),
  },
  /** Computes of the default branch are not counted. */
  'active endpoints': {
    free: 20,
    paid: UNLIMITED,
    code: 'ACTIVE_ENDPOINTS',
    count: ({ branches, computes }) =>
      countOf(
        computes,
        ({ state, pendingState, branchId }) =>
          (state === 'active' || pendingState === 'active') && branches.get(branchId)?.isDefault !== true,
      ),
  },
} as const satisfies Record<
  string,
  { free: number; paid: number; code: string; count: (tables: ProjectTables) => number }
>

const countOf = <T>(records: ReadonlyMap<string, T>, isCounted: (record: T) => boolean): number =>
  [...records.values()].filter(isCounted).length

/** @throws {ApiError} 422 if the project's plan does not allow `more` resources of this kind. */
export const checkCount = (tables: ProjectTables, what: keyof typeof COUNTS, more = 1): void => {
  const { [tables.project.plan]: most, code, count } = COUNTS[what]
  if (count(tables) + more <= most) return
  throw new ApiError(422, `${what} limit exceeded: the plan allows ${most}`, `${code}_LIMIT_EXCEEDED`)
}

/**
 * Computes of the default branch can always start. @throws {ApiError} 422 if the plan does not allow `more` active
 * computes.
 */
export const checkActiveCount = (tables: ProjectTables, branchId: string, more = 1): void => {
  if (tables.branches.get(branchId)?.isDefault !== true) checkCount(tables, 'active endpoints', more)
}

/** @throws {ApiError} 422 on the free plan if the timeout is not the default. */
export const checkSuspendTimeout = ({ plan }: ProjectRecord, seconds: number | undefined): void => {
  if (plan === 'free' && seconds !== undefined && seconds !== 0) {
    throw new ApiError(422, 'suspend interval changing is not allowed for your account')
  }
}

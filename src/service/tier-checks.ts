/** Checks whether the account's plan allows the requested settings. */
import {
  type ComputeSettings,
  type DiagnosticCode,
  formatDuration,
  formatScaleToZero,
  formatSize,
  isFixed,
  SCALE_TO_ZERO_NEVER,
  type Severity,
  type Size,
  scaleToZeroSeconds,
  TIERS_VERSION,
  type Tier,
  type TierScaleToZero,
} from '../model/index.ts'

/** A limit of the tier that is exceeded. Only those with severity `error` block a plan. */
export interface TierProblem {
  readonly severity: Severity
  readonly code: DiagnosticCode
  /** The attribute that the limit concerns. */
  readonly path?: 'size' | 'scaleToZero'
  /** Without a full stop. */
  readonly message: string
  readonly hint: string
}

const CORRECT_TIER = 'If the limit is outdated, set `tier: none` in the manifest to disable the check.'

/** Finds the settings that the tier does not allow. Settings that are absent are not checked. */
export const checkTierSettings = (
  { size, scaleToZero }: Partial<Pick<ComputeSettings, 'size' | 'scaleToZero'>>,
  tier: Tier,
): readonly TierProblem[] => [
  ...(size === undefined ? [] : sizeProblems(size, tier)),
  ...(scaleToZero === undefined ? [] : scaleToZeroProblems(scaleToZero, tier)),
]

/** @param count how many replicas the project will have after the change. */
export const checkTierReplicas = (count: number, { title, replicas }: Tier): readonly TierProblem[] =>
  replicas === undefined || count <= replicas.max
    ? []
    : [
        {
          severity: 'warning',
          code: 'W_TIER_LIMIT',
          message: `The ${title} plan allows ${replicas.max} read replicas per project (table ${TIERS_VERSION}); the project would have ${count}`,
          hint: `Declare fewer replicas. ${CORRECT_TIER}`,
        },
      ]

/** @param expected CU-hours per month that the project is expected to use; `null` if unknown. */
export const checkTierCuHours = (expected: number | null, { title, cuHours }: Tier): readonly TierProblem[] =>
  cuHours === undefined || expected === null || expected <= cuHours.max
    ? []
    : [
        {
          severity: 'warning',
          code: 'W_QUOTA',
          message: `The ${title} plan includes ${cuHours.max} CU-hours per project and month; about ${Math.round(expected)} are expected after this plan`,
          hint: 'Once they are used up, all computes of the project are suspended.',
        },
      ]

const sizeProblems = (size: Size, { title, fixedCu, autoscalingCu }: Tier): readonly TierProblem[] => {
  const limit = isFixed(size) ? fixedCu : autoscalingCu
  if (limit === undefined || size.max <= limit.max) return []
  return [
    {
      severity: limit.severity,
      code: limit.severity === 'error' ? 'E_TIER_LIMIT' : 'W_TIER_LIMIT',
      path: 'size',
      message: `${formatSize(size)} is not available on the ${title} plan (at most ${limit.max} CU${isFixed(size) ? '' : ' with autoscaling'}, table ${TIERS_VERSION})`,
      hint: `Choose a smaller size. ${CORRECT_TIER}`,
    },
  ]
}

/** `1m to 7d or never`. */
export const allowedTimes = ({ min, max, never }: Omit<TierScaleToZero, 'severity' | 'source'>): string =>
  `${min === max ? formatDuration(min) : `${formatDuration(min)} to ${formatDuration(max)}`}${never ? ' or never' : ''}`

const scaleToZeroProblems = (value: number, { title, scaleToZero }: Tier): readonly TierProblem[] => {
  if (scaleToZero === undefined) return []
  const { min, max, never, severity } = scaleToZero
  const seconds = scaleToZeroSeconds(value)
  if (value === SCALE_TO_ZERO_NEVER ? never : seconds >= min && seconds <= max) return []
  return [
    {
      severity,
      code: severity === 'error' ? 'E_TIER_LIMIT' : 'W_TIER_LIMIT',
      path: 'scaleToZero',
      message: `\`scaleToZero: ${formatScaleToZero(value)}\` is not available on the ${title} plan (${allowedTimes(scaleToZero)}, table ${TIERS_VERSION})`,
      hint: `Write \`scaleToZero: ${formatDuration(min)}\`. ${CORRECT_TIER}`,
    },
  ]
}

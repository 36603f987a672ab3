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
  type Tier,
  type TierTable,
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

/** Finds the settings that the tier does not allow. Settings that are absent are not checked. */
export const checkTierSettings = (
  { size, scaleToZero }: Partial<Pick<ComputeSettings, 'size' | 'scaleToZero'>>,
  tier: Tier,
  { version }: Pick<TierTable, 'version'>,
): readonly TierProblem[] => [
  ...(size === undefined ? [] : sizeProblems(size, tier, version)),
  ...(scaleToZero === undefined ? [] : scaleToZeroProblems(scaleToZero, tier, version)),
]

/** @param count how many replicas the project will have after the change. */
export const checkTierReplicas = (
  count: number,
  { title, replicas }: Tier,
  table: TierTable,
): readonly TierProblem[] =>
  replicas === undefined || count <= replicas.max
    ? []
    : [
        {
          severity: 'warning',
          code: 'W_TIER_LIMIT',
          message: `The ${title} plan allows ${replicas.max} read replicas per project (table ${table.version}); the project would have ${count}`,
          hint: 'Declare fewer, or provide a newer table with --tier-table.',
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

const sizeProblems = (size: Size, { title, fixedCu, autoscalingCu }: Tier, version: string): readonly TierProblem[] => {
  const limit = isFixed(size) ? fixedCu : autoscalingCu
  if (limit === undefined || size.max <= limit.max) return []
  return [
    {
      severity: limit.severity,
      code: limit.severity === 'error' ? 'E_TIER_LIMIT' : 'W_TIER_LIMIT',
      path: 'size',
      message: `${formatSize(size)} is not available on the ${title} plan (at most ${limit.max} CU${isFixed(size) ? '' : ' with autoscaling'}, table ${version})`,
      hint: 'Choose a smaller size, or provide a newer table with --tier-table.',
    },
  ]
}

const scaleToZeroProblems = (value: number, { title, scaleToZero }: Tier, version: string): readonly TierProblem[] => {
  if (scaleToZero === undefined) return []
  const { min, max, never, severity } = scaleToZero
  const seconds = scaleToZeroSeconds(value)
  if (value === SCALE_TO_ZERO_NEVER ? never : seconds >= min && seconds <= max) return []
  const durations = min === max ? formatDuration(min) : `${formatDuration(min)} to ${formatDuration(max)}`
  return [
    {
      severity,
      code: severity === 'error' ? 'E_TIER_LIMIT' : 'W_TIER_LIMIT',
      path: 'scaleToZero',
      message: `\`scaleToZero: ${formatScaleToZero(value)}\` is not available on the ${title} plan (${durations}${never ? ' or never' : ''}, table ${version})`,
      hint: `Write \`scaleToZero: ${formatDuration(min)}\`, or provide a newer table with --tier-table.`,
    },
  ]
}

/** Checks whether the account's plan allows the requested settings. */
import { defined } from '../base/index.ts'
import {
  type Change,
  type ComputeSettings,
  type Diagnostic,
  formatDuration,
  formatScaleToZero,
  formatSize,
  isFixed,
  madeChanges,
  type ObservedProject,
  problem,
  SCALE_TO_ZERO_NEVER,
  type Severity,
  type Size,
  type Source,
  scaleToZeroSeconds,
  settingsSetBy,
  TIERS_VERSION,
  type Tier,
  type TierScaleToZero,
  tierOf,
  warning,
} from '../model/index.ts'

const CORRECT_TIER = 'If the limit is outdated, set `tier: none` in the manifest to disable the check.'

/** Where an attribute is declared. */
type PlaceOf = (path: 'size' | 'scaleToZero') => Source | undefined

/** Reports a limit that is exceeded. Only those with severity `error` block a plan. */
const exceeded = (severity: Severity, message: string, hint: string, source?: Source): Diagnostic =>
  severity === 'error' ? problem('E_TIER_LIMIT', message, hint, source) : warning('W_TIER_LIMIT', message, hint, source)

/** Finds the settings that the tier does not allow. Settings that are absent are not checked. */
export const checkTierSettings = (
  { size, scaleToZero }: Partial<Pick<ComputeSettings, 'size' | 'scaleToZero'>>,
  tier: Tier,
  placeOf: PlaceOf = () => undefined,
): readonly Diagnostic[] => [
  ...(size === undefined ? [] : sizeProblems(size, tier, placeOf)),
  ...(scaleToZero === undefined ? [] : scaleToZeroProblems(scaleToZero, tier, placeOf)),
]

/** @param count how many replicas the project will have after the change. */
export const checkTierReplicas = (count: number, { title, replicas }: Tier, source?: Source): readonly Diagnostic[] => {
  if (replicas === undefined || count <= replicas.max) return []
  const message = `The ${title} plan allows ${replicas.max} read replicas per project (table ${TIERS_VERSION}); the project would have ${count}.`
  return [exceeded('warning', message, `Declare fewer replicas. ${CORRECT_TIER}`, source)]
}

/** @param expected CU-hours per month that the project is expected to use. */
export const checkTierCuHours = (
  project: string,
  expected: number,
  { title, cuHours }: Tier,
): readonly Diagnostic[] => {
  if (cuHours === undefined || expected <= cuHours.max) return []
  const message = `The ${title} plan includes ${cuHours.max} CU-hours per project and month; about ${Math.round(expected)} are expected after this plan in \`${project}\`.`
  return [warning('W_QUOTA', message, 'Once they are used up, all computes of the project are suspended.')]
}

const sizeProblems = (size: Size, { title, fixedCu, autoscalingCu }: Tier, placeOf: PlaceOf): readonly Diagnostic[] => {
  const limit = isFixed(size) ? fixedCu : autoscalingCu
  if (limit === undefined || size.max <= limit.max) return []
  const message = `${formatSize(size)} is not available on the ${title} plan (at most ${limit.max} CU${isFixed(size) ? '' : ' with autoscaling'}, table ${TIERS_VERSION}).`
  return [exceeded(limit.severity, message, `Choose a smaller size. ${CORRECT_TIER}`, placeOf('size'))]
}

/** `1m to 7d or never`. */
export const allowedTimes = ({ min, max, never }: Omit<TierScaleToZero, 'severity' | 'source'>): string =>
  `${min === max ? formatDuration(min) : `${formatDuration(min)} to ${formatDuration(max)}`}${never ? ' or never' : ''}`

const scaleToZeroProblems = (value: number, { title, scaleToZero }: Tier, placeOf: PlaceOf): readonly Diagnostic[] => {
  if (scaleToZero === undefined) return []
  const { min, max, never, severity } = scaleToZero
  const seconds = scaleToZeroSeconds(value)
  if (value === SCALE_TO_ZERO_NEVER ? never : seconds >= min && seconds <= max) return []
  const message = `\`scaleToZero: ${formatScaleToZero(value)}\` is not available on the ${title} plan (${allowedTimes(scaleToZero)}, table ${TIERS_VERSION}).`
  const hint = `Write \`scaleToZero: ${formatDuration(min)}\`. ${CORRECT_TIER}`
  return [exceeded(severity, message, hint, placeOf('scaleToZero'))]
}

// Checks a project's changes against the account's plan.

/**
 * The tier of a project; `undefined` if it is unknown or `none`.
 *
 * @param tier the one that the manifests declare, instead of the one that the service reports.
 */
export const tierOfProject = (
  { settings }: Pick<ObservedProject, 'settings'>,
  tier: string | undefined,
): Tier | undefined => {
  const word = tier ?? settings?.subscription
  return word === undefined || tier === 'none' ? undefined : tierOf(word)
}

/**
 * Checks only values that the plan changes, because live values may predate the limit.
 *
 * @param declaredTier the tier that the manifests declare; `none` disables the checks.
 */
export const checkProject = (
  project: ObservedProject,
  changes: readonly Change[],
  declaredTier?: string,
): readonly Diagnostic[] => {
  if (declaredTier === 'none') return []
  const planned = madeChanges({ changes })
  const asked = planned.flatMap(({ attributes, source }) => {
    const { size, scaleToZero } = settingsSetBy(attributes)
    const placeOf: PlaceOf = (path) => attributes.find((one) => one.path === path)?.source ?? source
    return size === undefined && scaleToZero === undefined
      ? []
      : [{ settings: defined({ size, scaleToZero }), placeOf }]
  })
  const isReplica = ({ compute }: Change): boolean => compute.type === 'read_only'
  // A replacement changes the type of the compute.
  const added = planned.filter((one) => (one.kind === 'create' || one.kind === 'replace') && isReplica(one))
  if (asked.length === 0 && added.length === 0) return []
  const tier = tierOfProject(project, declaredTier)
  if (tier === undefined) return [unchecked(project)]
  const perCompute = asked.flatMap(({ settings, placeOf }) => checkTierSettings(settings, tier, placeOf))
  const removed = planned.filter((one) => one.kind === (isReplica(one) ? 'delete' : 'replace'))
  const before = project.computes.filter(({ type }) => type === 'read_only').length
  const [first] = added
  if (first === undefined) return perCompute
  return [...perCompute, ...checkTierReplicas(before + added.length - removed.length, tier, first.source)]
}

const unchecked = ({ id, settings }: ObservedProject): Diagnostic => {
  if (settings === undefined) {
    const message = `The settings of project \`${id}\` could not be read: plan limits, maintenance and part of the cost are unknown.`
    return warning('W_PROJECT_NOT_READ', message)
  }
  const message =
    settings.subscription === undefined
      ? `The service does not show the plan of project \`${id}\`: its limits were not checked.`
      : `Plan \`${settings.subscription}\` of project \`${id}\` is not in the tier table: its limits were not checked.`
  const hint = 'Declare it in the manifest, for example `tier: scale`, or `tier: none` to disable the checks.'
  return warning('W_TIER_UNKNOWN', message, hint)
}

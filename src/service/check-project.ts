/** Checks a project's changes against the account's plan. */
import { groupBy } from '../base/index.ts'
import {
  type Change,
  type Diagnostic,
  type ObservedProject,
  requestOf,
  type Step,
  settingsAfter,
  type Tier,
  tierOf,
} from '../model/index.ts'
import { checkTierReplicas, checkTierSettings, type TierProblem } from './tier-checks.ts'

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
  { changes, steps }: { readonly changes: readonly Change[]; readonly steps: readonly Step[] },
  declaredTier?: string,
): readonly Diagnostic[] => {
  if (declaredTier === 'none') return []
  const stepsOf = groupBy(steps, ({ change }) => change)
  const asked = changes.flatMap((change) => {
    const request = requestOf(stepsOf.get(change.id) ?? [])
    const isSize = request.autoscaling_limit_min_cu !== undefined || request.autoscaling_limit_max_cu !== undefined
    const isTimeout = request.suspend_timeout_seconds !== undefined
    return change.refused === undefined && (isSize || isTimeout) ? [{ change, isSize, isTimeout }] : []
  })
  const created = changes.filter(({ kind, compute }) => kind === 'create' && compute.type === 'read_only')
  if (asked.length === 0 && created.length === 0) return []
  const tier = tierOfProject(project, declaredTier)
  if (tier === undefined) return [unchecked(project)]
  const live = new Map(project.computes.map((compute) => [compute.id, compute]))
  const perCompute = asked.flatMap(({ change, isSize, isTimeout }) => {
    const current = live.get(change.compute.id ?? '')
    const after = settingsAfter(change, stepsOf.get(change.id) ?? [], current, project.settings?.computeDefaults)
    const settings = {
      ...(isSize && after?.size !== undefined ? { size: after.size } : {}),
      ...(isTimeout && after?.scaleToZero !== undefined ? { scaleToZero: after.scaleToZero } : {}),
    }
    return checkTierSettings(settings, tier).map((problem) => toDiagnostic(problem, change))
  })
  const deleted = changes.filter(({ kind, compute }) => kind === 'delete' && compute.type === 'read_only').length
  const before = project.computes.filter(({ type }) => type === 'read_only').length
  const [first] = created
  const replicas = first === undefined ? [] : checkTierReplicas(before + created.length - deleted, tier)
  return [...perCompute, ...replicas.map((problem) => toDiagnostic(problem, first))]
}

const unchecked = ({ id, settings }: ObservedProject): Diagnostic =>
  settings === undefined
    ? {
        severity: 'warning',
        code: 'W_PROJECT_NOT_READ',
        message: `The settings of project \`${id}\` could not be read: plan limits, maintenance and part of the cost are unknown.`,
      }
    : {
        severity: 'warning',
        code: 'W_TIER_UNKNOWN',
        message:
          settings.subscription === undefined
            ? `The service does not show the plan of project \`${id}\`: its limits were not checked.`
            : `Plan \`${settings.subscription}\` of project \`${id}\` is not in the tier table: its limits were not checked.`,
        hint: 'Declare it in the manifest, for example `tier: scale`, or `tier: none` to disable the checks.',
      }

const toDiagnostic = ({ severity, code, path, message, hint }: TierProblem, change: Change | undefined): Diagnostic => {
  const source = change?.attributes.find((attribute) => attribute.path === path)?.source ?? change?.source
  return { severity, code, message: `${message}.`, hint, ...(source === undefined ? {} : { source }) }
}

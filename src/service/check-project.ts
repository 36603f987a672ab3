/** Checks a project's changes against the account's plan. */
import { groupBy } from '../base/index.ts'
import {
  type Change,
  type Diagnostic,
  type ObservedProject,
  requestOf,
  type Step,
  settingsAfter,
  TIER_TABLE,
  type Tier,
  type TierTable,
  tierOf,
} from '../model/index.ts'
import { checkTierReplicas, checkTierSettings, type TierProblem } from './tier-checks.ts'

export interface TierOptions {
  readonly table?: TierTable | undefined
  /** Overrides the tier that the service reports; `none` disables the checks. */
  readonly tier?: string | undefined
}

/** The tier of a project; `undefined` if it is unknown or `tier` is `none`. */
export const tierOfProject = (
  { settings }: Pick<ObservedProject, 'settings'>,
  { table = TIER_TABLE, tier }: TierOptions,
): Tier | undefined => {
  const word = tier ?? settings?.subscription
  return word === undefined || tier === 'none' ? undefined : tierOf(word, table)
}

/** Checks only values that the plan changes, because live values may predate the limit. */
export const checkProject = (
  project: ObservedProject,
  { changes, steps }: { readonly changes: readonly Change[]; readonly steps: readonly Step[] },
  options: TierOptions = {},
): readonly Diagnostic[] => {
  if (options.tier === 'none') return []
  const stepsOf = groupBy(steps, ({ change }) => change)
  const asked = changes.flatMap((change) => {
    const request = requestOf(stepsOf.get(change.id) ?? [])
    const isSize = request.autoscaling_limit_min_cu !== undefined || request.autoscaling_limit_max_cu !== undefined
    const isTimeout = request.suspend_timeout_seconds !== undefined
    return change.refused === undefined && (isSize || isTimeout) ? [{ change, isSize, isTimeout }] : []
  })
  const created = changes.filter(({ kind, compute }) => kind === 'create' && compute.type === 'read_only')
  if (asked.length === 0 && created.length === 0) return []
  const tier = tierOfProject(project, options)
  if (tier === undefined) return [unchecked(project)]
  const table = options.table ?? TIER_TABLE
  const live = new Map(project.computes.map((compute) => [compute.id, compute]))
  const perCompute = asked.flatMap(({ change, isSize, isTimeout }) => {
    const current = live.get(change.compute.id ?? '')
    const after = settingsAfter(change, stepsOf.get(change.id) ?? [], current, project.settings?.computeDefaults)
    const settings = {
      ...(isSize && after?.size !== undefined ? { size: after.size } : {}),
      ...(isTimeout && after?.scaleToZero !== undefined ? { scaleToZero: after.scaleToZero } : {}),
    }
    return checkTierSettings(settings, tier, table).map((problem) => toDiagnostic(problem, change))
  })
  const deleted = changes.filter(({ kind, compute }) => kind === 'delete' && compute.type === 'read_only').length
  const before = project.computes.filter(({ type }) => type === 'read_only').length
  const [first] = created
  const replicas = first === undefined ? [] : checkTierReplicas(before + created.length - deleted, tier, table)
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
        hint: 'Specify it with --tier, or provide a newer table with --tier-table.',
      }

const toDiagnostic = ({ severity, code, path, message, hint }: TierProblem, change: Change | undefined): Diagnostic => {
  const source = change?.attributes.find((attribute) => attribute.path === path)?.source ?? change?.source
  return { severity, code, message: `${message}.`, hint, ...(source === undefined ? {} : { source }) }
}

import { compare, groupBy } from '../base/index.ts'
import {
  bySource,
  type Change,
  countChanges,
  type Origin,
  PLAN_FORMAT_VERSION,
  type Plan,
  type PlanSummary,
  totalCost,
} from '../model/index.ts'
import { NO_CAPACITY } from './summary.ts'

/** The plan that a single run over all projects would have produced. The plans must not share projects. */
export const mergePlans = (plans: readonly Plan[]): Plan => {
  const changes = byProject(plans.flatMap((plan) => plan.changes))
  return {
    formatVersion: PLAN_FORMAT_VERSION,
    projects: plans.flatMap(({ projects }) => projects).sort(compare),
    ...mergeNames(plans),
    ...mergeLists(plans, 'leftOut'),
    ...mergeWaves(plans),
    ...mergeSelections(plans),
    changes,
    steps: byProject(plans.flatMap(({ steps }) => steps)),
    unmanaged: byProject(plans.flatMap(({ unmanaged }) => unmanaged)),
    estimates: byProject(plans.flatMap(({ estimates }) => estimates)),
    summary: plans.map(({ summary }) => summary).reduce(added, NO_SUMMARY),
    warnings: mergeWarnings(plans),
    ...mergeCosts(plans, changes),
    ...mergeLists(plans, 'maintenance'),
    ...mergeLists(plans, 'skipped'),
    ...mergeLists(plans, 'expiring'),
    ...mergePolicies(plans),
  }
}

const mergeLists = <K extends 'maintenance' | 'skipped' | 'expiring' | 'leftOut'>(
  plans: readonly Plan[],
  key: K,
): Partial<Plan> => {
  const all = byProject(plans.flatMap((plan): readonly { readonly project: string }[] => plan[key] ?? []))
  return all.length === 0 ? {} : { [key]: all }
}

/** Shards of a fleet have the same policies. */
const mergePolicies = (plans: readonly Plan[]): Pick<Plan, 'policies'> => {
  const all = plans.flatMap(({ policies }) => policies ?? [])
  const [first] = all
  if (first === undefined) return {}
  return {
    policies: {
      ...first,
      results: byProject(all.flatMap(({ results }) => results)),
      changes: [...new Set(all.flatMap(({ changes }) => changes))],
    },
  }
}

/**
 * Absent if a plan has no cost, because the sum would be too low.
 *
 * @param changes of all plans, in the order in which their costs are listed
 */
const mergeCosts = (plans: readonly Plan[], changes: readonly Change[]): Pick<Plan, 'cost'> => {
  const costs = plans.map(({ cost }) => cost).filter((cost) => cost !== undefined)
  const [first] = costs
  if (first === undefined || costs.length < plans.length) return {}
  const position = new Map(changes.map(({ id }, index) => [id, index]))
  const projects = costs.flatMap((cost) => cost.projects).sort((a, b) => compare(a.project, b.project))
  return {
    cost: {
      ...first,
      total: totalCost(costs.map(({ total }) => total)),
      projects,
      computes: costs
        .flatMap(({ computes }) => computes)
        .sort((a, b) => (position.get(a.change) ?? 0) - (position.get(b.change) ?? 0)),
    },
  }
}

/** An override that one shard does not need may be needed in another, so it is unused only if no shard needs it. */
const mergeWarnings = (plans: readonly Plan[]): Plan['warnings'] => {
  const all = plans.flatMap(({ warnings }) => warnings)
  const unused = groupBy(
    all.filter(({ code }) => code === 'W_OVERRIDE_UNUSED'),
    ({ message }) => message,
  )
  return [
    ...all.filter(({ code }) => code !== 'W_OVERRIDE_UNUSED'),
    ...[...unused.values()].flatMap((same) => (same.length === plans.length ? same.slice(0, 1) : [])),
  ].sort(bySource)
}

const mergeNames = (plans: readonly Plan[]): Pick<Plan, 'projectNames'> => {
  const names = Object.assign({}, ...plans.map(({ projectNames }) => projectNames ?? {})) as Record<string, string>
  return Object.keys(names).length === 0 ? {} : { projectNames: names }
}

/** All shards have the same waves, but each shard lists only its own projects in them. */
const mergeWaves = (plans: readonly Plan[]): Pick<Plan, 'waves'> => {
  const all = plans.flatMap(({ waves }) => waves ?? [])
  if (all.length === 0) return {}
  const byName = groupBy(all, ({ name }) => name)
  return {
    waves: [...byName].map(([name, parts]) => ({
      name,
      projects: parts.flatMap(({ projects }) => projects).sort(compare),
    })),
  }
}

/** Shards of a fleet are planned with the same selection. */
const mergeSelections = (plans: readonly Plan[]): Pick<Plan, 'selection'> => {
  const selections = plans.flatMap(({ selection }) => selection ?? [])
  const [first] = selections
  if (first === undefined) return {}
  const leftOut = selections.map((one) => one.leftOut).reduce((sum, one) => added(sum, one))
  const changes = selections.flatMap((one) => one.changes ?? [])
  return { selection: { ...first, ...(first.changes === undefined ? {} : { changes }), leftOut } }
}

export const mergeOrigins = (origins: readonly Origin[]): Origin => {
  const gaps = [...new Set(origins.flatMap((origin) => origin.gaps ?? []))]
  return {
    introduced: byProject(origins.flatMap(({ introduced }) => introduced)),
    drift: byProject(origins.flatMap(({ drift }) => drift)),
    settled: byProject(origins.flatMap(({ settled }) => settled)),
    released: byProject(origins.flatMap(({ released }) => released)),
    ...(gaps.length === 0 ? {} : { gaps }),
  }
}

/** Sorts by project; the order within a project is significant and stays. */
const byProject = <T extends { readonly project: string }>(items: readonly T[]): readonly T[] =>
  [...groupBy(items, ({ project }) => project)].sort(([a], [b]) => compare(a, b)).flatMap(([, group]) => group)

const NO_SUMMARY: PlanSummary = {
  ...countChanges([]),
  unmanaged: 0,
  managed: 0,
  capacity: { before: NO_CAPACITY, after: NO_CAPACITY },
  calls: 0,
}

/** Adds numeric fields, recursively. */
const added = <T extends object>(a: T, b: T): T =>
  Object.fromEntries(
    Object.entries(a).map(([key, value]) => {
      const other: unknown = b[key as keyof T]
      return [key, typeof value === 'number' ? value + Number(other) : added(value, other as object)]
    }),
  ) as T

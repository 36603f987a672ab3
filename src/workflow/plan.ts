/** Plans how to bring live projects in line with manifests. */
import {
  countReads,
  newestOperations,
  type OnReading,
  operationsReader,
  optionalRead,
  type ReadApi,
  type ReadOperations,
  snapshot,
} from '../api/index.ts'
import type { ReadCompute } from '../apply/index.ts'
import { type Clock, DEFAULT_CONCURRENCY, defined, mapConcurrently } from '../base/index.ts'
import {
  type BranchName,
  type Change,
  hasRecentChange,
  type Observed,
  type ObservedProject,
  type Origin,
  type Plan,
  type PlanResult,
} from '../model/index.ts'
import { plan, projectIds, withEstimates } from '../planner/index.ts'
import { checkProject } from '../service/index.ts'
import { type BaseComparison, compareWithBase, removedProjects } from './base.ts'
import type { Manifests } from './manifests.ts'
import { appliedPolicies, NO_POLICIES, requirePolicies } from './policies.ts'
import { declaredFor, reviewPlan } from './review.ts'
import { branchMatcher, planningOf, selectProjects } from './selection.ts'

export interface Planned {
  readonly manifests: Manifests
  /** The snapshot that the plan was made from. */
  readonly observed: Observed
  readonly result: PlanResult
  /** The comparison with the base, if a base was given. */
  readonly comparison?: BaseComparison
}

export interface PlanOptions {
  /** How many projects are read concurrently. The default is 16. */
  readonly concurrency?: number | undefined
  /** The clock of the snapshot's time. The default is the system's. */
  readonly clock?: Clock | undefined
  /**
   * Whether to read operations, to estimate durations and to find unsettled computes: those of each project that changes
   * or has changed in the last 30 days. On by default.
   */
  readonly readsOperations?: boolean
  /** The reader of an earlier plan, which remembers what it has read. */
  readonly reader?: ReadOperations
  /** The manifests to compare with, which are those at a git ref or on a pull request's base. */
  readonly base?: Manifests | undefined
  /**
   * For the plan of an untrusted pull request: returns the part of the snapshot that it may see. The safeguards of its
   * base apply as well, and past operations are not read.
   */
  readonly publicPart?: ((observed: Observed) => Observed) | undefined
  readonly pinAliases?: Readonly<Record<string, string>>
  readonly onReading?: OnReading | undefined
  /** Computes that were read by id. They replace those in the list of computes, which may be older. */
  readonly read?: readonly ReadCompute[]
}

/** Reads the projects that the manifests declare, and plans the changes to them. */
export const planLive = async (api: ReadApi, all: Manifests, options: PlanOptions = {}): Promise<Planned> => {
  requirePolicies(options.base)
  const { head: manifests, base } = await selectProjects(all, options.base, (ids) => namesOf(api, ids, options))
  const { concurrency = DEFAULT_CONCURRENCY, clock, read = [], onReading } = options
  const readsOperations = options.readsOperations !== false && options.publicPart === undefined
  const projects = projectIds(manifests.loaded.desired)
  // The plan does not depend on these projects, so it does not matter if one of them has been deleted.
  const alsoRead = base === undefined ? [] : removedProjects(base, manifests)
  // For a few projects, reading operations together with the snapshot saves a round trip. For a large fleet, only the
  // operations that are needed are read, because of the rate limit.
  const isEarly = readsOperations && options.reader === undefined && projects.length <= concurrency
  const early = new Map(isEarly ? projects.map((id) => [id, newestOperations(api, id)]) : [])
  for (const reading of early.values()) reading.catch(() => undefined)
  const observed = withRead(await snapshot(api, [...projects, ...alsoRead], { concurrency, clock, onReading }), read)
  if (!readsOperations) return planSnapshot(observed, manifests, { ...options, base })
  const planned = planUnreviewed(observed, manifests, { ...options, base })
  const changing = new Set(planned.result.plan.steps.map(({ project }) => project))
  const { reader = operationsReader() } = options
  const now = api.serviceTime()
  const isWanted = ({ id, computes }: ObservedProject): boolean =>
    planned.result.plan.projects.includes(id) && (changing.has(id) || hasRecentChange(computes, now))
  const wanted = new Set(observed.projects.filter(isWanted))
  const counted = countReads('past operations', wanted.size, isEarly || wanted.size === 0 ? undefined : onReading)
  const withPast = await mapConcurrently(observed.projects, concurrency, async (project) => {
    if (!wanted.has(project)) return project
    return counted(reader(api, project, early.get(project.id)))
  })
  const whole = { ...observed, projects: withPast }
  const result = { ...planned.result, plan: withEstimates(planned.result.plan, whole) }
  return reviewed({ ...planned, observed: whole, result }, base)
}

const reviewed = (planned: Planned, base: Manifests | undefined, isUntrusted = false): Planned => {
  const { manifests, observed, result, comparison } = planned
  const own = manifests.review?.policies
  const policies = appliedPolicies(own, base, isUntrusted)
  const proposed = base === undefined || policies === undefined ? undefined : (own ?? NO_POLICIES)
  const before = base?.review?.policies ?? NO_POLICIES
  const plan = reviewPlan(
    result.plan,
    observed,
    manifests.loaded.desired,
    {
      ...manifests.review,
      policies,
      proposed: proposed && { from: before, to: proposed, isEvaluated: !isUntrusted },
      isBranch: isSelectedBranch(manifests, observed, result.plan),
      drift: comparison?.origin.drift,
    },
    base?.loaded.desired,
  )
  return {
    ...planned,
    result: { ...result, plan },
    ...(comparison && { comparison: { ...comparison, origin: within(comparison.origin, plan) } }),
  }
}

/** The origin of the changes that the plan contains, which are only those that are selected. */
const within = (origin: Origin, { changes, selection }: Plan): Origin => {
  const reviewed = new Map(changes.map((change) => [change.id, change]))
  const isWhole = selection?.introducedSince === undefined
  const included = new Set(selection?.included)
  // A change that is introduced in part is in both lists, each with its own attributes.
  const asReviewed = (list: readonly Change[]): readonly Change[] =>
    list
      .filter(({ id }) => reviewed.has(id))
      .map((change) => {
        const { refused, isDenied } = reviewed.get(change.id) ?? {}
        return { ...change, ...defined({ refused, isDenied }) }
      })
  return {
    ...origin,
    introduced: asReviewed(origin.introduced),
    drift: asReviewed(origin.drift.filter(({ id }) => isWhole || included.has(id))),
  }
}

/** Changes on other branches may be planned too, because a selected change runs only with them. */
const isSelectedBranch = ({ selecting }: Manifests, observed: Observed, { changes }: Plan) => {
  const isMatch = branchMatcher(selecting?.selection.branches, observed)
  const planned = new Set(changes.flatMap(({ branch, from }) => [branch.id, ...(from === undefined ? [] : [from.id])]))
  return (branch: BranchName): boolean => isMatch(branch) || planned.has(branch.id)
}

/** Plans the changes to the selected projects, from a snapshot of these projects. */
export const planSnapshot = (observed: Observed, manifests: Manifests, options: PlanOptions = {}): Planned => {
  const { base, publicPart } = options
  const part = publicPart === undefined ? observed : publicPart(observed)
  return reviewed(planUnreviewed(part, manifests, options), base, publicPart !== undefined)
}

const planUnreviewed = (
  observed: Observed,
  manifests: Manifests,
  { base, publicPart, pinAliases }: PlanOptions,
): Planned => {
  const { loaded } = manifests
  const tierFor = declaredFor(loaded.desired, 'tier')
  const options = {
    check: (project: ObservedProject, changes: readonly Change[]) =>
      checkProject(project, changes, tierFor(project.id)),
    pinAliases,
    baseSafeguards: publicPart !== undefined ? base?.loaded.desired : undefined,
  }
  const whole = () => plan(loaded.desired, observed, options).plan
  const selected = planningOf(manifests, observed, whole)
  const result = plan(loaded.desired, observed, { ...options, ...selected })
  if (base === undefined) return { manifests, observed, result }
  const comparison = compareWithBase(base, manifests, {
    plan: selected === undefined ? result.plan : whole(),
    observed,
    isBranch: isSelectedBranch(manifests, observed, result.plan),
  })
  return { manifests, observed, result, comparison }
}

/** Plans offline from a snapshot. A project that is not in the snapshot counts as missing. */
export const planRecorded = async (
  observed: Observed,
  manifests: Manifests,
  options: PlanOptions = {},
): Promise<Planned> => {
  const names = new Map(observed.projects.map(({ id, name = '' }) => [id, name]))
  const { head, base } = await selectProjects(manifests, options.base, async () => names)
  return planSnapshot(observed, head, { ...options, base })
}

/**
 * The names of the projects, as far as the key can read them. A few projects are read one by one, which costs nothing
 * if they are read anyway; a fleet is listed, 400 projects per request.
 */
export const namesOf = async (
  api: ReadApi,
  ids: readonly string[],
  { concurrency = DEFAULT_CONCURRENCY, onReading }: PlanOptions,
): Promise<ReadonlyMap<string, string>> => {
  const all = ids.length > concurrency ? ((await optionalRead(api.listProjects())) ?? []) : []
  const names = new Map(all.map(({ id, name }) => [id, name]))
  const unlisted = ids.filter((id) => !names.has(id))
  const counted = countReads('project names', unlisted.length, onReading)
  await mapConcurrently(unlisted, concurrency, async (id) => {
    const details = await counted(api.projectDetails(id))
    if (details !== undefined) names.set(id, details.name)
  })
  return names
}

const withRead = (observed: Observed, read: readonly ReadCompute[]): Observed => {
  if (read.length === 0) return observed
  const ids = new Set(read.map(({ id }) => id))
  return {
    ...observed,
    projects: observed.projects.map((project) => ({
      ...project,
      computes: [
        ...project.computes.filter(({ id }) => !ids.has(id)),
        ...read.flatMap((one) => (one.project === project.id ? (one.compute ?? []) : [])),
      ],
    })),
  }
}

/** The whole way of a plan: manifests and live projects, to a plan. */
import { ApiError, countReads, type OnReading, pastOperations, type ReadApi, snapshot } from '../api/index.ts'
import type { ReadCompute } from '../apply/index.ts'
import { mapConcurrently } from '../base/index.ts'
import {
  type Change,
  DEFAULT_CONCURRENCY,
  EspalierError,
  type Observed,
  type ObservedProject,
  type Plan,
  type PlanResult,
} from '../model/index.ts'
import { plan, projectIds, withEstimates } from '../planner/index.ts'
import { checkProject } from '../service/index.ts'
import { type BaseComparison, compareWithBase, removedProjects } from './base.ts'
import type { Manifests } from './manifests.ts'
import { POLICY_FILE, type Policies, warnOnly } from './policies.ts'
import { reviewPlan } from './review.ts'
import { planningOf, selectProjects } from './selection.ts'

export interface Planned {
  readonly manifests: Manifests
  /** The snapshot that the plan was made from. */
  readonly observed: Observed
  readonly result: PlanResult
  /** Where a base was given. */
  readonly comparison?: BaseComparison
}

export interface PlanOptions {
  /** Projects read at once. Default 16. */
  readonly concurrency?: number | undefined
  /** Also read a page of past operations of each project that changes, for the estimate. Default: yes. */
  readonly estimate?: boolean
  /** Manifests to compare with: those of a git ref, or of a pull request's base. */
  readonly base?: Manifests | undefined
  /** The base's protection, prune and restart windows hold in the plan too, as an untrusted pull request needs it. */
  readonly enforceBasePolicy?: boolean
  readonly pinAliases?: Readonly<Record<string, string>>
  readonly onReading?: OnReading | undefined
  /** Computes that were read by their ids, which a list may not show yet as they are. */
  readonly read?: readonly ReadCompute[]
}

/** Reads the projects that the manifests name, and plans against what they show. */
export const planLive = async (api: ReadApi, all: Manifests, options: PlanOptions = {}): Promise<Planned> => {
  requirePolicies(options.base)
  const manifests = await selectProjects(all, (ids) => namesOf(api, ids, options))
  const { concurrency = DEFAULT_CONCURRENCY, base, estimate = true, read = [], onReading } = options
  const projects = projectIds(manifests.loaded.desired)
  // A project that only the base declares may be deleted: the plan does not need it.
  const alsoRead = base === undefined ? [] : removedProjects(base, manifests)
  // Few projects cost one round trip this way. Of a large fleet only those that change are read: requests are limited.
  const early = estimate && projects.length <= concurrency ? projects.map((id) => readPast(api, id)) : undefined
  for (const reading of early ?? []) reading.catch(() => undefined)
  const observed = withRead(
    await snapshot(api, [...projects, ...alsoRead], {
      details: manifests.review?.readProject !== false,
      concurrency,
      onReading,
    }),
    read,
  )
  const planned = planUnreviewed(observed, manifests, options)
  const changing = new Set(planned.result.plan.steps.map(({ project }) => project))
  if (!estimate || changing.size === 0) return reviewed(planned, options)
  const counted = countReads('past operations', changing.size, early === undefined ? onReading : undefined)
  const withPast = await mapConcurrently(observed.projects, concurrency, async (project) => {
    if (!changing.has(project.id)) return project
    const past = await counted(early?.[projects.indexOf(project.id)] ?? readPast(api, project.id))
    return past === undefined ? project : { ...project, ...past }
  })
  const whole = { ...observed, projects: withPast }
  const result = { ...planned.result, plan: withEstimates(planned.result.plan, whole) }
  return reviewed({ ...planned, observed: whole, result }, options)
}

/**
 * The policies of the base count, so that a pull request cannot allow itself what they deny. Where the base has none, those
 * that come with the pull request only warn.
 */
const reviewed = (planned: Planned, { base }: PlanOptions): Planned => {
  const { manifests, observed, result, comparison } = planned
  requirePolicies(base)
  const own = manifests.review?.policies
  const policies = base === undefined ? own : (base.review?.policies ?? (own && warnOnly(own)))
  const proposed = base === undefined || policies === undefined ? undefined : (own ?? NO_POLICIES)
  const before = base?.review?.policies ?? NO_POLICIES
  const plan = reviewPlan(
    result.plan,
    observed,
    manifests.loaded.desired,
    {
      ...manifests.review,
      ...(policies === undefined ? {} : { policies }),
      ...(proposed === undefined ? {} : { proposed: { from: before, to: proposed } }),
    },
    base?.loaded.desired,
  )
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const asReviewed = (list: readonly Change[]) => list.map((change) => changes.get(change.id) ?? change)
  return {
    ...planned,
    result: { ...result, plan },
    ...(comparison && {
      comparison: {
        ...comparison,
        origin: {
          ...comparison.origin,
          introduced: asReviewed(comparison.origin.introduced),
          drift: asReviewed(comparison.origin.drift),
        },
      },
    }),
  }
}

const NO_POLICIES: Policies = { files: [], policies: [] }

/**
 * Where the base's policies cannot be read, it is unknown what they deny.
 *
 * @throws {EspalierError} `E_POLICY_BASE`
 */
const requirePolicies = (base: Manifests | undefined): void => {
  const mistake = base?.review?.policies?.mistake
  if (mistake === undefined) return
  const { file = POLICY_FILE, line = 1, column = 1 } = mistake.source ?? {}
  throw new EspalierError(
    'E_POLICY_BASE',
    `The base's policies have a mistake: ${file}:${line}:${column}: ${mistake.message}`,
    {
      hint: 'Correct them on the base branch first.',
    },
  )
}

/** Plans the selected projects against a snapshot of them. */
export const planSnapshot = (observed: Observed, manifests: Manifests, options: PlanOptions = {}): Planned =>
  reviewed(planUnreviewed(observed, manifests, options), options)

const planUnreviewed = (
  observed: Observed,
  manifests: Manifests,
  { base, enforceBasePolicy = false, pinAliases }: PlanOptions,
): Planned => {
  const { loaded, sizeTable } = manifests
  const options = {
    check: (project: ObservedProject, planned: Pick<Plan, 'changes' | 'steps'>) =>
      checkProject(project, planned, manifests.review),
    ...(sizeTable === undefined ? {} : { sizeTable }),
    ...(pinAliases === undefined ? {} : { pinAliases }),
    ...(enforceBasePolicy && base !== undefined ? { basePolicy: base.loaded.desired } : {}),
  }
  const whole = () => plan(loaded.desired, observed, options).plan
  const selected = planningOf(manifests, observed, whole)
  const result = plan(loaded.desired, observed, { ...options, ...selected })
  const comparison = base && compareWithBase(base, manifests, selected === undefined ? result.plan : whole(), observed)
  return {
    manifests,
    observed,
    result,
    ...(comparison === undefined
      ? {}
      : { comparison: selected === undefined ? comparison : within(comparison, result.plan) }),
  }
}

/** Only what the plan of a selection holds as well. */
const within = (comparison: BaseComparison, { changes, selection }: Plan): BaseComparison => {
  const { introduced, drift, ...rest } = comparison.origin
  const ids = new Set(changes.map(({ id }) => id))
  const isPlanned = ({ id }: { readonly id: string }): boolean => ids.has(id)
  const isWhole = selection?.introducedSince === undefined
  return {
    ...comparison,
    origin: { ...rest, introduced: introduced.filter(isPlanned), drift: isWhole ? drift.filter(isPlanned) : [] },
  }
}

/** Plans offline. A project that the snapshot lacks counts as not there. */
export const planRecorded = async (
  observed: Observed,
  manifests: Manifests,
  options: PlanOptions = {},
): Promise<Planned> => {
  const names = new Map(observed.projects.map(({ id, name = '' }) => [id, name]))
  return planSnapshot(observed, await selectProjects(manifests, async () => names), options)
}

/** Of those that the service shows. */
export const namesOf = async (
  api: ReadApi,
  ids: readonly string[],
  { concurrency = DEFAULT_CONCURRENCY, onReading }: PlanOptions,
): Promise<ReadonlyMap<string, string>> => {
  const counted = countReads('project names', ids.length, onReading)
  const details = await mapConcurrently(ids, concurrency, (id) => counted(api.projectDetails(id)))
  return new Map(ids.flatMap((id, at) => (details[at]?.name === undefined ? [] : [[id, details[at].name]])))
}

/** A project whose operations cannot be read is planned anyway, without an estimate. */
const readPast = async (
  api: ReadApi,
  project: string,
): Promise<Pick<ObservedProject, 'pastOperations'> | undefined> => {
  try {
    return await pastOperations(api, project)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
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

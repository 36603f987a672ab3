/** Manifests and the live projects, to a plan. */
import { pastOperations, type ReadApi, snapshot } from '../api/index.ts'
import type { ReadCompute } from '../apply/index.ts'
import { type Desired, type Diagnostic, hasErrors, type Observed, type Plan, type PlanResult } from '../model/index.ts'
import { plan, projectIds, withEstimates } from '../planner/index.ts'
import type { Manifests } from './manifests.ts'

export interface Look {
  readonly observed: Observed
  readonly result: PlanResult
}

export interface LookOptions {
  readonly concurrency: number
  /** Also reads a page of past operations of each project that changes, for the estimate. */
  readonly estimate: boolean
  readonly pinAliases?: Readonly<Record<string, string>>
  /** Computes that were read by their ids, which a list may not show yet as they are. */
  readonly read?: readonly ReadCompute[]
  /** Another version of the manifests, whose protection counts as well. */
  readonly guard?: Desired
}

/**
 * What the base's manifests would have changed already, before the pull request: planned against the same snapshot, so
 * that nothing which moved in between can be taken for the pull request's doing. Projects that only the base names are
 * none of its business.
 *
 * @returns `undefined` where the base's manifests cannot be planned.
 */
export const planOfBase = (base: Manifests, observed: Observed): Plan | undefined => {
  if (hasErrors(base.loaded.diagnostics)) return undefined
  const known = new Set(observed.projects.map(({ id }) => id))
  const documents = base.loaded.desired.documents.filter(({ project }) => known.has(project))
  const result = plan({ documents }, observed, base.sizeTable === undefined ? {} : { sizeTable: base.sizeTable })
  return result.ok ? result.plan : undefined
}

const OF_GUARDS = new Set(['W_GUARD_WEAKENED', 'W_WINDOW_CHANGED'])

/**
 * A warning for each protection, prune and restart window that the head holds less to than the base does. Its plan is
 * what the merge will do, so it is made without the base's guards, and this is how a reviewer learns that they go.
 */
export const weakenedGuards = (base: Manifests, { loaded }: Manifests, observed: Observed): readonly Diagnostic[] => {
  if (base.paths.length === 0 || hasErrors(base.loaded.diagnostics)) return []
  const { sizeTable } = base
  const guarded = { guard: base.loaded.desired, ...(sizeTable === undefined ? {} : { sizeTable }) }
  const result = plan(loaded.desired, observed, guarded)
  if (!result.ok) return []
  return result.plan.warnings
    .filter(({ code }) => OF_GUARDS.has(code))
    .map((warning) => ({ ...warning, hint: 'That is so as soon as it is merged: check that it is meant.' }))
}

/** Plans against a snapshot that was taken before; what it lacks counts as not there. */
export const lookAt = (observed: Observed, { loaded, sizeTable }: Manifests): Look => ({
  observed,
  result: plan(loaded.desired, observed, sizeTable === undefined ? {} : { sizeTable }),
})

/** Reads the projects that the manifests name and plans against what they show. */
export const look = async (api: ReadApi, { loaded, sizeTable }: Manifests, options: LookOptions): Promise<Look> => {
  const { concurrency, pinAliases, guard } = options
  const planOptions = {
    ...(sizeTable === undefined ? {} : { sizeTable }),
    ...(pinAliases === undefined ? {} : { pinAliases }),
    ...(guard === undefined ? {} : { guard }),
  }
  const observed = withRead(await snapshot(api, projectIds(loaded.desired), { concurrency }), options.read ?? [])
  const result = plan(loaded.desired, observed, planOptions)
  if (!options.estimate || !result.ok || result.plan.steps.length === 0) return { observed, result }
  const changing = new Set(result.plan.steps.map(({ project }) => project))
  const projects = await Promise.all(
    observed.projects.map(async (project) =>
      changing.has(project.id) ? { ...project, pastOperations: await pastOperations(api, project.id) } : project,
    ),
  )
  const withPast = { ...observed, projects }
  return { observed: withPast, result: { ok: true, plan: withEstimates(result.plan, withPast) } }
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

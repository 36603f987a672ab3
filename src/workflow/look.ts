/** Manifests and the live projects, to a plan. */
import { ApiError, pastOperations, type ReadApi, snapshot } from '../api/index.ts'
import type { ReadCompute } from '../apply/index.ts'
import { mapConcurrently } from '../base/index.ts'
import type { Desired, Observed, ObservedProject, PlanResult } from '../model/index.ts'

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
  /** Another version of the manifests, whose policy counts as well. */
  readonly basePolicy?: Desired
  /** Projects to read besides those of the manifests; one that cannot be read is no problem. */
  readonly alsoRead?: readonly string[]
}

/** Plans against a snapshot that was taken before; what it lacks counts as not there. */
export const lookAt = (observed: Observed, { loaded, sizeTable }: Manifests): Look => ({
  observed,
  result: plan(loaded.desired, observed, sizeTable === undefined ? {} : { sizeTable }),
})

/** Reads the projects that the manifests name and plans against what they show. */
export const look = async (api: ReadApi, { loaded, sizeTable }: Manifests, options: LookOptions): Promise<Look> => {
  const { concurrency, pinAliases, basePolicy, alsoRead = [] } = options
  const planOptions = {
    ...(sizeTable === undefined ? {} : { sizeTable }),
    ...(pinAliases === undefined ? {} : { pinAliases }),
    ...(basePolicy === undefined ? {} : { basePolicy }),
  }
  const observed = withRead(
    await snapshot(api, [...projectIds(loaded.desired), ...alsoRead], { concurrency }),
    options.read ?? [],
  )
  const result = plan(loaded.desired, observed, planOptions)
  if (!options.estimate || result.plan.steps.length === 0) return { observed, result }
  const changing = new Set(result.plan.steps.map(({ project }) => project))
  const projects = await mapConcurrently(observed.projects, concurrency, async (project) =>
    changing.has(project.id) ? withPast(api, project) : project,
  )
  const whole = { ...observed, projects }
  return { observed: whole, result: { ...result, plan: withEstimates(result.plan, whole) } }
}

/** A project whose operations cannot be read is planned all the same, without an estimate. */
const withPast = async (api: ReadApi, project: ObservedProject): Promise<ObservedProject> => {
  try {
    return { ...project, pastOperations: await pastOperations(api, project.id) }
  } catch (error) {
    if (error instanceof ApiError) return project
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

/** Compares manifests with those of a base, which is a git ref or the base of a pull request. */
import { type BranchName, hasErrors, leftOutIds, type Observed, type Origin, type Plan } from '../model/index.ts'
import { originOf, plan, projectIds, releasedSince } from '../planner/index.ts'
import type { Manifests } from './manifests.ts'

export interface BaseComparison {
  readonly origin: Origin
}

/** What the base is compared with. Base and head contain only the selected projects. */
export interface Compared {
  /** The plan of the head, with all changes to these projects. */
  readonly plan: Plan
  readonly observed: Observed
  readonly isBranch: (branch: BranchName) => boolean
}

/** The projects that only the base declares. They are read too, to list the computes that are no longer managed. */
export const removedProjects = (base: Manifests, head: Manifests): readonly string[] => {
  const declared = new Set(projectIds(head.loaded.desired))
  return isUsableBase(base) ? projectIds(base.loaded.desired).filter((id) => !declared.has(id)) : []
}

/**
 * Compares the plans of the base and the head. Both are planned from the same snapshot, so that a concurrent change is
 * not attributed to the manifests.
 *
 */
export const compareWithBase = (base: Manifests, head: Manifests, compared: Compared): BaseComparison => {
  const { plan: headPlan, observed, isBranch } = compared
  if (!isUsableBase(base)) {
    const gaps = ["The base's manifests have errors, so every change is shown as introduced."]
    return { origin: { ...originOf(undefined, headPlan), gaps } }
  }
  const unplanned = new Set(leftOutIds(headPlan))
  const released = releasedSince(base.loaded.desired, head.loaded.desired, observed).filter(
    ({ project, branch }) => !unplanned.has(project) && isBranch({ id: '', ...branch }),
  )
  const whole = originOf(planOfBase(base, headPlan.projects, observed), headPlan, released)
  const origin = { ...whole, settled: whole.settled.filter(({ branch }) => isBranch(branch)) }
  const gaps = gapsOf(base, head, observed)
  return { origin: gaps.length === 0 ? origin : { ...origin, gaps } }
}

/**
 * Plans the base's manifests for these projects.
 *
 * @returns the plan, or `undefined` if the base's manifests have errors.
 */
export const planOfBase = (base: Manifests, projects: readonly string[], observed: Observed): Plan | undefined => {
  if (!isUsableBase(base)) return undefined
  const planned = new Set(projects)
  const documents = base.loaded.desired.documents.filter(({ project }) => planned.has(project))
  return plan({ documents }, observed).plan
}

/** Whether the base can be compared with. A base without manifests can, because the pull request may add the first. */
export const isUsableBase = ({ loaded, paths }: Manifests): boolean =>
  paths.length === 0 || !hasErrors(loaded.diagnostics)

const gapsOf = (base: Manifests, head: Manifests, { projects }: Observed): readonly string[] => {
  const read = new Set(projects.map(({ id }) => id))
  return removedProjects(base, head)
    .filter((id) => !read.has(id))
    .map((id) => `Project ${id} is no longer declared, and its computes could not be read.`)
}

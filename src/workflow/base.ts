/** Manifests compared with those of a base: a git ref, or the base of a pull request. */
import { type Diagnostic, hasErrors, leftOutIds, type Observed, type Origin, type Plan } from '../model/index.ts'
import { originOf, plan, policyRemovals, projectIds, releasedSince } from '../planner/index.ts'
import type { Manifests } from './manifests.ts'

export interface BaseComparison {
  readonly origin: Origin
  /** A warning for each protection and restart window that the head removes, and each `prune` it adds. */
  readonly policyRemovals: readonly Diagnostic[]
}

/** The projects that only the base declares: their live computes are released, so they have to be read too. */
export const removedProjects = (base: Manifests, head: Manifests): readonly string[] => {
  const declared = new Set(projectIds(head.loaded.desired))
  return isUsable(base) ? projectIds(base.loaded.desired).filter((id) => !declared.has(id)) : []
}

/**
 * Uses one snapshot, so that no concurrent change is attributed to the manifests.
 *
 * @param headPlan as planned from `observed`.
 */
export const compareWithBase = (
  base: Manifests,
  head: Manifests,
  headPlan: Plan,
  observed: Observed,
): BaseComparison => {
  if (!isUsable(base)) {
    const gaps = ['The manifests of the base have errors, so every change is shown as introduced.']
    return { origin: { ...originOf(undefined, headPlan), gaps }, policyRemovals: [] }
  }
  const unplanned = new Set(leftOutIds(headPlan))
  const released = releasedSince(base.loaded.desired, head.loaded.desired, observed).filter(
    ({ project }) => !unplanned.has(project),
  )
  const origin = originOf(planOfBase(base, headPlan.projects, observed), headPlan, released)
  const gaps = gapsOf(base, head, observed)
  return {
    origin: gaps.length === 0 ? origin : { ...origin, gaps },
    policyRemovals: policiesGivenUp(base, head, observed),
  }
}

/**
 * What the base's manifests would change in these projects.
 *
 * @returns `undefined` if the base's manifests have errors.
 */
export const planOfBase = (base: Manifests, projects: readonly string[], observed: Observed): Plan | undefined => {
  if (!isUsable(base)) return undefined
  const planned = new Set(projects)
  const documents = base.loaded.desired.documents.filter(({ project }) => planned.has(project))
  return plan({ documents }, observed, optionsOf(base)).plan
}

/** No manifests at all, as before the first commit of one, is valid. */
const isUsable = ({ loaded, paths }: Manifests): boolean => paths.length === 0 || !hasErrors(loaded.diagnostics)

const gapsOf = (base: Manifests, head: Manifests, { projects }: Observed): readonly string[] => {
  const read = new Set(projects.map(({ id }) => id))
  return removedProjects(base, head)
    .filter((id) => !read.has(id))
    .map((id) => `Project ${id} is no longer declared, and what still runs in it could not be read.`)
}

/**
 * The plan shows what the merge does, so it is made without the base's policies; this is how a reviewer learns that they
 * are given up.
 */
const policiesGivenUp = (base: Manifests, head: Manifests, observed: Observed): readonly Diagnostic[] => {
  if (base.paths.length === 0) return []
  const [before, after] = [base.loaded.desired, head.loaded.desired]
  const { warnings } = plan(after, observed, { basePolicy: before, ...optionsOf(base) }).plan
  return [
    ...policyRemovals(before, after, observed),
    ...warnings.filter(({ code }) => code === 'W_WINDOW_CHANGED'),
  ].map((warning) => ({ ...warning, hint: 'That is so as soon as it is merged: check that it is meant.' }))
}

const optionsOf = ({ sizeTable }: Manifests) => (sizeTable === undefined ? {} : { sizeTable })

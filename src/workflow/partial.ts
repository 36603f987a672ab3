/** Applying while some projects have problems. */
import { leftOutIds, type Plan, type PlanResult } from '../model/index.ts'
import { type Manifests, withoutProjects } from './manifests.ts'

/** Without the projects that a saved plan leaves out: nobody has seen a plan of those. */
export const coveredBy = (saved: Plan | undefined, manifests: Manifests): Manifests =>
  saved === undefined ? manifests : withoutProjects(manifests, leftOutIds(saved))

/** The plan to carry out; `undefined` where a project has problems that stop the others too. */
export const applicablePlan = (result: PlanResult, keepGoing: boolean, saved: Plan | undefined): Plan | undefined => {
  const { plan } = result
  if (!result.ok && (!keepGoing || plan.projects.length === 0)) return undefined
  return saved?.leftOut === undefined ? plan : { ...plan, leftOut: saved.leftOut }
}

/** @param option how the flag or the input is called. */
export const nothingChanged = ({ projects }: Plan, option: string): string => {
  const fine = projects.length
  if (fine === 0) return 'Nothing was changed.'
  return `Nothing was changed. ${fine} other ${fine === 1 ? 'project has' : 'projects have'} no problem: ${option} applies ${fine === 1 ? 'it' : 'them'}.`
}

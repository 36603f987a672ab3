/** Changes that are skipped because their branch is about to expire. */
import type { Plan } from '../../model/index.ts'
import { computeTitle, hasSeveralProjects, projectTitle } from './names.ts'

/** `update primary on preview/x: preview/x expires in 40 min`. */
export const skippedLines = (plan: Plan): readonly string[] => {
  const title = projectTitle(plan)
  const isFleet = hasSeveralProjects(plan)
  return (plan.skipped ?? []).map(
    ({ kind, compute, branch, project, sentence }) =>
      `${kind} ${computeTitle(compute)} on ${branch.name}${isFleet ? ` in ${title(project)}` : ''}: ${sentence}`,
  )
}

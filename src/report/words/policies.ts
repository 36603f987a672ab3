/** Describes the results of policies. */
import type { Plan, PolicyResult } from '../../model/index.ts'
import { projectTitle } from './names.ts'

/** One line for each result, with denials first. */
export const policyLines = (plan: Pick<Plan, 'policies' | 'projectNames'>) => {
  const results = plan.policies?.results ?? []
  const isFleet = new Set(results.map(({ project }) => project)).size > 1
  const title = projectTitle(plan)
  // A message about a whole project already contains the project's name.
  const start = ({ project, branch }: PolicyResult): string =>
    isFleet && project !== undefined && branch !== undefined ? `${title(project)}: ` : ''
  return [...results]
    .sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome))
    .map((result) => ({ text: start(result) + policyText(result), isDenied: result.outcome === 'denied' }))
}

const ORDER: readonly PolicyResult['outcome'][] = ['denied', 'overridden', 'warned', 'unknown', 'existing']

const policyText = ({ outcome, message, reason, policy, override, overriddenBy: by }: PolicyResult): string => {
  const start = `${message.replace(/\.$/, '')}. ${reason}`
  switch (outcome) {
    case 'denied':
      return `${start} To override, pass --override ${policy}=REASON.`
    case 'overridden':
      return `${start} Overridden${by === undefined ? '' : ` by ${by}`}: ${override}`
    case 'existing':
      return `${start} (not introduced by this plan)`
    default:
      return start
  }
}

/** One line for each policy that is overridden: `policy \`preview-size\` overridden by octocat: load test`. */
export const overriddenWords = ({ policies }: Pick<Plan, 'policies'>): readonly string[] => [
  ...new Set(
    (policies?.results ?? []).flatMap(({ policy, override, overriddenBy: by }) =>
      override === undefined
        ? []
        : [`policy \`${policy}\` overridden${by === undefined ? '' : ` by ${by}`}: ${override}`],
    ),
  ),
]

/** The names of the policies that deny something, and the titles of the projects that this blocks. */
export const deniedBy = (plan: Pick<Plan, 'policies' | 'projectNames' | 'projects'>) => {
  const denied = (plan.policies?.results ?? []).filter(({ outcome }) => outcome === 'denied')
  const projects = denied.flatMap(({ project }) => project ?? plan.projects)
  return {
    policies: [...new Set(denied.map(({ policy }) => policy))],
    projects: [...new Set(projects)].map(projectTitle(plan)),
  }
}

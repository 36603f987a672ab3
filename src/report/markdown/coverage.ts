/** The parts about computes that are no longer managed, and about projects that could not be planned. */
import { counted, group } from '../../base/index.ts'
import { computeTitle, type Plan, type ReleasedCompute } from '../../model/index.ts'
import { place, planNames, projectTitle, withNamesOf } from '../words/names.ts'
import { projectsLeftOut, RELEASED_HINT } from '../words/plan-lines.ts'
import { diagnosticText, linked, literal, table } from './text.ts'
import type { PlanView } from './view.ts'

/** How many rows are shown. Further rows are only counted. */
const MOST_SHOWN = 50

export const releasedWords = (released: readonly ReleasedCompute[]): string | undefined =>
  released.length === 0
    ? undefined
    : `${counted(released.length, 'compute')} ${released.length === 1 ? 'is' : 'are'} no longer managed.`

export const leftOutWords = (plan: Plan): string | undefined => {
  const words = projectsLeftOut(plan)
  return words === undefined ? undefined : `${words} could not be planned.`
}

export const releasedPart = ({ plan, origin: { released } }: PlanView): readonly string[] => {
  if (released.length === 0) return []
  const { isFleet, project: titleOf } = planNames(plan, released)
  const head = [...(isFleet ? ['project'] : []), 'branch', 'compute', 'was declared at']
  const rows = released.slice(0, MOST_SHOWN).map(({ project, branch, compute, source }) => [
    ...(isFleet ? [literal(titleOf(project))] : []),
    literal(branch.name),
    `${literal(computeTitle(compute))}${compute.id === undefined ? '' : `<br>${literal(compute.id)}`}`,
    // This is not a link, because the line is in the base, and may not exist in the head.
    literal(place(source)),
  ])
  const more = released.length - rows.length
  return ['**No longer managed**', table(head, rows), ...(more > 0 ? [`And ${group(more)} more.`] : []), RELEASED_HINT]
}

export const leftOutPart = (
  { plan, linkTo }: Pick<PlanView, 'plan' | 'linkTo'>,
  withReasons: boolean,
): readonly string[] => {
  const { leftOut } = plan
  if (leftOut === undefined) return []
  const titleOf = projectTitle(plan)
  const problems = leftOut.flatMap(({ project, diagnostics }) =>
    diagnostics.map(withNamesOf(plan)).map((diagnostic) => {
      const { source } = diagnostic
      const where = source === undefined ? '' : ` ${linked(literal(place(source)), linkTo?.(source.file, source.line))}`
      return `> - ${literal(titleOf(project))}: ${diagnosticText(diagnostic)}${where}`
    }),
  )
  const shown = withReasons ? problems.slice(0, MOST_SHOWN) : []
  const more = problems.length - shown.length
  return [
    [
      '> [!CAUTION]',
      `> Left out: ${counted(leftOut.length, 'project')}`,
      ...shown,
      ...(more > 0 ? [`> - and ${counted(more, 'more problem')}`] : []),
    ].join('\n'),
  ]
}

/** Lists the policies that were overridden, for the journal and the outcome. */
import { groupBy } from '../base/index.ts'
import type { Plan } from '../model/index.ts'

export interface Overridden {
  readonly policy: string
  readonly project: string
  readonly reason: string
  readonly by: string
  readonly violations: readonly string[]
}

/** One entry for each policy and project. */
export const overriddenOf = ({ policies }: Pick<Plan, 'policies'>): readonly Overridden[] => {
  const overridden = (policies?.results ?? []).filter(({ override }) => override !== undefined)
  return [...groupBy(overridden, ({ policy, project }) => `${policy} ${project}`).values()].flatMap((all) => {
    const [first] = all
    if (first?.override === undefined) return []
    const { policy, project, override: reason, overriddenBy: by = 'unknown' } = first
    return [{ policy, project, reason, by, violations: all.map(({ message }) => message) }]
  })
}

export const overrideNotes = (plan: Pick<Plan, 'policies'>): readonly string[] =>
  overriddenOf(plan).map(
    ({ policy, project, by, reason }) => `${by} overrode policy \`${policy}\` in ${project}: ${reason}`,
  )

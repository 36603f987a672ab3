/** The values that a policy checks, and how far each exceeds the limit. */

import { globFilter, globMatcher } from '../base/index.ts'
import {
  type CostedChange,
  type Measured,
  type PlanUse,
  type Policy,
  type PolicyBranch,
  type PolicyProject,
  policyRuleRow,
  type Source,
} from '../model/index.ts'

/** One value that a policy checks. */
export interface Measure {
  /** Identifies the value before and after a plan. */
  readonly key: string
  readonly branch?: string
  readonly compute?: string
  /** By how much the value exceeds the limit. 0 if it is allowed, and `undefined` if that is unknown. */
  readonly excess: number | undefined
  /** `4 CU for primary on preview/checkout`: the text after "denies". */
  readonly what: string
  /** `at most 0.25 CU`. */
  readonly limit: string
  /** Whether the plan causes the value. If so, an unknown value counts as a violation. */
  readonly isNew: boolean
  readonly source: Source | undefined
}

/** What a plan does, apart from changes that are refused. */
export interface PolicyPlan {
  readonly changes: readonly CostedChange[]
  /** Known names of projects, by id. */
  readonly names: Readonly<Record<string, string>>
  /** What was used up in the last 24 hours. Added for policies whose limit applies to a day. */
  readonly used: PlanUse
}

/** A project with an unknown name matches every name, so that an unreadable project cannot evade a policy. */
export const concernsProject = ({ projects, within }: Policy, id: string, name: string | undefined): boolean =>
  (within === undefined || within.includes(id)) &&
  (projects === undefined ||
    projects.map(globMatcher).some((matches) => matches(id) || name === undefined || matches(name)))

/** Empty for a policy that limits the whole plan. */
export const measure = (policy: Policy, project: PolicyProject): readonly Measure[] => {
  if (!concernsProject(policy, project.id, project.name)) return []
  const row = policyRuleRow(policy.rule.kind)
  const isIncluded = globFilter(policy.branches, policy.except)
  const branches = project.branches.filter(({ name }) => isIncluded(name))
  const atProject = { key: project.id, isNew: false }
  const atBranch = ({ name, source }: PolicyBranch) => ({ key: name, branch: name, isNew: false, source })
  switch (row.of) {
    case 'compute':
      return branches.flatMap((branch) =>
        branch.computes
          .filter(
            ({ type }) => policy.computes === 'any' || (policy.computes === 'primary') === (type === 'read_write'),
          )
          .map((compute) => {
            const { key, title, isNew = false, source } = compute
            return toMeasure(
              policy,
              { key, branch: branch.name, compute: title, isNew, source },
              row.measure(compute, branch),
            )
          }),
      )
    case 'branch':
      return branches.map((branch) => toMeasure(policy, atBranch(branch), row.measure(branch, project)))
    case 'project':
      return [toMeasure(policy, atProject, row.measure(project))]
    case 'usage':
      return policy.branches === undefined
        ? [toMeasure(policy, atProject, row.measure(`project ${project.name ?? project.id}`, project.cuHours))]
        : branches.map((branch) => toMeasure(policy, atBranch(branch), row.measure(branch.name, branch.cuHours)))
    case 'plan':
      return []
  }
}

/** `undefined` for a policy that does not limit the whole plan. */
export const measurePlan = (policy: Policy, { changes, names, used }: PolicyPlan): Measure | undefined => {
  const row = policyRuleRow(policy.rule.kind)
  if (row.of !== 'plan') return undefined
  const own = changes.filter(({ change: { project } }) => concernsProject(policy, project, names[project]))
  const added = row.use(own)
  const before = policy.per === undefined ? 0 : (used[policy.rule.kind] ?? 0)
  const value = added === undefined ? undefined : before + added
  // A plan without changes is not to blame for what was used up before it.
  if (own.length === 0) return undefined
  return toMeasure(policy, { key: '', isNew: true }, { value, what: row.what(value, own) })
}

const toMeasure = (
  { rule: { kind, limit }, per }: Policy,
  at: Pick<Measure, 'key' | 'branch' | 'compute' | 'isNew'> & { readonly source?: Source | undefined },
  { value, isAtLeast = false, what, source = at.source }: Measured,
): Measure => {
  const row = policyRuleRow(kind)
  return {
    ...at,
    excess: excessOf(row.compare, value, limit, isAtLeast),
    what,
    limit: `${row.words(limit)}${per === undefined ? '' : ' in 24 hours'}`,
    source,
  }
}

/** A part of the value alone may exceed the limit. */
const excessOf = (
  compare: 'at most' | 'at least' | 'equal',
  value: number | undefined,
  limit: number,
  isAtLeast: boolean,
): number | undefined => {
  if (value === undefined) return undefined
  if (compare === 'equal') return Math.abs(value - limit)
  const excess = Math.max(0, compare === 'at most' ? value - limit : limit - value)
  return excess === 0 && isAtLeast ? undefined : excess
}

/** Checks policies against the state that a plan leads to, and refuses the changes that they deny. */
import { defined, groupBy } from '../base/index.ts'
import { type ComputeCost, planCost, projectCosts } from '../cost/index.ts'
import {
  type BranchName,
  type Change,
  type ComputeType,
  type CostedChange,
  type Desired,
  type ExpectedCuHours,
  madeChanges,
  type Observed,
  type ObservedCompute,
  type ObservedProject,
  type Plan,
  type PlanUse,
  type Policy,
  type PolicyCompute,
  type PolicyProject,
  type PolicyResult,
  policyRuleRow,
  type Step,
  settingsAfter,
  settingsOfCompute,
  summaryOf,
  warning,
} from '../model/index.ts'
import { type Safeguards, safeguardsIn } from '../planner/index.ts'
import { type JudgedProject, judgeLimits, judgePolicies, policyChanges, unusedOverrides } from '../policy/index.ts'
import { NO_POLICIES, type Policies, withoutDaily } from './policies.ts'

/** Policies of an earlier commit. They apply as well, so that a change cannot remove the policy that denies it. */
export interface EarlierPolicies extends Policies {
  /** The ids of the changes to judge. By default, all. */
  readonly changes?: ReadonlySet<string>
}

/** How a pull request changes the policies of its base. */
export interface ProposedPolicies {
  readonly from: Policies
  readonly to: Policies
  /** Whether to report what the new policies would deny. */
  readonly isEvaluated: boolean
}

export interface JudgeOptions {
  readonly policies?: Policies | undefined
  readonly earlier?: readonly EarlierPolicies[] | undefined
  /** The policy that `--max-restarts` stands for. */
  readonly maxRestarts?: Policy | undefined
  /** What the agent did in the last 24 hours. */
  readonly used?: PlanUse | undefined
  /** The reason for each override, by the name of the policy. */
  readonly overrides?: ReadonlyMap<string, string> | undefined
  /** The user who overrides the policies. */
  readonly actor?: string | undefined
  /** The selected branches. What a policy finds on other branches is not reported. By default, all. */
  readonly isBranch?: ((branch: BranchName) => boolean) | undefined
  /** How the pull request changes the base's policies, for display. Set if the base's policies decide. */
  readonly proposed?: ProposedPolicies | undefined
}

/**
 * Adds the results of the policies to the plan. If a policy denies a project, all changes to the project are refused.
 * Then the limits on the whole plan are checked, without what is already refused. If one is exceeded, every change is
 * refused.
 *
 * @param base the manifests with which policies compare the plan.
 */
export const judgePlan = (
  plan: Plan,
  observed: Observed,
  desired: Desired,
  {
    policies: { files, policies } = NO_POLICIES,
    earlier = [],
    maxRestarts,
    used = {},
    overrides = new Map(),
    actor,
    isBranch,
    proposed,
  }: JudgeOptions,
  base: Desired | undefined,
): Plan => {
  const all = maxRestarts === undefined ? policies : [...policies, maxRestarts]
  const before = earlier.map(withoutDaily)
  const total = [...all, ...before.flatMap((one) => one.policies)]
  if (total.length === 0 && proposed === undefined) return plan
  const live = new Map(observed.projects.map((project) => [project.id, project]))
  const changesOf = groupBy(madeChanges(plan), ({ project }) => project)
  const projects = plan.projects.flatMap((id) => {
    const project = live.get(id)
    return project === undefined ? [] : [statesOf(project, changesOf.get(id) ?? [], observed, desired, base)]
  })
  const isSelected = ({ project, branch }: PolicyResult): boolean => {
    const found = live.get(project ?? '')?.branches.find(({ name }) => name === branch)
    return isBranch === undefined || found === undefined || isBranch(found)
  }
  const judge = (judged: readonly Policy[], reasons: typeof overrides = new Map()): readonly PolicyResult[] =>
    judgePolicies(judged, projects, { overrides: reasons })
      .results.filter(isSelected)
      .map(({ source: _, ...result }) => result)
  const ofProjects = [
    ...judge(all, overrides),
    ...before.flatMap((one) => judge(one.policies, overrides).filter((result) => isAbout(result, plan, one.changes))),
  ]
  const allowed = withDenials(plan, ofProjects)
  const limited = (limits: readonly Policy[], reasons: typeof overrides = new Map()): readonly PolicyResult[] =>
    limits.some(({ rule }) => policyRuleRow(rule.kind).of === 'plan')
      ? judgeLimits(
          limits,
          { changes: costedChanges(allowed, observed), names: plan.projectNames ?? {}, used },
          reasons,
        )
      : []
  const ofPlan = limited(total, overrides)
  const results = [...ofProjects, ...ofPlan]
  const judged = withDenials(allowed, ofPlan)
  return {
    ...judged,
    warnings: [
      ...plan.warnings,
      ...unusedOverrides(overrides, results).map((name) =>
        warning('W_OVERRIDE_UNUSED', `This plan does not need the override of \`${name}\`.`),
      ),
    ],
    policies: {
      files: [...new Set([...files, ...before.flatMap((one) => one.files)])],
      results: results.map((result) => ({
        ...result,
        ...defined({ overriddenBy: result.override === undefined ? undefined : actor }),
      })),
      changes:
        proposed === undefined ? [] : proposedChanges(proposed, (all) => [...judge(all), ...limited(all)], results),
    },
  }
}

/** Whether a result is about one of these changes, or about the branch or project of one. */
const isAbout = ({ project, branch }: PolicyResult, { changes }: Plan, ids: ReadonlySet<string> | undefined): boolean =>
  ids === undefined ||
  changes.some(
    (one) =>
      ids.has(one.id) &&
      one.project === project &&
      (branch === undefined || branch === one.branch.name || branch === one.from?.name),
  )

/** The changes that the plan makes, with their costs. */
const costedChanges = (plan: Plan, observed: Observed): readonly CostedChange[] => {
  const costs = new Map(planCost(plan, observed).computes.map((cost) => [cost.change, cost]))
  return madeChanges(plan).map((change) => ({ change, cost: costs.get(change.id) }))
}

const WHOLE_PLAN = ''

/** Refuses the changes that the results deny. */
const withDenials = (plan: Plan, results: readonly PolicyResult[]): Plan => {
  const denied = groupBy(
    results.filter(({ outcome }) => outcome === 'denied'),
    ({ project = WHOLE_PLAN }) => project,
  )
  if (denied.size === 0) return plan
  const denialOf = (one: Change | Step): { readonly refused?: string } => {
    const own = [...(denied.get(one.project) ?? []), ...(denied.get(WHOLE_PLAN) ?? [])]
    return one.refused === undefined ? defined({ refused: refusalOf(one, own) }) : {}
  }
  const changes = plan.changes.map((change) => {
    const denial = denialOf(change)
    return { ...change, ...denial, ...(denial.refused === undefined ? {} : { isDenied: true as const }) }
  })
  return {
    ...plan,
    changes,
    steps: plan.steps.map((step) => ({ ...step, ...denialOf(step) })),
    summary: { ...plan.summary, ...summaryOf(changes, plan.summary.capacity.before) },
  }
}

/** How policy messages refer to a compute. */
const titleOf = (type: ComputeType, name: string | undefined): string =>
  type === 'read_write' ? 'primary' : `replica ${name}`

/** Why a change is refused. A denial blocks all changes to the project, not only the one that caused it. */
const refusalOf = ({ branch, compute }: Change | Step, denials: readonly PolicyResult[]): string | undefined => {
  const [first] = denials
  if (first === undefined) return undefined
  const title = titleOf(compute.type, compute.name ?? compute.id)
  const isOwn = (denial: PolicyResult): boolean =>
    (denial.branch ?? branch.name) === branch.name && (denial.compute ?? title) === title
  const own = denials.find(isOwn)
  return own === undefined
    ? `\`${first.policy}\` denies another change in the same project`
    : `${own.message}. ${own.reason.replace(/\.$/, '')}`
}

/** Lists how the pull request changes policies, and the denials that only its own policies would cause. */
const proposedChanges = (
  { from, to, isEvaluated }: ProposedPolicies,
  judge: (policies: readonly Policy[]) => readonly PolicyResult[],
  results: readonly PolicyResult[],
): readonly string[] => {
  const changes = policyChanges(from.policies, to.policies)
  if (!isEvaluated) return changes
  const known = new Set(results.map(({ message }) => message))
  const denied = judge(to.policies).filter(({ outcome, message }) => outcome === 'denied' && !known.has(message))
  return [...changes, ...denied.map(({ message }) => `After the merge, ${message}`)]
}

/** The safeguards that policies check. */
type Held = Pick<Safeguards, 'prune' | 'protects'> & {
  /** `undefined` without a window. */
  windowOf(...place: Parameters<Safeguards['windowOf']>): unknown
}

const statesOf = (
  project: ObservedProject,
  changes: readonly Change[],
  { takenAt }: Observed,
  desired: Desired,
  base: Desired | undefined,
): JudgedProject => {
  const safeguards = safeguardsIn(desired, project)
  const costs = projectCosts(project, changes, Date.parse(takenAt))
  const held = base === undefined ? unlessViolated(safeguards, changes) : safeguardsIn(base, project)
  return {
    after: stateOf(project, changes, safeguards, costs.after),
    before: stateOf(project, [], held, costs.before),
  }
}

const cuHoursOf = (costs: readonly ComputeCost[]): ExpectedCuHours => {
  const known = costs.flatMap(({ expected }) => expected ?? [])
  return { known: known.reduce((sum, expected) => sum + expected, 0), isComplete: known.length === costs.length }
}

/** The state of the project after the changes. */
const stateOf = (
  project: ObservedProject,
  changes: readonly Change[],
  safeguards: Held,
  costs: readonly ComputeCost[],
): PolicyProject => {
  const changeOf = new Map(changes.map((change) => [change.compute.id, change]))
  const all: readonly { readonly live?: ObservedCompute; readonly change?: Change | undefined }[] = [
    ...project.computes.map((live) => ({ live, change: changeOf.get(live.id) })),
    ...changes.filter(({ compute }) => compute.id === undefined).map((change) => ({ change })),
  ]
  const computes = all.flatMap(({ live, change }) => {
    const settings =
      change === undefined
        ? live && settingsOfCompute(live.attributes)
        : settingsAfter(change, live, project.settings?.computeDefaults)
    if (settings === undefined) return []
    const branchId = change?.branch.id ?? live?.branchId ?? ''
    const id = live?.id
    const type = change?.compute.type ?? live?.type ?? 'read_write'
    const slot = change?.id.slice(project.id.length + 1)
    const compute: PolicyCompute = {
      key: id ?? change?.id ?? '',
      title: titleOf(type, change?.compute.name ?? live?.attributes.name ?? id),
      type,
      settings,
      isNew: live === undefined,
      hasWindow: safeguards.windowOf({ branch: branchId, slot, id }) !== undefined,
      ...defined({ source: change?.source }),
    }
    return [{ branchId, compute }]
  })
  const computesOf = groupBy(computes, ({ branchId }) => branchId)
  const costsOf = groupBy(costs, ({ branchId }) => branchId)
  return {
    id: project.id,
    isComplete: true,
    ...defined({ name: project.name }),
    prune: safeguards.prune,
    cuHours: cuHoursOf(costs),
    branches: project.branches.map(({ id, name }) => ({
      name,
      protect: safeguards.protects(id),
      cuHours: cuHoursOf(costsOf.get(id) ?? []),
      computes: (computesOf.get(id) ?? []).map(({ compute }) => compute),
    })),
  }
}

/**
 * The safeguards before a plan without a base. They exist only in manifests and not in the live state, so it is unknown
 * whether they change. Policies about them then only warn, unless the plan violates them.
 */
const unlessViolated = (after: Safeguards, changes: readonly Change[]): Held => {
  const interrupts = new Set<string | undefined>()
  const endangers = new Set<string | undefined>()
  for (const { kind, impact, unlessIdle, compute, branch, from } of changes) {
    if (impact !== 'none' || unlessIdle !== undefined) interrupts.add(compute.id)
    if (kind === 'delete' || kind === 'move' || kind === 'replace') endangers.add(branch.id).add(from?.id)
  }
  return {
    prune: after.prune && !changes.some(({ kind, reasons }) => kind === 'delete' && reasons.includes('PRUNED')),
    protects: (branch) => endangers.has(branch) || after.protects(branch),
    windowOf: (place) => (interrupts.has(place.id) ? 'always' : after.windowOf(place)),
  }
}

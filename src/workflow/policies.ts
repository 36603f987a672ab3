/** Policies of a run: read next to the manifests, and evaluated on the state after a plan. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { groupBy } from '../base/index.ts'
import { liveCosts } from '../cost/index.ts'
import { declaredPolicies, parsePolicies, readFiles } from '../manifest/index.ts'
import {
  type Change,
  type ComputeType,
  countChanges,
  type Desired,
  type Diagnostic,
  type Observed,
  type ObservedCompute,
  type ObservedProject,
  type Plan,
  type Policy,
  type PolicyResult,
  type Step,
  settingsAfter,
  settingsOfCompute,
} from '../model/index.ts'
import { type DeclaredPolicy, declaredPolicyOf } from '../planner/index.ts'
import {
  type JudgedProject,
  judgePolicies,
  type PolicyCompute,
  type PolicyProject,
  policyChanges,
  unusedOverrides,
} from '../policy/index.ts'

export const POLICY_FILE = 'espalier.policy.yaml'

export interface Policies {
  /** Paths as displayed. */
  readonly files: readonly string[]
  /** The first mistake; the remaining policies must not be used to plan. */
  readonly mistake?: Diagnostic
  readonly policies: readonly Policy[]
}

/** The policy file of a folder, if there is one, those that were named, and what manifests hold. */
export const readPolicies = async (
  cwd: string,
  named: readonly string[],
  desired: Desired,
): Promise<Policies & { readonly diagnostics: readonly Diagnostic[] }> => {
  const isThere = (await stat(join(cwd, POLICY_FILE)).catch(() => undefined)) !== undefined
  const paths = [...new Set([...(isThere ? [POLICY_FILE] : []), ...named])]
  const { texts, diagnostics } = await readFiles(paths, cwd)
  const declared = declaredPolicies(desired)
  const read = parsePolicies(texts, declared)
  const all = [...diagnostics, ...read.diagnostics]
  const mistake = all.find(({ severity }) => severity === 'error')
  return {
    ...(mistake === undefined ? {} : { mistake }),
    files: [...new Set([...texts.map(({ path }) => path), ...declared.map(({ source }) => source.file)])],
    policies: read.policies,
    diagnostics: all,
  }
}

/** How a pull request changes the policies of its base. */
export interface ProposedPolicies {
  readonly from: Policies
  readonly to: Policies
}

export const warnOnly = ({ files, policies }: Policies): Policies => ({
  files,
  policies: policies.map((policy) => ({ ...policy, level: 'warn' })),
})

export interface JudgeOptions {
  readonly policies: Policies
  /** Reasons by policy name. */
  readonly overrides?: ReadonlyMap<string, string>
  readonly actor?: string
  readonly proposed?: ProposedPolicies
  readonly base?: Desired
}

/** The plan with what its policies say; nothing of a denied project can run. */
export const judgePlan = (plan: Plan, observed: Observed, desired: Desired, options: JudgeOptions): Plan => {
  const { policies, overrides = new Map<string, string>(), actor, proposed, base } = options
  if (policies.policies.length === 0 && proposed === undefined) return plan
  const live = new Map(observed.projects.map((project) => [project.id, project]))
  const lookup: PlanLookup = {
    cost: plan.cost,
    changesOf: groupBy(plan.changes, ({ project }) => project),
    stepsOf: groupBy(plan.steps, ({ change }) => change),
  }
  const projects = plan.projects.flatMap((id) => {
    const project = live.get(id)
    return project === undefined ? [] : [statesOf(project, lookup, Date.parse(observed.takenAt), desired, base)]
  })
  const { results } = judgePolicies(policies.policies, projects, { overrides })
  const denied = groupBy(
    results.filter(({ outcome }) => outcome === 'denied'),
    ({ project }) => project,
  )
  const refuse = <T extends (Change | Step) & { readonly refused?: string }>(one: T): T => {
    const refused = one.refused ?? refusalOf(one, denied.get(one.project) ?? [])
    return refused === undefined ? one : { ...one, refused }
  }
  const changes = plan.changes.map(refuse)
  return {
    ...plan,
    changes,
    steps: plan.steps.map(refuse),
    summary: { ...plan.summary, ...countChanges(changes) },
    warnings: [
      ...plan.warnings,
      ...unusedOverrides(overrides, results).map(
        (name): Diagnostic => ({
          severity: 'warning',
          code: 'W_OVERRIDE_UNUSED',
          message: `Nothing in this plan needs the override of \`${name}\`.`,
        }),
      ),
    ],
    policies: {
      files: policies.files,
      results: results.map(({ source: _, ...result }) => ({
        ...result,
        ...(result.override === undefined || actor === undefined ? {} : { overriddenBy: actor }),
      })),
      changes: proposed === undefined ? [] : proposedChanges(proposed, projects, results),
    },
  }
}

/** The name of a compute in policy messages. */
const titleOf = (type: ComputeType, name: string | undefined): string =>
  type === 'read_write' ? 'primary' : `replica ${name}`

/** A denial refuses all of its project: the change that it is about, and those that must not run at the same time. */
const refusalOf = ({ branch, compute }: Change | Step, denials: readonly PolicyResult[]): string | undefined => {
  const [first] = denials
  if (first === undefined) return undefined
  const title = titleOf(compute.type, compute.name ?? compute.id)
  const isOwn = (denial: PolicyResult): boolean =>
    (denial.branch ?? branch.name) === branch.name && (denial.compute ?? title) === title
  const own = denials.find(isOwn)
  return own === undefined
    ? `another change of its project is denied: ${first.message}`
    : `${own.message}. ${own.reason.replace(/\.$/, '')}`
}

/** What the pull request's own policies change, and what they would deny that the base's do not. */
const proposedChanges = (
  { from, to }: ProposedPolicies,
  projects: readonly JudgedProject[],
  results: readonly PolicyResult[],
): readonly string[] => {
  const known = new Set(results.map(({ message }) => message))
  const denied = judgePolicies(to.policies, projects).results.filter(
    ({ outcome, message }) => outcome === 'denied' && !known.has(message),
  )
  return [...policyChanges(from.policies, to.policies), ...denied.map(({ message }) => `After the merge, ${message}`)]
}

interface PlanLookup {
  readonly cost: Plan['cost']
  readonly changesOf: ReadonlyMap<string, readonly Change[]>
  readonly stepsOf: ReadonlyMap<string, readonly Step[]>
}

const statesOf = (
  project: ObservedProject,
  plan: PlanLookup,
  now: number,
  desired: Desired,
  base: Desired | undefined,
): JudgedProject => {
  const changes = (plan.changesOf.get(project.id) ?? []).filter(({ refused }) => refused === undefined)
  const policy = declaredPolicyOf(desired, project)
  const costs = plan.cost?.projects.find((cost) => cost.project === project.id)
  const after = stateOf(project, changes, plan, policy, costs?.after)
  const before = stateOf(project, [], plan, base && declaredPolicyOf(base, project), costBefore(project, now))
  return { after, before: base === undefined ? withoutBase(before, after, changes) : before }
}

interface Known {
  readonly expected: number | null
  readonly unknown: number
}

const costBefore = (project: ObservedProject, now: number): Known => {
  const costs = liveCosts(project, now).map(({ cost }) => cost.expected)
  return {
    expected: costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    unknown: costs.filter((cost) => cost === null).length,
  }
}

/** The project after the changes; without changes, as it is now. */
const stateOf = (
  project: ObservedProject,
  changes: readonly Change[],
  { stepsOf }: PlanLookup,
  policy: DeclaredPolicy | undefined,
  cost: Known | undefined,
): PolicyProject => {
  const byCompute = new Map(
    changes.flatMap((change) => (change.compute.id === undefined ? [] : [[change.compute.id, change]])),
  )
  const computes: { readonly branchId: string; readonly compute: PolicyCompute }[] = []
  const add = (change: Change | undefined, live: ObservedCompute | undefined): void => {
    const branchId = change?.branch.id ?? live?.branchId ?? ''
    const steps = stepsOf.get(change?.id ?? '') ?? []
    const settings =
      change === undefined
        ? live && settingsOfCompute(live.attributes)
        : settingsAfter(change, steps, live, project.settings?.computeDefaults)
    if (settings === undefined) return
    const id = live?.id
    const name = change?.compute.name ?? live?.attributes.name ?? live?.id
    const type = change?.compute.type ?? live?.type ?? 'read_write'
    const slot = change?.id.slice(project.id.length + 1)
    computes.push({
      branchId,
      compute: {
        key: id ?? change?.id ?? '',
        title: titleOf(type, name),
        type,
        settings,
        isNew: live === undefined,
        ...(policy && {
          hasWindow: policy.hasWindow({
            branch: branchId,
            ...(slot === undefined ? {} : { slot }),
            ...(id === undefined ? {} : { id }),
          }),
        }),
        ...(change?.source === undefined ? {} : { source: change.source }),
      },
    })
  }
  for (const live of project.computes) add(byCompute.get(live.id), live)
  for (const change of changes) if (change.compute.id === undefined) add(change, undefined)
  return {
    id: project.id,
    ...(project.name === undefined ? {} : { name: project.name }),
    isComplete: true,
    ...(policy && { prune: policy.prune }),
    ...(cost === undefined || cost.expected === null || cost.unknown > 0 ? {} : { cuHours: cost.expected }),
    branches: project.branches.map(({ id, name }) => ({
      name,
      ...(policy && { protect: policy.protects(id) }),
      computes: computes.filter(({ branchId }) => branchId === id).map(({ compute }) => compute),
    })),
  }
}

/**
 * No live state shows windows, protection and prune. Without a base they count as they are now, and so only warn, unless
 * the plan does what they govern.
 */
const withoutBase = (before: PolicyProject, after: PolicyProject, changes: readonly Change[]): PolicyProject => {
  const interrupts = new Set(
    changes.flatMap(({ impact, unlessIdle, compute }) =>
      impact !== 'none' || unlessIdle !== undefined ? [compute.id] : [],
    ),
  )
  const endangers = new Set(
    changes.flatMap(({ kind, branch, from }) =>
      ['delete', 'move', 'replace'].includes(kind) ? [branch.name, from?.name] : [],
    ),
  )
  const prunes = changes.some(({ kind, reasons }) => kind === 'delete' && reasons.includes('PRUNED'))
  const nowAt = new Map(after.branches.map((branch) => [branch.name, branch]))
  return {
    ...before,
    prune: prunes ? false : (after.prune ?? false),
    branches: before.branches.map((branch) => ({
      ...branch,
      protect: endangers.has(branch.name) || (nowAt.get(branch.name)?.protect ?? false),
      computes: branch.computes.map((compute) => ({
        ...compute,
        hasWindow:
          interrupts.has(compute.key) ||
          (nowAt.get(branch.name)?.computes.find(({ key }) => key === compute.key)?.hasWindow ?? false),
      })),
    })),
  }
}

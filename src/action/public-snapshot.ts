/**
 * The part of a snapshot that an untrusted pull request is planned with: what the manifests of its base name, or its
 * own, the values of Postgres settings that these declare, and no measured usage. The rest is left out before planning.
 * So nothing that follows from it, such as which rules match or what a project adds up to, can reveal it.
 */
import { defined } from '../base/index.ts'
import {
  type ComputeAttributes,
  computesDeclaredBy,
  type Desired,
  type DesiredCompute,
  type Observed,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  type Plan,
  type ProjectSettings,
  rowOf,
  ruleFilter,
} from '../model/index.ts'
import { declaredComputes } from '../planner/index.ts'

export const publicSnapshot = (
  base: Desired,
  head: Desired,
  { takenAt, projects, missing, unreadable = [] }: Observed,
): Observed => {
  const declared = [base, head].flatMap(computesIn)
  const pinned = new Set(declared.flatMap(({ id }) => id ?? []))
  const names = new Set(declared.flatMap(({ key, attributes: { name } }) => [key ?? [], name ?? []].flat()))
  /** A replica without a name is public only if the base claims it, because a declaration in the head could claim any. */
  const isPublicIn = (project: ObservedProject): ((compute: ObservedCompute) => boolean) => {
    const claimed = declaredComputes(base, project)
    return ({ id, type, attributes: { name } }) =>
      type === 'read_write' || claimed.has(id) || pinned.has(id) || (name !== undefined && names.has(name))
  }
  const hidden = placeholder(declared)
  return {
    takenAt,
    missing,
    // The reason may quote a live value.
    ...(unreadable.length === 0 ? {} : { unreadable: unreadable.map(({ id }) => ({ id, message: HIDDEN_REASON })) }),
    projects: projects.map((project): ObservedProject => {
      const branches = project.branches.filter(declaredBranches(project.id, base, head))
      const isPublic = isPublicIn(project)
      const ids = new Set(branches.map(({ id }) => id))
      const computes = project.computes.filter((one) => ids.has(one.branchId) && isPublic(one))
      const claims = [base, head].map((one) => declaredComputes(one, { id: project.id, branches, computes }))
      // Each field is named, so that a new one is left out until it is added here.
      const computeOf = ({ id, branchId, type, host, state, pendingState, startedAt, attributes }: ObservedCompute) => {
        const own = claims.flatMap((one) => one.get(id)?.attributes ?? [])
        const visible = visibleOf(attributes, own, names, hidden)
        return { id, branchId, type, host, state, attributes: visible, ...defined({ pendingState, startedAt }) }
      }
      return {
        id: project.id,
        branches: branches.map(branchOf),
        computes: computes.map(computeOf),
        ...defined({ settings: project.settings && settingsOf(project.settings) }),
      }
    }),
  }
}

/**
 * The visible attributes of a compute. A live value below `postgres` may be secret, so it is visible only if it is what
 * the compute is declared to have: then the plan shows no change anyway.
 *
 * @param claims the declarations of the compute.
 */
const visibleOf = (
  { name, postgresSettings: live, postgresPreload: preload, ...others }: ComputeAttributes,
  claims: readonly ComputeAttributes[],
  names: ReadonlySet<string>,
  hidden: string,
): ComputeAttributes => {
  const known = new Set(claims.flatMap(({ postgresSettings = {} }) => Object.keys(postgresSettings)))
  const settings = Object.entries(live ?? {}).filter(([key]) => known.has(key))
  const isDeclared = (key: string, value: string) => claims.some((one) => one.postgresSettings?.[key] === value)
  const isPreload = ({ postgresPreload: one }: ComputeAttributes) =>
    one !== undefined && rowOf('postgresPreload').satisfied(one, preload)
  return {
    ...others,
    ...defined({
      name: name !== undefined && names.has(name) ? name : undefined,
      postgresSettings:
        live && Object.fromEntries(settings.map(([key, value]) => [key, isDeclared(key, value) ? value : hidden])),
      postgresPreload: preload && (claims.some(isPreload) ? preload : [hidden]),
    }),
  }
}

/** What is shown in place of a live value. No manifest has this value, so that the change of a hidden one is shown. */
const placeholder = (declared: readonly DesiredCompute[]): string => {
  const values = new Set(
    declared.flatMap(({ attributes: { postgresSettings = {}, postgresPreload = [] } }) => [
      ...Object.values(postgresSettings),
      ...postgresPreload,
    ]),
  )
  let hidden = '(hidden)'
  while (values.has(hidden)) hidden = `(${hidden})`
  return hidden
}

const branchOf = ({ id, name, isDefault, isProtected, expiresAt }: ObservedBranch): ObservedBranch =>
  defined({ id, name, isDefault, isProtected, expiresAt })

const settingsOf = (settings: ProjectSettings): ProjectSettings => {
  const { subscription, computeDefaults, maintenanceWindow, maintenanceScheduledFor, period } = settings
  return defined({ subscription, computeDefaults, maintenanceWindow, maintenanceScheduledFor, period })
}

/**
 * The plan of this part of the snapshot, as it is shown. Without the measured usage, the cost would be misleading, and
 * without the other computes, so would the unmanaged ones.
 */
export const publicPlan = ({ cost: _, ...plan }: Plan): Plan => ({ ...plan, unmanaged: [] })

const HIDDEN_REASON = 'The reason is hidden, because anyone can open such a pull request'

/** Whether a branch may be shown. Rules in the pull request do not count: they could match any branch. */
const declaredBranches = (project: string, base: Desired, head: Desired): ((branch: ObservedBranch) => boolean) => {
  const of = ({ documents }: Desired) => documents.filter((document) => document.project === project)
  const named = new Set(
    [...of(base), ...of(head)].flatMap(({ branches, parkOn }) => [
      ...branches.map(({ ref }) => ref),
      ...(parkOn === undefined ? [] : [parkOn.ref]),
    ]),
  )
  const baseIds = new Set(of(base).flatMap(({ branches }) => branches.map(({ ref }) => ref)))
  const rules = of(base).flatMap((document) => document.rules.map(ruleFilter))
  return (branch) => named.has(branch.name) || baseIds.has(branch.id) || rules.some((matches) => matches(branch))
}

const computesIn = ({ documents }: Desired): readonly DesiredCompute[] =>
  documents.flatMap(({ branches, rules }) => [...branches, ...rules]).flatMap(computesDeclaredBy)

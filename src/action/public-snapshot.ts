/**
 * The part of a snapshot that an untrusted pull request is planned with: what the manifests of its base name, or its
 * own, and no measured usage. The rest is left out before planning. So nothing that follows from it, such as which
 * rules match or what a project adds up to, can reveal it.
 */
import {
  computesDeclaredBy,
  type Desired,
  type DesiredCompute,
  type Observed,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
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
  const withoutName = (compute: ObservedCompute): ObservedCompute => {
    const { name, ...attributes } = compute.attributes
    return name === undefined || names.has(name) ? compute : { ...compute, attributes }
  }
  return {
    takenAt,
    missing,
    // The reason may quote a live value.
    ...(unreadable.length === 0 ? {} : { unreadable: unreadable.map(({ id }) => ({ id, message: HIDDEN_REASON })) }),
    projects: projects.map((project): ObservedProject => {
      const branches = project.branches.filter(declaredBranches(project.id, base, head))
      const isPublic = isPublicIn(project)
      const ids = new Set(branches.map(({ id }) => id))
      const { quota: _, ...settings } = project.settings ?? {}
      return {
        id: project.id,
        branches: branches.map(({ usage, ...branch }) => branch),
        computes: project.computes.filter((one) => ids.has(one.branchId) && isPublic(one)).map(withoutName),
        ...(project.settings === undefined ? {} : { settings }),
      }
    }),
  }
}

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

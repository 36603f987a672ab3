/** Which names of branches and computes an untrusted pull request may show: those that manifests declare by name. */
import {
  computesDeclaredBy,
  type Desired,
  type DesiredCompute,
  type Observed,
  type ObservedBranch,
  ruleFilter,
} from '../model/index.ts'

/** Shown in place of a live value. */
export const HIDDEN = '(hidden)'

/** Which names are public, and aliases for the others. */
export interface PublicNames {
  readonly hasBranchId: (id: string) => boolean
  readonly hasBranch: (project: string, name: string) => boolean
  readonly has: (computeName: string) => boolean
  /** Whether the compute with this id, or its branch, has a name that is not public. */
  readonly hidesCompute: (id: string | undefined) => boolean
  /** Replaces names that are not public. @param claimed ids of the computes that a declaration matches. */
  readonly withoutNames: (text: string, claimed: ReadonlySet<string>) => string
  /** Replaces the ids and hosts that are not public. Each gets an alias of its own, so that references still match. */
  readonly withAliases: <T>(value: T) => T
}

/** Matches words that may be ids or host names. */
const WORD = /\w[\w.-]*\w/g

export const publicNames = (base: Desired, head: Desired, { projects }: Observed): PublicNames => {
  const isDeclared = new Map(projects.map(({ id }) => [id, declaredBranches(id, base, head)]))
  const branches = projects.flatMap(({ id, branches: all }) =>
    all.filter((branch) => isDeclared.get(id)?.(branch) !== true).map((branch) => ({ ...branch, project: id })),
  )
  const branchIds = new Set(branches.map(({ id }) => id))
  const branchNames = new Set(branches.map(({ project, name }) => `${project} ${name}`))
  const declared = [base, head].flatMap(declaredComputes)
  const pinned = new Set(declared.flatMap(({ id }) => id ?? []))
  const names = new Set(declared.flatMap(({ key, attributes: { name } }) => [key ?? [], name ?? []].flat()))
  const computes = projects.flatMap((project) => project.computes)
  // Messages put backticks around names, or around an edit that ends in a name, but not around ids and host names.
  const quoted = [...branches, ...computes.map(({ attributes }) => attributes)].flatMap(({ name }) =>
    name === undefined || names.has(name)
      ? []
      : ([
          [`\`${name}\``, HIDDEN],
          [` ${name}\``, ` ${HIDDEN}\``],
        ] as const),
  )
  const undeclared = computes.filter(
    ({ id, branchId, attributes: { name } }) =>
      !pinned.has(id) && (branchIds.has(branchId) || (name !== undefined && !names.has(name))),
  )
  const aliases = new Map([
    ...branches.map(({ id }, index) => [id, `hidden-branch-${index + 1}`] as const),
    ...undeclared.flatMap(({ id, host }, index) =>
      [id, host].map((word) => [word, `hidden-compute-${index + 1}`] as const),
    ),
  ])
  const withAliases = <T>(value: T): T => {
    if (typeof value === 'string') return value.replace(WORD, (word) => aliases.get(word) ?? word) as T
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(withAliases) as T
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withAliases(one)])) as T
  }
  return {
    hasBranchId: (id) => !branchIds.has(id),
    hasBranch: (project, name) => !branchNames.has(`${project} ${name}`),
    has: (name) => names.has(name),
    hidesCompute: (id) => id !== undefined && aliases.has(id),
    withoutNames: (text, claimed) => {
      const bare = new Set(
        computes.filter(({ id }) => !claimed.has(id) && !pinned.has(id)).flatMap(({ id, host }) => [id, host]),
      )
      return quoted
        .reduce((visible, [name, instead]) => visible.replaceAll(name, instead), text)
        .replace(WORD, (word) => (bare.has(word) ? HIDDEN : word))
    },
    withAliases,
  }
}

/** Whether the name of a branch may be shown. Rules in the pull request do not count: they could match any branch. */
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

const declaredComputes = ({ documents }: Desired): readonly DesiredCompute[] =>
  documents.flatMap(({ branches, rules }) => [...branches, ...rules]).flatMap(computesDeclaredBy)

/**
 * Hides live values in the plans of untrusted pull requests. Without this, anyone could open a pull request with a
 * harmless declaration and read the values in the comment and the log. What is hidden are the live values of Postgres
 * settings, and the names of branches and computes that neither the pull request nor its base declares by name.
 */
import { defined } from '../base/index.ts'
import {
  type AttributeChange,
  type BranchName,
  type Change,
  computesDeclaredBy,
  type Desired,
  type DesiredCompute,
  type Diagnostic,
  type Observed,
  type ObservedBranch,
  type Origin,
  type Plan,
  type PlannedCompute,
  ruleFilter,
  type Step,
} from '../model/index.ts'

/** Matches words that may be ids or host names. */
const WORD = /\w[\w.-]*\w/g

/** Shown in place of a live value. */
const HIDDEN = '(hidden)'

export interface Shown {
  readonly plan: Plan
  readonly origin: Origin
}

export interface Hiding {
  shown(all: Shown): Shown
  diagnostics(all: readonly Diagnostic[]): readonly Diagnostic[]
}

export const hidingFor = (base: Desired, head: Desired, observed: Observed): Hiding => {
  const branchIsDeclared = new Map(observed.projects.map(({ id }) => [id, declaredBranches(id, base, head)]))
  const branches = observed.projects.flatMap(({ id, branches: all }) =>
    all.filter((branch) => branchIsDeclared.get(id)?.(branch) !== true),
  )
  const hiddenIds = new Set(branches.map(({ id }) => id))
  const declared = [base, head].flatMap(declaredComputes)
  const pinned = new Set(declared.flatMap(({ id }) => id ?? []))
  const names = new Set(declared.flatMap(({ key, attributes: { name } }) => [key ?? [], name ?? []].flat()))

  const computes = observed.projects.flatMap((project) => project.computes)
  // Messages put backticks around names, but not around ids and host names.
  const quoted = [...branches, ...computes.map(({ attributes }) => attributes)].flatMap(({ name }) =>
    name === undefined || names.has(name) ? [] : [`\`${name}\``],
  )

  // Each hidden branch or compute gets its own alias, so that references to it still match.
  const aliases = new Map<string, string>(branches.map(({ id }, index) => [id, `hidden-branch-${index + 1}`]))
  const undeclared = computes.filter(
    ({ id, branchId, attributes: { name } }) =>
      !pinned.has(id) && (hiddenIds.has(branchId) || (name !== undefined && !names.has(name))),
  )
  for (const [index, { id, host }] of undeclared.entries()) {
    for (const word of [id, host]) if (word !== undefined) aliases.set(word, `hidden-compute-${index + 1}`)
  }
  const withAliases = <T>(value: T): T => {
    if (typeof value === 'string') return value.replace(WORD, (word) => aliases.get(word) ?? word) as T
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(withAliases) as T
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withAliases(one)])) as T
  }

  const branchOf = (branch: BranchName): BranchName =>
    hiddenIds.has(branch.id) ? { id: branch.id, name: branch.id } : branch
  /** @param claimed ids of the computes that a declaration matches. */
  const textWithout = (claimed: ReadonlySet<string>) => {
    const bare = new Set(
      computes.filter(({ id }) => !claimed.has(id) && !pinned.has(id)).flatMap(({ id, host }) => [id, host]),
    )
    return (text: string): string =>
      quoted
        .reduce((shown, name) => shown.replaceAll(name, HIDDEN), text)
        .replace(WORD, (word) => (bare.has(word) ? HIDDEN : word))
  }

  const computeOf = (compute: PlannedCompute): PlannedCompute => {
    const { name, state, ...rest } = compute
    return {
      ...rest,
      ...(name === undefined || !names.has(name) ? {} : { name }),
      ...(state === undefined || aliases.has(compute.id ?? '') ? {} : { state }),
    }
  }
  const attributeOf = (attribute: AttributeChange): AttributeChange => {
    const { path, beforeText } = attribute
    const isLive = path.startsWith(POSTGRES) || (path === 'name' && beforeText !== undefined && !names.has(beforeText))
    return isLive && beforeText !== undefined ? { ...attribute, before: HIDDEN, beforeText: HIDDEN } : attribute
  }

  const diagnosticOf =
    (without: (text: string) => string) =>
    (diagnostic: Diagnostic): Diagnostic => ({
      ...diagnostic,
      message: without(diagnostic.message),
      ...defined({ hint: diagnostic.hint && without(diagnostic.hint) }),
    })

  return {
    diagnostics: (all) => all.map(diagnosticOf(textWithout(new Set()))),
    shown: ({ plan: { projectNames: _names, ...plan }, origin }) => {
      const claimed = new Set(
        plan.changes.filter(({ source }) => source !== undefined).flatMap(({ compute: { id } }) => id ?? []),
      )
      const without = textWithout(claimed)
      const common = <T extends Change | Step>(one: T): T => ({
        ...one,
        branch: branchOf(one.branch),
        compute: computeOf(one.compute),
        ...defined({ refused: one.refused && without(one.refused) }),
      })
      const changeOf = (change: Change): Change => ({
        ...common(change),
        ...defined({ from: change.from && branchOf(change.from) }),
        attributes: change.attributes.map(attributeOf),
      })
      return withAliases({
        plan: {
          ...plan,
          changes: plan.changes.map(changeOf),
          steps: plan.steps.map((step) => withoutSettings(common(step))),
          unmanaged: [],
          warnings: plan.warnings.map(diagnosticOf(without)),
          ...defined({
            leftOut: plan.leftOut?.map((one) => ({ ...one, diagnostics: one.diagnostics.map(diagnosticOf(without)) })),
          }),
        },
        origin: {
          ...origin,
          introduced: origin.introduced.map(changeOf),
          drift: origin.drift.map(changeOf),
          settled: origin.settled.map(changeOf),
          // The base may declare these computes only through a rule, without naming them.
          released: origin.released.map((one) => ({
            ...one,
            branch: branchOf(one.branch),
            compute: computeOf(one.compute),
          })),
        },
      })
    },
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

/** The prefix of the paths of Postgres settings and preloaded libraries. */
const POSTGRES = 'postgres.'

/** Removes the settings from a step's request, because a request also contains live settings that are not declared. */
const withoutSettings = (step: Step): Step => {
  const endpoint = step.request.body?.endpoint
  if (endpoint === undefined || !('settings' in endpoint)) return step
  const { settings: _settings, ...rest } = endpoint
  return { ...step, request: { ...step.request, body: { endpoint: rest } } }
}

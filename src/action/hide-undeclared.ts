/**
 * What an untrusted pull request must not learn of the live projects: values of Postgres settings that it did not write
 * itself, and names of branches and computes that neither the base nor the pull request itself declares by name. Whoever
 * opens a pull request reads its comment and its log, and could otherwise ask for both by declaring something harmless.
 */
import {
  type AttributeChange,
  type BranchName,
  type Change,
  type Desired,
  type Diagnostic,
  globMatcher,
  type Observed,
  type Origin,
  type Plan,
  type Step,
} from '../model/index.ts'

/** What could be an id or a host. */
const WORD = /\w[\w.-]*\w/g

/** In the place of a live value. */
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
  const declared = new Map(observed.projects.map(({ id }) => [id, declaredBranches(id, base, head)]))
  const branches = observed.projects.flatMap(({ id, branches: all }) =>
    all.filter(({ name, id: branch }) => declared.get(id)?.(name, branch) !== true),
  )
  const hiddenIds = new Set(branches.map(({ id }) => id))
  const pinned = new Set(pins(base).concat(pins(head)))

  const branchOf = (branch: BranchName): BranchName =>
    hiddenIds.has(branch.id) ? { id: branch.id, name: branch.id } : branch
  /** @param claimed ids of computes that a declaration stands for. */
  const textWithout = (claimed: ReadonlySet<string>) => {
    const computes = observed.projects
      .flatMap((project) => project.computes)
      .filter(({ id }) => !claimed.has(id) && !pinned.has(id))
    // Messages quote names; ids and hosts stand bare.
    const quoted = [...branches, ...computes.map(({ attributes }) => attributes)].flatMap(({ name }) =>
      name === undefined ? [] : [`\`${name}\``],
    )
    const bare = new Set(computes.flatMap(({ id, host }) => [id, host]))
    return (text: string): string =>
      quoted
        .reduce((shown, name) => shown.replaceAll(name, HIDDEN), text)
        .replace(WORD, (word) => (bare.has(word) ? HIDDEN : word))
  }

  const diagnosticOf =
    (without: (text: string) => string) =>
    (diagnostic: Diagnostic): Diagnostic => ({
      ...diagnostic,
      message: without(diagnostic.message),
      ...(diagnostic.hint === undefined ? {} : { hint: without(diagnostic.hint) }),
    })

  return {
    diagnostics: (all) => all.map(diagnosticOf(textWithout(new Set()))),
    shown: ({ plan, origin }) => {
      const claimed = new Set(plan.changes.filter(isDeclared).flatMap(({ compute: { id } }) => id ?? []))
      const without = textWithout(claimed)
      const common = <T extends Change | Step>(one: T): T => ({
        ...one,
        branch: branchOf(one.branch),
        ...(isDeclared(one) ? {} : { compute: withoutName(one.compute) }),
        ...(one.refused === undefined ? {} : { refused: without(one.refused) }),
      })
      const changeOf = (change: Change): Change => ({
        ...common(change),
        ...(change.from === undefined ? {} : { from: branchOf(change.from) }),
        attributes: change.attributes.map(withoutLiveSetting),
      })
      return {
        plan: {
          ...plan,
          changes: plan.changes.map(changeOf),
          steps: plan.steps.map((step) => withoutSettings(common(step))),
          unmanaged: [],
          warnings: plan.warnings.map(diagnosticOf(without)),
        },
        origin: {
          introduced: origin.introduced.map(changeOf),
          drift: origin.drift.map(changeOf),
          settled: origin.settled.map(changeOf),
        },
      }
    },
  }
}

/** Whether a branch's name may be shown: a rule of the pull request, which could match all of them, does not count. */
const declaredBranches = (project: string, base: Desired, head: Desired): ((name: string, id: string) => boolean) => {
  const of = ({ documents }: Desired) => documents.filter((document) => document.project === project)
  const named = new Set(
    [...of(base), ...of(head)].flatMap(({ branches, parkOn }) => [
      ...branches.map(({ ref }) => ref),
      ...(parkOn === undefined ? [] : [parkOn.ref]),
    ]),
  )
  const baseIds = new Set(of(base).flatMap(({ branches }) => branches.map(({ ref }) => ref)))
  const rules = of(base).flatMap((document) =>
    document.rules.map(({ match, except }) => ({
      matches: globMatcher(match),
      exceptions: except.map(globMatcher),
    })),
  )
  return (name, id) =>
    named.has(name) ||
    baseIds.has(id) ||
    rules.some(({ matches, exceptions }) => matches(name) && !exceptions.some((isException) => isException(name)))
}

const pins = ({ documents }: Desired): readonly string[] =>
  documents
    .flatMap(({ branches, rules }) => [...branches, ...rules])
    .flatMap(({ primary, replicas }) => [
      ...(primary === undefined || 'absent' in primary ? [] : [primary]),
      ...replicas,
    ])
    .flatMap(({ id }) => id ?? [])

/** A prune has no declaration. */
const isDeclared = ({ source }: Pick<Change, 'source'>): boolean => source !== undefined

const withoutName = <T extends Change['compute']>({ name: _name, host: _host, ...compute }: T) => compute

const SETTINGS = 'postgres.'

const withoutLiveSetting = (attribute: AttributeChange): AttributeChange =>
  attribute.before !== undefined && attribute.path.startsWith(SETTINGS) ? { ...attribute, before: HIDDEN } : attribute

/** A request carries the live settings that nobody declares along with the others. */
const withoutSettings = (step: Step): Step => {
  const endpoint = step.request.body?.endpoint
  if (endpoint === undefined || !('settings' in endpoint)) return step
  const { settings: _settings, ...rest } = endpoint
  return { ...step, request: { ...step.request, body: { endpoint: rest } } }
}

/** Decides whether a saved plan may run. It must do and show the same as a plan that is made now. */
import { canonicalJson, compare, type Difference, differences, groupBy } from '../../base/index.ts'
import {
  type Change,
  changeTitle,
  type Diagnostic,
  type Observed,
  type Plan,
  type PlanResult,
  withoutPlaces,
} from '../../model/index.ts'
import type { PlanFile } from '../shapes.ts'
import { keptSettings, type Moved, type MovedCompute, movedSince, unseenIn } from './recorded-state.ts'

export type SavedPlanVerdict =
  | { readonly kind: 'current' }
  /** The project, the manifests or the program have changed. `moved` has a sentence for each change. */
  | { readonly kind: 'stale'; readonly moved: readonly string[] }
  /** Nothing has changed, and yet the plan differs from a new one. `where` has a sentence for each difference. */
  | { readonly kind: 'edited'; readonly where: readonly string[] }

export interface Present {
  readonly observed: Observed
  readonly manifestDigest: string
  readonly espalierVersion: string
  /** A plan that was made now. */
  readonly fresh: PlanResult
  /**
   * A plan that was made now, but with each compute active or idle as it was when the plan was saved. The saved plan is
   * compared with this one, because impacts, counts and the order of moves depend on which computes are active. Each
   * step checks again when it runs.
   */
  readonly rewound: PlanResult
}

export const judgeSavedPlan = (file: PlanFile, present: Present): SavedPlanVerdict => {
  const { fresh, rewound, observed } = present
  const unseen = unseenIn(file.seen, file.plan)
  if (unseen.length > 0) return { kind: 'edited', where: unseen }
  const moved = movedSince(file.seen, observed, file.plan.projects)
  const isSameText = file.manifestDigest === present.manifestDigest
  // A declaration may move within its file, for example below a new comment, without any effect.
  const differ = (one: unknown, other: unknown) =>
    isSameText ? differences(one, other) : differences(withoutPlaces(one), withoutPlaces(other))
  const causes = [
    ...(isSameText ? [] : ['The manifests have changed.']),
    ...(file.espalier === present.espalierVersion
      ? []
      : [`It was saved by espalier ${file.espalier}; this is ${present.espalierVersion}.`]),
    ...newlySkipped(file.plan, fresh.plan),
    ...otherwiseDenied(file.plan, fresh.plan),
  ]
  if (!fresh.ok || !rewound.ok) {
    const errors = [fresh, rewound].flatMap((result) => (result.ok ? [] : result.diagnostics))
    const messages = errors.filter(({ severity }) => severity === 'error').map(({ message }) => message)
    return { kind: 'stale', moved: [...causes, ...sentences(moved.computes, file), ...new Set(messages)] }
  }
  // Whoever wrote the file could choose its digest and version. If these do not match, that may explain why the plans
  // differ, but the plan is refused all the same.
  const isSame = causes.length === 0
  const actions = differ(actionsOf(file.plan), actionsOf(rewound.plan))
  if (actions.length > 0) {
    const isStill = isSame && !moved.branches && moved.computes.length === 0
    if (isStill) return { kind: 'edited', where: actions.map(inWords) }
    const touched = touchedBy(file.plan, rewound.plan)
    const relevant = moved.computes.filter((one) => touched.some((change) => concerns(one, change)))
    const others = touched.filter((change) => !relevant.some((one) => concerns(one, change)))
    const lines = [...causes, ...sentences(relevant, file), ...others.map((change) => howReplanned(change, file))]
    return { kind: 'stale', moved: lines.length > 0 ? lines : actions.map(inWords) }
  }
  const shown = differ(shownOf(file.plan, moved), shownOf(rewound.plan, moved))
  if (shown.length > 0) {
    return isSame
      ? { kind: 'edited', where: shown.map(inWords) }
      : { kind: 'stale', moved: [...causes, ...shown.map(inWords)] }
  }
  const renamed = renamedIn(file.plan, fresh.plan)
  if (renamed.length > 0) return { kind: 'stale', moved: renamed }
  if (file.keptSettings !== keptSettings(observed, rewound.plan)) return { kind: 'stale', moved: [OTHER_SETTINGS] }
  // Which live compute a declared replica is matched with may depend on which computes are idle.
  const roles = differences(rolesOf(rewound.plan), rolesOf(fresh.plan))
  return roles.length > 0 ? { kind: 'stale', moved: [OTHER_ROLES, ...roles.map(inWords)] } : { kind: 'current' }
}

/** The changes that are skipped now but were not when the plan was saved, because a branch is now about to expire. */
const newlySkipped = (saved: Plan, { skipped = [] }: Plan): readonly string[] => {
  const known = new Set(saved.skipped?.map(({ change }) => change))
  return [...new Set(skipped.filter(({ change }) => !known.has(change)).map(({ sentence }) => `${sentence}.`))]
}

/** The projects that were renamed. A name that is unknown now, for example with another key, cannot be compared. */
const renamedIn = (saved: Plan, fresh: Plan): readonly string[] => {
  const now = new Map(Object.entries(fresh.projectNames ?? {}))
  return Object.entries(saved.projectNames ?? {}).flatMap(([id, name]) => {
    const other = now.get(id) ?? name
    return other === name ? [] : [`The project ${id} is named ${other}, but the plan names it ${name}.`]
  })
}

/**
 * The denials that differ. The reason may be that a policy has changed, that an override is missing or new, or that an
 * expected cost now exceeds its limit.
 */
const otherwiseDenied = (saved: Plan, fresh: Plan): readonly string[] => {
  const [then, now] = [deniedIn(saved), deniedIn(fresh)]
  return [
    ...[...now].filter((message) => !then.has(message)).map((message) => `${message}.`),
    ...[...then].filter((message) => !now.has(message)).map((message) => `No longer denied: ${message}.`),
  ]
}

const deniedIn = ({ policies }: Plan): ReadonlySet<string> =>
  new Set(policies?.results.filter(({ outcome }) => outcome === 'denied').map(({ message }) => message))

const OTHER_SETTINGS = 'Live settings that are not declared, and that the plan keeps, have changed.'

const OTHER_ROLES = 'Other computes are idle now, so replicas would be matched differently.'

/** The changes and steps of a plan, with everything that is displayed about them. */
const actionsOf = ({ changes, steps, projects, waves = [] }: Plan): unknown => ({
  waves: waves.map(({ name, projects: own }) => [name, own.filter((project) => projects.includes(project))]),
  changes: byId(changes, (change) => change),
  steps: byId(steps, (step) => step),
  order: [...changes, ...steps].map(({ id }) => id),
})

const byId = <T extends { readonly id: string }>(items: readonly T[], partOf: (item: T) => unknown): unknown =>
  Object.fromEntries(items.map((item) => [item.id, partOf(item)]))

/**
 * What a reader of the plan relies on, apart from changes and steps. Computes that the plan does not touch, such as
 * previews and unmanaged computes, may have changed since the plan was saved. Those that have changed are left out, and
 * so are unsettled computes, which depend on operations, and exceeded quotas, which depend on past usage.
 */
const shownOf = (plan: Plan, moved: Moved): unknown => {
  const { formatVersion, projects, unmanaged, summary } = plan
  const warnings = plan.warnings.filter(({ code }) => code !== 'W_UNSETTLED' && code !== 'W_QUOTA')
  const isStill = !moved.branches && moved.computes.length === 0
  if (isStill) return { formatVersion, projects, unmanaged, summary, warnings }
  const { unmanaged: _unmanaged, managed: _managed, capacity, ...counts } = summary
  const gone = new Set(moved.computes.map(({ id }) => id))
  return {
    formatVersion,
    projects,
    unmanaged: unmanaged.filter(({ compute }) => !gone.has(compute.id ?? '')),
    summary: { ...counts, capacity: moved.computes.length === 0 ? capacity : addedBy(capacity) },
    warnings: warnings.filter(isOfChanges),
  }
}

/** The capacity that the plan itself adds, which does not depend on how capacity has changed otherwise. */
const addedBy = ({ before, after }: Plan['summary']['capacity']): unknown => ({
  computes: after.computes - before.computes,
  minCu: after.minCu - before.minCu,
  maxCu: after.maxCu - before.maxCu,
  ramGb: after.ramGb - before.ramGb,
  maxConnections: after.maxConnections - before.maxConnections,
})

/** Whether a warning depends only on the changes. Warnings about rules also depend on other branches. */
const isOfChanges = ({ code }: Diagnostic): boolean => code !== 'W_RULE_UNUSED' && code !== 'W_RULE_SHADOWED'

/** The compute that each change is matched with, and its attributes, regardless of activity. */
const rolesOf = ({ changes }: Plan): unknown =>
  byId(changes, ({ kind, from, compute, attributes }) => ({
    kind,
    from: from?.id,
    compute: compute.id,
    attributes: attributes.map(({ path, beforeText, afterText }) => [path, beforeText, afterText]),
  }))

interface Touched {
  /** The change as it is planned now, or else as it was planned before. */
  readonly one: Change
  readonly before: Change | undefined
  readonly after: Change | undefined
}

/** The changes that differ between the plans, or whose steps differ. */
const touchedBy = (saved: Plan, fresh: Plan): readonly Touched[] => {
  const [before, after] = [textsOf(saved), textsOf(fresh)]
  return [...new Map([...before, ...after])]
    .sort(([a], [b]) => compare(a, b))
    .filter(([id]) => before.get(id)?.text !== after.get(id)?.text)
    .map(([id, { change }]) => ({ one: change, before: before.get(id)?.change, after: after.get(id)?.change }))
}

const textsOf = ({ changes, steps }: Plan): ReadonlyMap<string, { readonly change: Change; readonly text: string }> => {
  const own = groupBy(steps, ({ change }) => change)
  const textOf = (change: Change): string => canonicalJson(withoutPlaces([change, own.get(change.id)]))
  return new Map(changes.map((change) => [change.id, { change, text: textOf(change) }]))
}

/** Whether the compute may explain the difference, because it is the same compute or is on the same branch. */
const concerns = ({ id, project, branches }: MovedCompute, { before, after }: Touched): boolean =>
  [before, after].some(
    (change) =>
      change !== undefined &&
      change.project === project &&
      (change.compute.id === id || branches.includes(change.branch.id) || branches.includes(change.from?.id ?? '')),
  )

const sentences = (computes: readonly MovedCompute[], { plan }: PlanFile): readonly string[] =>
  computes.map(({ project, sentence }) => `${plan.projects.length > 1 ? `${project}: ` : ''}${sentence}`)

const howReplanned = ({ one, before, after }: Touched, { plan }: PlanFile): string => {
  const title = `${plan.projects.length > 1 ? `${one.project}: ` : ''}${changeTitle(one)}`
  if (before === undefined) return `${title}: planned now, but not before`
  if (after === undefined) return `${title}: no longer planned`
  const [first] = differences(readable(before), readable(after))
  return `${title}: ${first === undefined ? 'other steps are planned' : inWords(first)}`
}

/** The change with its attributes by path, which makes the message readable. */
const readable = (change: Change): unknown => ({
  ...(withoutPlaces(change) as Change),
  attributes: Object.fromEntries(
    change.attributes.map(({ path, beforeText, afterText }) => [path, { before: beforeText, after: afterText }]),
  ),
})

const inWords = ({ path, before, after }: Difference): string => `${path}: ${shortOf(before)} → ${shortOf(after)}`

const shortOf = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/**
 * Whether two plans do the same. It does not matter whether a compute has been suspended or started in the meantime,
 * because a plan covers both cases, and each step checks again when it runs.
 */
export const isSamePlan = (one: Plan, other: Plan): boolean => effectOf(one) === effectOf(other)

const effectOf = ({ changes, steps }: Plan): string =>
  JSON.stringify([
    changes.map(({ id, kind, from, attributes }) => [
      id,
      kind,
      from?.id,
      attributes.map(({ path, beforeText, afterText }) => [path, beforeText, afterText]),
    ]),
    steps.map(({ id, request, refused, windows }) => [id, request, refused, windows]).sort(),
  ])

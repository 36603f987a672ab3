/**
 * What an untrusted pull request shows of its plan. Anyone can open one with a harmless declaration, so it must not
 * reveal live values of Postgres settings, measured usage, or the names of branches and computes that neither the pull
 * request nor its base declares by name.
 *
 * The visible plan is built field by field. A field that the tables below do not show is hidden, and a new field does
 * not compile until its row says who may see it.
 */
import {
  type AttributeChange,
  addCapacity,
  type BranchName,
  type Change,
  type Desired,
  type Diagnostic,
  type ExpiringChange,
  type LeftOutProject,
  NO_CAPACITY,
  type Observed,
  type Origin,
  type Plan,
  type PlannedCompute,
  type PlannedUpdate,
  type PlanPolicies,
  type PlanSummary,
  POLICY_RULE_NAMES,
  type PolicyResult,
  policyRuleRow,
  type ReleasedCompute,
  type SkippedChange,
  type Step,
  type StepRequest,
  summaryOf,
} from '../model/index.ts'
import { HIDDEN, type PublicNames, publicNames } from './public-names.ts'

/** Returns what may be seen of a value, or `undefined` if nothing may. */
type View<T> = (value: T) => T | undefined

/** Says of every field of a type what may be seen of it. */
type Fields<T> = { readonly [K in keyof Required<T>]: View<Required<T>[K]> }

const shown = <T>(value: T): T => value
const hidden = (): undefined => undefined

const each =
  <T>(view: View<T>): View<readonly T[]> =>
  (all) =>
    all.flatMap((one) => view(one) ?? [])

/** A view of an object, which hides none of its required fields as a whole. */
const record =
  <T extends object>(fields: Fields<T>) =>
  (value: T): T =>
    Object.fromEntries(
      (Object.keys(fields) as (keyof T)[]).flatMap((key) => {
        const visible = value[key] === undefined ? undefined : (fields[key] as View<unknown>)(value[key])
        return visible === undefined ? [] : [[key, visible]]
      }),
    ) as T

export interface Shown {
  readonly plan: Plan
  readonly origin: Origin
}

/** @param base the manifests of the pull request's base. Its rules may reveal names; those of `head` may not. */
export const visibleTo = (base: Desired, head: Desired, observed: Observed) => {
  const names = publicNames(base, head, observed)
  return {
    diagnostics: (all: readonly Diagnostic[]): readonly Diagnostic[] =>
      each(diagnosticView(names, new Set()))(all) ?? [],
    shown: ({ plan, origin }: Shown): Shown => {
      const claimed = plan.changes
        .filter(({ source }) => source !== undefined)
        .flatMap(({ compute }) => compute.id ?? [])
      const views = viewsOf(names, new Set(claimed), plan)
      return names.withAliases({ plan: views.plan(plan), origin: views.origin(origin) })
    },
  }
}

/**
 * Warnings that concern hidden branches and computes even if they name none: the usage of a whole project, and which
 * rules match a branch. With a rule for each letter and position, the latter would spell the names of branches.
 */
const HIDDEN_WARNINGS: ReadonlySet<Diagnostic['code']> = new Set(['W_QUOTA', 'W_RULE_UNUSED', 'W_RULE_SHADOWED'])

const diagnosticView = (names: PublicNames, claimed: ReadonlySet<string>): View<Diagnostic> => {
  const text = (words: string): string => names.withoutNames(words, claimed)
  const view = record<Diagnostic>({ severity: shown, code: shown, message: text, hint: text, source: shown })
  return (one) => (HIDDEN_WARNINGS.has(one.code) ? undefined : view(one))
}

const UNNAMED = 'concerns computes that are hidden here'

/** The prefix of the paths of Postgres settings and preloaded libraries. */
const POSTGRES = 'postgres.'

const viewsOf = (names: PublicNames, claimed: ReadonlySet<string>, { policies }: Plan) => {
  const hiddenResults = policies?.results.filter((one) => !isPublicResult(one, names)) ?? []
  const text = (words: string): string =>
    names.withoutNames(
      // A refused change repeats the message of the policy that denies it.
      hiddenResults.reduce(
        (shown, { policy, message }) => shown.replaceAll(message, `\`${policy}\` ${UNNAMED}`),
        words,
      ),
      claimed,
    )
  const branch: View<BranchName> = ({ id, name }) => ({ id, name: names.hasBranchId(id) ? name : id })
  const compute: View<PlannedCompute> = (one) =>
    record<PlannedCompute>({
      type: shown,
      name: (name) => (names.has(name) ? name : undefined),
      id: shown,
      host: shown,
      state: names.hidesCompute(one.id) ? hidden : shown,
    })(one)
  /** A sentence that may name its branch without quotes. */
  const sentenceAbout =
    ({ id }: BranchName): View<string> =>
    (sentence) =>
      names.hasBranchId(id) ? text(sentence) : HIDDEN

  const attribute: View<AttributeChange> = (one) => {
    const { path, beforeText } = one
    const isSecret =
      path.startsWith(POSTGRES) || (path === 'name' && beforeText !== undefined && !names.has(beforeText))
    const live = isSecret ? () => HIDDEN : shown
    return record<AttributeChange>({
      path: shown,
      before: live,
      after: shown,
      beforeText: live,
      afterText: shown,
      impact: shown,
      rule: shown,
      source: shown,
    })(one)
  }
  const change = record<Change>({
    id: shown,
    kind: shown,
    project: shown,
    branch,
    from: branch,
    compute,
    attributes: each(attribute),
    impact: shown,
    unlessIdle: shown,
    reasons: shown,
    refused: text,
    windows: shown,
    before: shown,
    after: shown,
    source: shown,
  })
  const step = record<Step>({
    id: shown,
    change: shown,
    kind: shown,
    project: shown,
    branch,
    compute,
    request: requestView(names),
    impact: shown,
    unlessIdle: shown,
    consents: shown,
    refused: text,
    windows: shown,
    reason: shown,
    rule: shown,
    source: shown,
    after: shown,
    inTurnAfter: shown,
    actions: shown,
  })
  const diagnostics = each(diagnosticView(names, claimed))
  const policyResult: View<PolicyResult> = (one) => {
    const isPublic = isPublicResult(one, names)
    return record<PolicyResult>({
      policy: shown,
      rule: shown,
      level: shown,
      outcome: shown,
      project: shown,
      branch: isPublic ? shown : hidden,
      compute: isPublic ? shown : hidden,
      message: text,
      reason: shown,
      override: shown,
      overriddenBy: shown,
    })(one)
  }
  const plan = (all: Plan): Plan =>
    record<Plan>({
      formatVersion: shown,
      projects: shown,
      projectNames: hidden,
      leftOut: each(record<LeftOutProject>({ project: shown, diagnostics })),
      waves: shown,
      selection: shown,
      changes: each(change),
      steps: each(step),
      unmanaged: () => [],
      estimates: shown,
      summary: () => visibleSummary(all),
      warnings: diagnostics,
      skipped: each((one) =>
        record<SkippedChange>({
          change: shown,
          kind: shown,
          project: shown,
          branch,
          compute,
          sentence: sentenceAbout(one.branch),
        })(one),
      ),
      expiring: each(record<ExpiringChange>({ change: shown, project: shown, expiresAt: shown, sentence: shown })),
      // It is computed from measured usage, and its totals include computes that are hidden.
      cost: hidden,
      maintenance: each(record<PlannedUpdate>({ change: shown, project: shown, scheduledFor: shown, sentence: shown })),
      policies: record<PlanPolicies>({ files: shown, ref: shown, results: each(policyResult), changes: shown }),
    })(all)
  const origin = record<Origin>({
    introduced: each(change),
    drift: each(change),
    settled: each(change),
    // The base may declare these computes only through a rule, without naming them.
    released: each(record<ReleasedCompute>({ project: shown, branch, compute, size: shown, source: shown })),
    gaps: each(text),
  })
  return { plan, origin }
}

/** Results about a whole project, or about usage, measure computes that are hidden. */
const isPublicResult = ({ project, branch, compute, rule }: PolicyResult, names: PublicNames): boolean => {
  const name = POLICY_RULE_NAMES.find((one) => one === rule)
  const row = name && policyRuleRow(name)
  if (row === undefined) return false
  if (row.of === 'plan') return row.isFromUsage !== true
  if (row.of === 'project' || row.of === 'usage' || project === undefined || branch === undefined) return false
  return names.hasBranch(project, branch) && (compute === undefined || isPublicTitle(compute, names))
}

/** @param title `primary`, or `replica NAME`. */
const isPublicTitle = (title: string, names: PublicNames): boolean =>
  title === 'primary' || names.has(title.slice('replica '.length))

/** A request repeats live settings that are not declared, so its settings are hidden. */
const requestView = (names: PublicNames): View<StepRequest> => {
  type Body = NonNullable<StepRequest['body']>
  return record<StepRequest>({
    method: shown,
    path: shown,
    body: record<Body>({
      endpoint: record<Body['endpoint']>({
        branch_id: shown,
        type: shown,
        name: (name) => (name === undefined || names.has(name) ? name : undefined),
        autoscaling_limit_min_cu: shown,
        autoscaling_limit_max_cu: shown,
        suspend_timeout_seconds: shown,
        disabled: shown,
        passwordless_access: shown,
        pooler_enabled: shown,
        pooler_mode: shown,
        settings: hidden,
      }),
    }),
  })
}

/** Counts what is visible: the totals of a project include computes that are hidden. */
const visibleSummary = ({ changes, summary: { managed, calls } }: Plan): PlanSummary => {
  const live = changes.flatMap(({ before }) => before ?? [])
  const before = live.reduce((total, one) => addCapacity(total, one, 1), NO_CAPACITY)
  return { ...summaryOf(changes, before), managed, unmanaged: 0, calls }
}

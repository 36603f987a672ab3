/**
 * What an untrusted pull request shows of its plan. The plan is made from a part of the snapshot (public-snapshot.ts),
 * so what is left to hide are live values of Postgres settings and costs.
 *
 * The visible plan is built field by field. A field that the tables below do not show is hidden, and a new field does
 * not compile until its row says who may see it.
 */
import type {
  AttributeChange,
  BranchName,
  Change,
  Diagnostic,
  Effect,
  EffectKind,
  ExpiringChange,
  LeftOutProject,
  NamedBranch,
  Origin,
  Plan,
  PlannedCompute,
  PlannedUpdate,
  PlanPolicies,
  PolicyResult,
  ReleasedAttribute,
  ReleasedCompute,
  ReleasedSafeguard,
  SkippedChange,
  Step,
  StepRequest,
} from '../model/index.ts'

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

const diagnostic = record<Diagnostic>({ severity: shown, code: shown, message: shown, hint: shown, source: shown })

/** The prefix of the paths of Postgres settings and preloaded libraries. */
const POSTGRES = 'postgres.'

/** Shown in place of a live value. */
const HIDDEN = '(hidden)'

const liveValueOf = ({ path }: { readonly path: string }): (<T>(value: T) => T | string) =>
  path.startsWith(POSTGRES) ? () => HIDDEN : shown

const attribute = (one: AttributeChange): AttributeChange => {
  const live = liveValueOf(one)
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

/** Effects follow from sizes, times and flags, which are shown, and from the names of declared settings. */
const EFFECTS: Readonly<Record<EffectKind, View<Effect>>> = {
  'default-branch': shown,
  disabled: shown,
  sleep: shown,
  'max-connections': shown,
  cache: shown,
  'temporary-disk': shown,
  'shared-compute': shown,
  autoscaling: shown,
  'next-restart': shown,
}

const compute = record<PlannedCompute>({ type: shown, name: shown, id: shown, host: shown, state: shown })
const branch = record<BranchName>({ id: shown, name: shown })

const change = record<Change>({
  id: shown,
  kind: shown,
  project: shown,
  branch,
  from: branch,
  compute,
  attributes: each(attribute),
  effects: each((effect) => EFFECTS[effect.kind](effect)),
  impact: shown,
  unlessIdle: shown,
  reasons: shown,
  refused: shown,
  isDenied: shown,
  windows: shown,
  before: shown,
  after: shown,
  source: shown,
})

type Body = NonNullable<StepRequest['body']>

const request = record<StepRequest>({
  method: shown,
  path: shown,
  body: record<Body>({
    endpoint: record<Body['endpoint']>({
      branch_id: shown,
      type: shown,
      name: shown,
      autoscaling_limit_min_cu: shown,
      autoscaling_limit_max_cu: shown,
      suspend_timeout_seconds: shown,
      disabled: shown,
      passwordless_access: shown,
      pooler_enabled: shown,
      pooler_mode: shown,
      // Only declared settings.
      settings: shown,
    }),
  }),
})

const step = record<Step>({
  id: shown,
  change: shown,
  kind: shown,
  project: shown,
  branch,
  compute,
  request,
  impact: shown,
  unlessIdle: shown,
  consents: shown,
  refused: shown,
  windows: shown,
  reason: shown,
  rule: shown,
  source: shown,
  after: shown,
  inTurnAfter: shown,
  actions: shown,
})

const policyResult = record<PolicyResult>({
  policy: shown,
  rule: shown,
  level: shown,
  outcome: shown,
  project: shown,
  branch: shown,
  compute: shown,
  message: shown,
  reason: shown,
  override: shown,
  overriddenBy: shown,
})

const skipped = record<SkippedChange>({
  change: shown,
  kind: shown,
  project: shown,
  branch,
  compute,
  sentence: shown,
})

export const visiblePlan = record<Plan>({
  formatVersion: shown,
  projects: shown,
  projectNames: hidden,
  leftOut: each(record<LeftOutProject>({ project: shown, diagnostics: each(diagnostic) })),
  waves: shown,
  selection: shown,
  changes: each(change),
  steps: each(step),
  unmanaged: () => [],
  estimates: shown,
  summary: shown,
  warnings: each(diagnostic),
  skipped: each(skipped),
  expiring: each(record<ExpiringChange>({ change: shown, project: shown, expiresAt: shown, sentence: shown })),
  // Without the measured usage, it would be misleading.
  cost: hidden,
  maintenance: each(record<PlannedUpdate>({ change: shown, project: shown, scheduledFor: shown, sentence: shown })),
  policies: record<PlanPolicies>({ files: shown, ref: shown, results: each(policyResult), changes: shown }),
})

const releasedCompute = record<ReleasedCompute>({
  kind: shown,
  project: shown,
  branch,
  compute,
  size: shown,
  source: shown,
})

const releasedAttribute = (one: ReleasedAttribute): ReleasedAttribute => {
  const live = liveValueOf(one)
  return record<ReleasedAttribute>({
    kind: shown,
    project: shown,
    branch,
    compute,
    path: shown,
    live,
    liveText: live,
    undo: shown,
    isDefault: shown,
    source: shown,
  })(one)
}

const releasedSafeguard = record<ReleasedSafeguard>({
  kind: shown,
  project: shown,
  branch: record<NamedBranch>({ id: shown, name: shown }),
  safeguard: shown,
  compute,
  before: shown,
  after: shown,
})

export const visibleOrigin = record<Origin>({
  introduced: each(change),
  drift: each(change),
  settled: each(change),
  released: each((one) => {
    if (one.kind === 'compute') return releasedCompute(one)
    return one.kind === 'attribute' ? releasedAttribute(one) : releasedSafeguard(one)
  }),
  gaps: shown,
})

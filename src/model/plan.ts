/**
 * The plan: the differences between manifests and live projects, and the API calls that resolve them, in order. Plans
 * are deterministic: the same input gives the same bytes.
 */
import type { AttributeValue, WireAttributes } from './attributes/index.ts'
import type { PlanCost } from './cost.ts'
import type { Diagnostic, Source } from './diagnostic.ts'
import type { Consent, Impact } from './impact.ts'
import type { ComputeType } from './observed.ts'
import type { PlanPolicies } from './policy.ts'
import type { RestartWindow } from './restart-window.ts'
import type { PlanSelection } from './selection.ts'
import type { Size } from './size.ts'

/** Published reasons for planned changes. `explain` and all renderers use them. */
export const REASONS = {
  NOT_OBSERVED: 'declared in the manifest, not found in the project',
  VALUE_DIFFERS: 'a declared value differs from the live one',
  PIN_ELSEWHERE: 'the pinned compute is on another branch',
  PARKED: 'moved temporarily to a branch without a primary, to break a cycle of moves',
  TYPE_DIFFERS: 'the pinned compute has a different type, and the API cannot change types',
  DECLARED_ABSENT: 'the manifest declares the compute `absent`',
  PRUNED: 'not declared, and the manifest sets prune: true',
} as const

export type Reason = keyof typeof REASONS

/** The major version is increased when a program that reads the old format would misread the new one. */
export const PLAN_FORMAT_VERSION = '3.0'

/** In the order in which a summary counts them. */
export const CHANGE_KINDS = ['create', 'update', 'move', 'replace', 'delete'] as const

export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface BranchName {
  /** `br-…`. */
  readonly id: string
  readonly name: string
}

/** A branch, or globs for branches, which have no id. */
export type NamedBranch = Pick<BranchName, 'name'> & Partial<BranchName>

/** A compute that the plan changes. `id`, `host` and `state` are absent if it does not exist yet. */
export interface PlannedCompute {
  readonly type: ComputeType
  /** The replica's key, or the compute's name if it has one. */
  readonly name?: string
  readonly id?: string
  readonly host?: string
  readonly state?: string
}

/**
 * A changed attribute. Its values are given in a form for programs and, as in a manifest, as text for people. For a new
 * compute there is no `before`.
 */
export interface AttributeChange {
  /** The attribute's path in the manifest. Each entry of a map has its own path: `postgres.settings.work_mem`. */
  readonly path: string
  readonly before?: AttributeValue
  readonly after: AttributeValue
  readonly beforeText?: string
  readonly afterText: string
  /** Impact on the compute in its current state: `none` if it is idle. */
  readonly impact: Impact
  readonly rule: string
  readonly source?: Source
}

/** What a change can make different for the users of a compute. The rows are in effects.ts. */
export const EFFECT_KINDS = [
  'default-branch',
  'disabled',
  'sleep',
  'max-connections',
  'cache',
  'temporary-disk',
  'shared-compute',
  'autoscaling',
  'next-restart',
] as const

export type EffectKind = (typeof EFFECT_KINDS)[number]

/** What is different after a change, at once or later. An impact is what the change itself interrupts. */
export interface Effect {
  readonly kind: EffectKind
  readonly before: AttributeValue
  readonly after: AttributeValue
  readonly when: 'now' | 'later'
  /** Set if the plan also warns about it. */
  readonly warns?: true
}

/** What a compute of this size provides at the upper limit of the size: `max_connections`, and RAM in GB. */
export interface Capacity {
  readonly size: Size
  readonly ramGb: number
  readonly maxConnections: number
}

/** All differences between a compute's declared and live state. */
export interface Change {
  /**
   * Stable: `PROJECT/BRANCH_ID/primary`, `PROJECT/BRANCH_ID/replica/KEY`, or `PROJECT/BRANCH_ID/COMPUTE_ID` if
   * undeclared.
   */
  readonly id: string
  readonly kind: ChangeKind
  readonly project: string
  /** The branch that the compute will be on. For a delete, the branch that it is on now. */
  readonly branch: BranchName
  /** For a move, the branch that the compute is on now. */
  readonly from?: BranchName
  readonly compute: PlannedCompute
  readonly attributes: readonly AttributeChange[]
  /** In the order of `EFFECT_KINDS`. */
  readonly effects: readonly Effect[]
  readonly impact: Impact
  /** The impact that the change would have if the compute were not idle. Absent if it is the same as `impact`. */
  readonly unlessIdle?: Impact
  /** The main reason comes first. */
  readonly reasons: readonly Reason[]
  /** Why the change must not be made, as a sentence. No flag can override this. */
  readonly refused?: string
  /** Set if it is refused because a policy denies it. */
  readonly isDenied?: true
  /** The restart windows that its steps wait for. */
  readonly windows?: readonly RestartWindow[]
  readonly before?: Capacity
  readonly after?: Capacity
  /** Where the compute is declared. Absent if the change prunes an undeclared compute. */
  readonly source?: Source
}

export type StepKind = 'create' | 'update' | 'move' | 'delete'

/**
 * An API request. Its `settings` are only the declared ones. The live settings that are not declared, which the request
 * must repeat, may be secret, so they are added from a new read when it is sent.
 */
export interface StepRequest {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** The path below the API root: `/projects/…`. */
  readonly path: string
  readonly body?: { readonly endpoint: WireAttributes & { readonly branch_id?: string; readonly type?: ComputeType } }
}

export interface Step {
  /** `CHANGE_ID#1`, numbered within its change. */
  readonly id: string
  /** Id of the change that the step belongs to. */
  readonly change: string
  readonly kind: StepKind
  readonly project: string
  readonly branch: BranchName
  readonly compute: PlannedCompute
  readonly request: StepRequest
  readonly impact: Impact
  readonly unlessIdle?: Impact
  /** Consents that the step needs. */
  readonly consents: readonly Consent[]
  readonly refused?: string
  /** The step may interrupt an active compute, so it runs only while all of these are open. Absent: at any time. */
  readonly windows?: readonly RestartWindow[]
  readonly reason: Reason
  /** The rule behind the impact, with its source. */
  readonly rule: string
  readonly source?: Source
  /** Ids of steps that must be done first. */
  readonly after: readonly string[]
  /**
   * The ids in `after` that only prevent steps from running at the same time: restarts on one branch, or swaps that use
   * the same empty branch.
   */
  readonly inTurnAfter?: readonly string[]
  /** Operations that the request is expected to start, for the estimate. */
  readonly actions: readonly string[]
}

/** A live compute that no manifest declares. The plan does not change it. */
export interface UnmanagedCompute {
  readonly project: string
  readonly branch: BranchName
  readonly compute: PlannedCompute
  readonly size?: Size
  readonly disabled?: true
}

/** How long all steps of a project will take, estimated from the durations of its past operations. */
export interface Estimate {
  readonly project: string
  readonly medianMs: number
  readonly p95Ms: number
  /** Number of past operations that the estimate is based on. */
  readonly samples: number
}

export interface PlanSummary {
  /** Number of changes of each kind. */
  readonly create: number
  readonly update: number
  readonly move: number
  readonly replace: number
  readonly delete: number
  /** Number of computes that restart, including computes that also change in other ways. */
  readonly restarts: number
  readonly mayRestart: number
  readonly disconnects: number
  readonly refused: number
  readonly unmanaged: number
  /** Computes that manifests declare, changed or not. */
  readonly managed: number
  readonly capacity: { readonly before: CapacityTotal; readonly after: CapacityTotal }
  /** API calls of the steps, without the calls that wait for operations. */
  readonly calls: number
}

/** Total of all computes of the planned projects, including unmanaged ones. */
export interface CapacityTotal {
  readonly computes: number
  readonly minCu: number
  readonly maxCu: number
  readonly ramGb: number
  readonly maxConnections: number
}

/** A project that the plan leaves out because of errors. */
export interface LeftOutProject {
  readonly project: string
  /** At least one error. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Projects that are applied together, after those of the previous waves. */
export interface PlanWave {
  readonly name: string
  /** Ids, including those of projects that could not be planned. */
  readonly projects: readonly string[]
}

export interface Plan {
  readonly formatVersion: typeof PLAN_FORMAT_VERSION
  /** Ids of the planned projects, sorted. */
  readonly projects: readonly string[]
  /** Known names, by id. For display only: they do not affect what a plan does. */
  readonly projectNames?: Readonly<Record<string, string>>
  /** Sorted by project; absent if every project was planned. */
  readonly leftOut?: readonly LeftOutProject[]
  /** In the order in which they are applied. Projects in no wave come last. Absent if no manifest defines waves. */
  readonly waves?: readonly PlanWave[]
  /** Absent if the plan covers everything in the manifests. */
  readonly selection?: PlanSelection
  /** Sorted by project, then branch name, then primary before replicas. */
  readonly changes: readonly Change[]
  /** Sorted topologically by `after`. */
  readonly steps: readonly Step[]
  readonly unmanaged: readonly UnmanagedCompute[]
  readonly estimates: readonly Estimate[]
  readonly summary: PlanSummary
  /** Warnings about the planned projects. */
  readonly warnings: readonly Diagnostic[]
  /** Absent if nothing is skipped. */
  readonly skipped?: readonly SkippedChange[]
  /** Absent if no changed branch has an expiry date. */
  readonly expiring?: readonly ExpiringChange[]
  /** Absent in plans of older versions. Ignored when plans are compared. */
  readonly cost?: PlanCost
  /** Updates by the service to computes that the plan changes, in the order of the changes. Absent if there is none. */
  readonly maintenance?: readonly PlannedUpdate[]
  /** Results of the policies. Absent if there are none. */
  readonly policies?: PlanPolicies
}

/** A change that is skipped because its branch expires soon. It counts as done. */
export interface SkippedChange {
  /** Id of the skipped change. */
  readonly change: string
  readonly kind: ChangeKind
  readonly project: string
  readonly branch: BranchName
  readonly compute: PlannedCompute
  /** `preview/x expires in 40 min`. */
  readonly sentence: string
}

/** A change on a branch that expires. */
export interface ExpiringChange {
  readonly change: string
  readonly project: string
  /** ISO 8601. */
  readonly expiresAt: string
  /** `expires Sun 22 Nov 18:02 UTC (in 21 h)`. */
  readonly sentence: string
}

/** An update by the service that restarts, or may restart, a compute that the plan changes. */
export interface PlannedUpdate {
  readonly change: string
  readonly project: string
  /** ISO 8601. */
  readonly scheduledFor: string
  /** `this restart also applies the service update of Sun 22 Nov 02:00 UTC`. */
  readonly sentence: string
}

/**
 * If `ok` is false, some projects cannot be planned. `plan` then covers only the others, and names the projects that it
 * does not cover in `leftOut`. `diagnostics` has the errors and warnings about those projects, in file order.
 */
export type PlanResult =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly plan: Plan; readonly diagnostics: readonly Diagnostic[] }

export const isEmptyPlan = (plan: Plan): boolean => plan.steps.length === 0

export const leftOutIds = ({ leftOut = [] }: Pick<Plan, 'leftOut'>): readonly string[] =>
  leftOut.map(({ project }) => project)

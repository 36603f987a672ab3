/** The plan: what differs, and the ordered calls that make it equal. A plain value, the same bytes for the same input. */
import type { WireAttributes } from './attributes/index.ts'
import type { PlanCost } from './cost.ts'
import type { Diagnostic, Source } from './diagnostic.ts'
import type { Consent, Impact } from './impact.ts'
import type { ComputeType } from './observed.ts'
import type { PlanPolicies } from './policy.ts'
import type { Reason } from './reason.ts'
import type { RestartWindow } from './restart-window.ts'
import type { PlanSelection } from './selection.ts'
import type { Size } from './size.ts'

/** Major grows when a reader of the older form would misread the newer one. */
export const PLAN_FORMAT_VERSION = '2.0'

/** Also the order in which they are counted. */
export const CHANGE_KINDS = ['create', 'update', 'move', 'replace', 'delete'] as const

export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface BranchName {
  /** `br-…`. */
  readonly id: string
  readonly name: string
}

/** The compute that a change is about. `id`, `host` and `state` are absent if it is yet to be created. */
export interface PlannedCompute {
  readonly type: ComputeType
  /** The replica's key, or the compute's name if it has one. */
  readonly name?: string
  readonly id?: string
  readonly host?: string
  readonly state?: string
}

/** A size in CU, a scale to zero in seconds (0 default, −1 never), a flag, a text, or a list of libraries. */
export type AttributeValue = string | number | boolean | Size | readonly string[]

/** One attribute before and after: its value for programs, its text as in a manifest for people. No `before` on create. */
export interface AttributeChange {
  /** Manifest path; one entry of a map has its own: `postgres.settings.work_mem`. */
  readonly path: string
  readonly before?: AttributeValue
  readonly after: AttributeValue
  readonly beforeText?: string
  readonly afterText: string
  /** On this compute as it is now: `none` on an idle one. */
  readonly impact: Impact
  readonly reason: Reason
  readonly rule: string
  readonly source?: Source
}

/** What the size of a compute gives its users, before and after. `max_connections` and RAM (GB) at the upper limit. */
export interface Capacity {
  readonly size: Size
  readonly ramGb: number
  readonly maxConnections: number
}

/** Everything that differs for one compute. */
export interface Change {
  /** Stable: `PROJECT/BRANCH_ID/primary`, `PROJECT/BRANCH_ID/replica/KEY`, or for what no declaration claims `PROJECT/BRANCH_ID/COMPUTE_ID`. */
  readonly id: string
  readonly kind: ChangeKind
  readonly project: string
  /** Where the compute is to be (for a delete: where it is). */
  readonly branch: BranchName
  /** Where it is now; a move only. */
  readonly from?: BranchName
  readonly compute: PlannedCompute
  readonly attributes: readonly AttributeChange[]
  readonly impact: Impact
  /** The impact it would have were the compute not idle; absent if that is the same. */
  readonly unlessIdle?: Impact
  /** The first is the main one. */
  readonly reasons: readonly Reason[]
  /** Why it must not run whatever the flags: a sentence. */
  readonly refused?: string
  /** Those of its steps. */
  readonly windows?: readonly RestartWindow[]
  readonly before?: Capacity
  readonly after?: Capacity
  /** The declaration; absent for a prune. */
  readonly source?: Source
}

export type StepKind = 'create' | 'update' | 'move' | 'delete'

/** One call of the API, exactly as it will be sent. */
export interface StepRequest {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** Below the API's root: `/projects/…`. */
  readonly path: string
  readonly body?: { readonly endpoint: WireAttributes & { readonly branch_id?: string; readonly type?: ComputeType } }
}

export interface Step {
  /** `CHANGE_ID#1`, counted within its change. */
  readonly id: string
  /** The change that it carries out (part of). */
  readonly change: string
  readonly kind: StepKind
  readonly project: string
  readonly branch: BranchName
  readonly compute: PlannedCompute
  readonly request: StepRequest
  readonly impact: Impact
  readonly unlessIdle?: Impact
  /** What a plain yes does not cover. */
  readonly consents: readonly Consent[]
  readonly refused?: string
  /** It interrupts, or would if its compute were active, and waits until all of these are open; absent: any time. */
  readonly windows?: readonly RestartWindow[]
  readonly reason: Reason
  /** The rule behind the impact: a section of the spec or a public page. */
  readonly rule: string
  readonly source?: Source
  /** Ids of the steps that must be done before this one. */
  readonly after: readonly string[]
  /** Those of `after` that are there only so that one comes after the other: restarts of a branch, swaps over one empty branch. */
  readonly inTurnAfter?: readonly string[]
  /** Operation actions this call is expected to start, for the estimate. */
  readonly actions: readonly string[]
}

/** Live, claimed by no declaration, and left alone. */
export interface UnmanagedCompute {
  readonly project: string
  readonly branch: BranchName
  readonly compute: PlannedCompute
  readonly size?: Size
}

/** How long the steps took in this project before, summed along the longest chain that the project's lock allows. */
export interface Estimate {
  readonly project: string
  readonly medianMs: number
  readonly p95Ms: number
  /** Past operations that the figures rest on. */
  readonly samples: number
}

export interface PlanSummary {
  /** Changes by kind; together all of them. */
  readonly create: number
  readonly update: number
  readonly move: number
  readonly replace: number
  readonly delete: number
  /** Computes that restart, whatever else happens to them. */
  readonly restarts: number
  readonly mayRestart: number
  readonly disconnects: number
  readonly refused: number
  readonly unmanaged: number
  /** Computes that declarations claim, changed or not. */
  readonly managed: number
  readonly capacity: { readonly before: CapacityTotal; readonly after: CapacityTotal }
  /** API calls that the steps are (waiting not counted). */
  readonly calls: number
}

/** Over all computes of the planned projects, unmanaged ones included. */
export interface CapacityTotal {
  readonly computes: number
  readonly minCu: number
  readonly maxCu: number
  readonly ramGb: number
  readonly maxConnections: number
}

/** A project of the manifests that the plan does not cover, and why. */
export interface LeftOutProject {
  readonly project: string
  /** At least one error. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Projects that are applied together, once those of the waves before are done. */
export interface PlanWave {
  readonly name: string
  /** Ids, those of projects that could not be planned included. */
  readonly projects: readonly string[]
}

export interface Plan {
  readonly formatVersion: typeof PLAN_FORMAT_VERSION
  /** Ids of the planned projects, sorted. */
  readonly projects: readonly string[]
  /** Names by id, of those that are known. For people only: they make no difference to what a plan does. */
  readonly projectNames?: Readonly<Record<string, string>>
  /** Sorted by project; absent if every project was planned. */
  readonly leftOut?: readonly LeftOutProject[]
  /** In the order in which they are applied; projects that are in none come last. Absent if no manifest has any. */
  readonly waves?: readonly PlanWave[]
  /** Absent if everything that the manifests ask for is planned. */
  readonly selection?: PlanSelection
  /** Sorted by project, then branch name, then primary before replicas. */
  readonly changes: readonly Change[]
  /** One topological order of the graph that `after` draws. */
  readonly steps: readonly Step[]
  readonly unmanaged: readonly UnmanagedCompute[]
  readonly estimates: readonly Estimate[]
  readonly summary: PlanSummary
  /** Warnings of the planned projects. */
  readonly warnings: readonly Diagnostic[]
  /** Absent if nothing is skipped. */
  readonly skipped?: readonly SkippedChange[]
  /** Absent if every branch with changes stays. */
  readonly expiring?: readonly ExpiringChange[]
  /** Absent from a plan of an older version. For people and policies: no comparison of plans counts it. */
  readonly cost?: PlanCost
  /** Service updates that fall together with changes, sorted as those are; absent if there are none. */
  readonly maintenance?: readonly PlannedUpdate[]
  /** What policies say of the plan; absent without any. */
  readonly policies?: PlanPolicies
}

/** A change that is not made because its branch is about to be deleted. It counts as done. */
export interface SkippedChange {
  /** The id that the change would have. */
  readonly change: string
  readonly kind: ChangeKind
  readonly project: string
  readonly branch: BranchName
  readonly compute: PlannedCompute
  /** `preview/x expires in 40 min`. */
  readonly sentence: string
}

/** A change on a branch that will be deleted. */
export interface ExpiringChange {
  readonly change: string
  readonly project: string
  /** ISO 8601. */
  readonly expiresAt: string
  /** `expires Sun 22 Nov 18:02 UTC (in 21 h)`. */
  readonly sentence: string
}

/** A service update that restarts, or may restart, the compute of a change. */
export interface PlannedUpdate {
  readonly change: string
  readonly project: string
  /** ISO 8601. */
  readonly scheduledFor: string
  /** `this restart takes the service update of Sun 22 Nov 02:00 UTC`. */
  readonly sentence: string
}

/**
 * `ok: false`: some projects cannot be planned. `plan` then covers the others and lists these in `leftOut`; `diagnostics`
 * holds the errors and warnings of the projects left out, in the order of the files.
 */
export type PlanResult =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly plan: Plan; readonly diagnostics: readonly Diagnostic[] }

export const isEmptyPlan = (plan: Plan): boolean => plan.steps.length === 0

export const leftOutIds = ({ leftOut = [] }: Pick<Plan, 'leftOut'>): readonly string[] =>
  leftOut.map(({ project }) => project)

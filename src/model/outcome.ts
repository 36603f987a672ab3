/** The result of applying a plan, and the events reported along the way. */
import type { Plan, Step } from './plan.ts'
import type { RestartWindow } from './restart-window.ts'

/**
 * `stale`: what the step changes or relies on was changed by somebody else after the plan was made, so nothing was sent.
 * `scheduled`: it waits for its restart window, and runs when one applies again in it.
 */
export const STEP_STATUSES = ['done', 'failed', 'stale', 'skipped', 'not-allowed', 'scheduled'] as const

export type StepStatus = (typeof STEP_STATUSES)[number]

/** Why a step did not end well. */
export const FAILURE_REASONS = [
  'apply-failed',
  'operation-failed',
  'operation-timeout',
  'not-effective',
  'project-busy',
  'rate-limited',
  'auth',
  'changed-meanwhile',
  'depends-on-failed',
  'too-many-failures',
  'not-consented',
  'protected',
  'outside-window',
  'interrupted',
] as const

export type FailureReason = (typeof FAILURE_REASONS)[number]

export interface OperationProgress {
  readonly id: string
  readonly action: string
  /** As the API words it; unknown words are passed through. */
  readonly status: string
  readonly failuresCount: number
}

/** Something a step changes or relies on that is no longer as the plan has it. */
export interface Moved {
  /** A manifest path such as `size`, or `branch`, `name`, `primary`, `replica`, `compute`. */
  readonly what: string
  /** In the snapshot that the plan was made from. */
  readonly before: string
  readonly after: string
}

export interface StepOutcome {
  readonly step: string
  readonly status: StepStatus
  readonly reason?: FailureReason
  /** What happened and what to run next: a sentence or two. */
  readonly message?: string
  /** Of the answer that refused it. */
  readonly httpStatus?: number
  readonly operations: readonly OperationProgress[]
  /** The compute that the step made or changed. */
  readonly computeId?: string
  /** Why it is stale. */
  readonly moved?: readonly Moved[]
  /** The latest operation of somebody else on the same compute, which probably is what moved it. */
  readonly movedBy?: OperationProgress
  /** When a scheduled step may run, ISO 8601; absent if its windows never meet. */
  readonly opensAt?: string
  readonly durationMs: number
}

export interface Outcome {
  /** In the plan's order, every step. */
  readonly steps: readonly StepOutcome[]
  readonly interrupted: boolean
  /** Whether a plan made afterwards was empty; absent if none was made. */
  readonly converged?: boolean
  /** Where it has not converged: what is left to do, or why no plan could be made; a line each. */
  readonly left?: readonly string[]
  /** What a person must edit now, for example a pin whose compute was replaced. */
  readonly notes: readonly string[]
}

/** One object a line in `--format json` and in the journal. `time` is ISO 8601. */
export type ApplyEvent = { readonly time: string } & (
  | { readonly type: 'version'; readonly espalier: string; readonly format: string }
  | { readonly type: 'plan'; readonly plan: Plan }
  /** Somebody allowed what a policy denies, before any step ran. */
  | {
      readonly type: 'policy-overridden'
      readonly policy: string
      readonly project: string
      readonly reason: string
      readonly by: string
      /** What it denies, without full stops. */
      readonly violations: readonly string[]
    }
  /** `--now`: the step that starts next is outside of its windows. */
  | { readonly type: 'window-overridden'; readonly step: string; readonly windows: readonly RestartWindow[] }
  | { readonly type: 'step-start'; readonly step: Step }
  | {
      readonly type: 'call'
      readonly step: string
      readonly method: string
      readonly path: string
      readonly attempt: number
    }
  | {
      readonly type: 'wait'
      readonly step: string
      readonly why: 'locked' | 'rate-limited' | 'unavailable' | 'reading-back'
      readonly message: string
      readonly delayMs: number
    }
  | { readonly type: 'operation'; readonly step: string; readonly operation: OperationProgress }
  | { readonly type: 'step-end'; readonly outcome: StepOutcome }
  | { readonly type: 'interrupt'; readonly message: string }
  | { readonly type: 'outcome'; readonly outcome: Outcome }
)

/** Whether nothing is left but to wait for restart windows. */
export const isScheduled = ({ steps }: Outcome): boolean =>
  steps.some(({ status }) => status === 'scheduled') &&
  steps.every(({ status }) => status === 'done' || status === 'scheduled')

export const isAllDone = (outcome: Outcome): boolean => outcome.steps.every(({ status }) => status === 'done')

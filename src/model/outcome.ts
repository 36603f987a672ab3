/** The result of applying a plan, and the events that are reported while it is applied. */
import { EXIT, type ExitCode } from '../base/index.ts'
import type { Impact } from './impact.ts'
import { leftOutIds, type Plan, type Step } from './plan.ts'
import type { RestartWindow } from './restart-window.ts'
import type { Repair } from './settlement.ts'

/**
 * `stale`: something that the step relies on was changed after the plan was made, so nothing was sent, or the request was
 * rejected.
 * `scheduled`: the step's restart window is closed. An `apply` that runs while the window is open will run the step.
 */
export const STEP_STATUSES = ['done', 'failed', 'stale', 'skipped', 'not-allowed', 'scheduled'] as const

export type StepStatus = (typeof STEP_STATUSES)[number]

/** Why a step was not done. */
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
  'refused',
  'outside-window',
  'interrupted',
] as const

export type FailureReason = (typeof FAILURE_REASONS)[number]

/**
 * What happened to the connections of a compute while a step changed it. `restarted` and `suspended` are caused by the
 * step. `no-restart-seen` does not say that there was none, because a service may restart Postgres unseen.
 */
export const OBSERVED_EFFECTS = [
  'restarted',
  'restarted-cause-unknown',
  'suspended',
  'suspended-by-itself',
  'woke',
  'was-idle',
  'no-restart-seen',
  'unknown',
] as const

export type ObservedEffect = (typeof OBSERVED_EFFECTS)[number]

export interface Observation {
  /** The impact that was predicted right before the request was sent. */
  readonly predicted: Impact
  readonly observed: ObservedEffect
  /** When the compute restarted or was suspended: a time of the service, ISO 8601. */
  readonly at?: string
}

/** Whether a step interrupted users, although the prediction was that it interrupts no one. */
export const isUnpredicted = ({ predicted, observed }: Observation): boolean =>
  predicted === 'none' && (observed === 'restarted' || observed === 'suspended')

const OBSERVED_WORDS: Readonly<Record<ObservedEffect, string>> = {
  restarted: 'restarted',
  'restarted-cause-unknown': 'restarted, cause unknown',
  suspended: 'was suspended',
  'suspended-by-itself': 'suspended by itself',
  woke: 'woke',
  'was-idle': 'was idle',
  'no-restart-seen': 'no restart seen',
  unknown: 'effect on connections unknown',
}

/** `restarted at 2026-03-01 12:00:00 UTC` */
export const observedWords = ({ observed, at }: Observation): string => {
  const when = at === undefined ? '' : ` at ${at.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')}`
  return `${OBSERVED_WORDS[observed]}${when}`
}

export interface OperationProgress {
  readonly id: string
  readonly action: string
  /** The status that the API reported. Unknown values are passed through. */
  readonly status: string
  readonly failuresCount: number
}

/** Something that a step relies on and that changed after the plan was made. */
export interface Moved {
  /** A manifest path such as `size`, or `branch`, `name`, `primary`, `replica`, `compute`. */
  readonly what: string
  /** The value in the snapshot that the plan is based on. */
  readonly before: string
  readonly after: string
}

export interface StepOutcome {
  readonly step: string
  readonly status: StepStatus
  readonly reason?: FailureReason
  /** What happened and what to do next: one or two sentences. */
  readonly message?: string
  /** HTTP status of the response, if the service rejected the request. */
  readonly httpStatus?: number
  readonly operations: readonly OperationProgress[]
  /** The compute that the step created or changed. */
  readonly computeId?: string
  /** The `espalier compute` command that settles the compute, if the step's operation failed and this is needed. */
  readonly repair?: Repair
  /** Absent if no request was sent, and for a create, because nobody is connected yet. */
  readonly observation?: Observation
  /** If the step is stale, what changed. */
  readonly moved?: readonly Moved[]
  /** The latest operation on the same compute that this run did not start. It probably caused the change. */
  readonly movedBy?: OperationProgress
  /** When a scheduled step may run, ISO 8601. Absent if its windows never overlap. */
  readonly opensAt?: string
  readonly durationMs: number
}

export interface Outcome {
  /** All steps, in the plan's order. */
  readonly steps: readonly StepOutcome[]
  readonly interrupted: boolean
  /** Whether a plan made afterwards was empty. Absent if none was made. */
  readonly converged?: boolean
  /** If not converged, what is left to do or why no plan could be made. Each entry is one line. */
  readonly left?: readonly string[]
  /** What the user should know or do, for example that a branch has no primary, or that a pin is out of date. */
  readonly notes: readonly string[]
}

/** One object per line in `--format json` and in the journal. `time` is ISO 8601. */
export type ApplyEvent = { readonly time: string } & (
  | { readonly type: 'version'; readonly espalier: string; readonly format: string }
  | { readonly type: 'plan'; readonly plan: Plan }
  /** A policy violation was overridden before any step ran. */
  | {
      readonly type: 'policy-overridden'
      readonly policy: string
      /** Absent if the policy limits the whole plan. */
      readonly project?: string
      readonly reason: string
      readonly by: string
      /** What the policy denies. The entries have no full stop. */
      readonly violations: readonly string[]
    }
  /** With `--now`, the next step starts although its windows are closed. */
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
  /** The step interrupted users, although the prediction was that it interrupts no one. */
  | { readonly type: 'unpredicted'; readonly step: string; readonly observation: Observation }
  | { readonly type: 'step-end'; readonly outcome: StepOutcome }
  | { readonly type: 'interrupt'; readonly message: string }
  | { readonly type: 'outcome'; readonly outcome: Outcome }
)

/** Whether all remaining steps only wait for restart windows. */
export const isScheduled = ({ steps }: Outcome): boolean =>
  steps.some(({ status }) => status === 'scheduled') &&
  steps.every(({ status }) => status === 'done' || status === 'scheduled')

export const isAllDone = (outcome: Outcome): boolean => outcome.steps.every(({ status }) => status === 'done')

/**
 * Returns the exit code of a run: 0 if all steps are done and the projects have converged, 1 if nothing was changed
 * because everything was refused, 5 if the remaining steps wait for restart windows, 130 if the run was interrupted, and
 * 3 otherwise, for example if a project was left out.
 */
export const exitCodeOf = (outcome: Outcome, plan: Pick<Plan, 'leftOut'> = {}): ExitCode => {
  if (outcome.interrupted) return EXIT.interrupted
  if (leftOutIds(plan).length > 0) return EXIT.partial
  if (isRefused(outcome)) return EXIT.error
  if (outcome.converged === false) return EXIT.partial
  if (isScheduled(outcome)) return EXIT.scheduled
  return isAllDone(outcome) ? EXIT.ok : EXIT.partial
}

const isRefused = ({ steps }: Outcome): boolean =>
  steps.some(({ reason }) => reason === 'refused') &&
  steps.every(({ reason }) => reason === 'refused' || reason === 'depends-on-failed')

/**
 * The table that decides how projects, differences and steps are treated. The first row that matches applies. Decided
 * elsewhere: whether manifests are invalid (`usableOf` in round/read.ts), their history (`of` in
 * source/desired-state.ts), `Unreachable` and `KeyRefused`
 * (`afterFailedRead` in retries.ts), `PlanError` (round/decide.ts), `RestartLimit` (`heldRound` in round.ts), other
 * `Failing` (`concluded` in tell/view.ts, and `showError` in project.ts for an unexpected error), the states of
 * undeclared projects (`#finishUndeclared` in project.ts), and `Progressing` and `Unknown` while nothing is concluded
 * (project.ts). Of several states, `worstOf` in round.ts shows one.
 */
import type {
  AgentReason,
  AgentState,
  AgentStatus,
  ChangeKind,
  Consent,
  DifferenceOrigin,
  Impact,
  Step,
} from '../../model/index.ts'
import { openingFor } from '../../model/window-opening.ts'

export interface AgentPolicy {
  readonly onGit: 'apply' | 'report'
  readonly onDrift: 'report' | 'revert'
  readonly allow: ReadonlySet<Consent>
}

/** What may stop the whole project. */
export interface Stops {
  readonly isSuspended: boolean
  /** Whether the manifests cannot be used. Then the differences are those from the last ones that could. */
  readonly isInvalid: boolean
  readonly history: 'known' | 'rewritten' | 'stale'
}

/** The state of the project in this round. */
export interface Situation extends Stops {
  readonly policy: AgentPolicy
}

/** A difference from the declaration, in one attribute or in the whole compute. */
export interface Difference {
  readonly origin: DifferenceOrigin
  readonly kind: ChangeKind
  /** The impact that the change would have if the compute were active. */
  readonly impact: Impact
  readonly hasWindow: boolean
  /** Whether the service has permanently rejected this change from the same live value. */
  readonly wasRefused: boolean
  /** Whether it was seen in two refreshes with a fetch in between, while no compute was changing. */
  readonly isConfirmed: boolean
  /** How often this drift was reverted in the last 7 days. */
  readonly reverts: number
}

export interface Verdict extends AgentStatus {
  /** `plan` keeps it in the plan, and `hold` treats it as unmanaged. `none` applies nothing in the whole project. */
  readonly action: 'plan' | 'hold' | 'none'
  /** The row that matched. Absent for `plan`. */
  readonly row?: number
}

const MAX_REVERTS = 3

const stop = (row: number, state: AgentState, reason?: AgentReason): Verdict => ({ row, action: 'none', state, reason })

const hold = (row: number, state: AgentState, reason: AgentReason): Verdict => ({ row, action: 'hold', state, reason })

const isDrift = ({ origin }: Difference): boolean => origin === 'drift'

/** Whether reverting this drift could do more harm than the drift itself. */
const isUnsafe = ({ kind, impact, hasWindow }: Difference): boolean =>
  (kind !== 'update' && kind !== 'create') ||
  impact === 'disconnect' ||
  ((impact === 'restart' || impact === 'may-restart') && !hasWindow)

type Matches = (difference: Difference, policy: AgentPolicy) => boolean

/** The rows for the whole project. */
const STOPS: readonly (readonly [(stops: Stops) => boolean, Verdict])[] = [
  [({ isSuspended }) => isSuspended, stop(1, 'Suspended')],
  [({ isInvalid }) => isInvalid, stop(2, 'Invalid')],
  [({ history }) => history === 'rewritten', stop(3, 'Blocked', 'HistoryRewritten')],
  [({ history }) => history === 'stale', stop(3, 'Blocked', 'GitStale')],
]

/** The rows for a difference. */
const ROWS: readonly (readonly [Matches, Verdict])[] = [
  [({ wasRefused }) => wasRefused, hold(4, 'Blocked', 'Refused')],
  [({ origin }, policy) => origin === 'introduced' && policy.onGit === 'report', hold(5, 'OutOfSync', 'Reported')],
  [({ origin }) => origin === 'unrecorded', hold(5, 'OutOfSync', 'Unrecorded')],
  [(difference) => isDrift(difference) && !difference.isConfirmed, hold(6, 'OutOfSync', 'DriftUnconfirmed')],
  [(difference, policy) => isDrift(difference) && policy.onDrift === 'report', hold(7, 'OutOfSync', 'Drift')],
  [(difference) => isDrift(difference) && isUnsafe(difference), hold(8, 'OutOfSync', 'DriftUnsafe')],
  [(difference) => isDrift(difference) && difference.reverts >= MAX_REVERTS, hold(9, 'Blocked', 'Conflict')],
]

/** Applies rows 1 to 3, which stop the project even if it has no differences. */
export const stopOf = (stops: Stops): Verdict | undefined => STOPS.find(([matches]) => matches(stops))?.[1]

/** Applies rows 1 to 9. */
export const decideDifference = (difference: Difference, situation: Situation): Verdict =>
  stopOf(situation) ??
  ROWS.find(([matches]) => matches(difference, situation.policy))?.[1] ?? { action: 'plan', state: 'Progressing' }

export interface StepVerdict extends AgentStatus {
  readonly row: number
  readonly action: 'run' | 'skip' | 'wait'
  /** When the step's window opens, in ISO 8601. */
  readonly opensAt?: string
}

export interface StepContext {
  readonly policy: AgentPolicy
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Whether a policy denies the plan. */
  readonly isDenied: boolean
  /** Whether a project in an earlier wave is not complete. */
  readonly isWaveHeld: boolean
  /** Whether the number of attempts on the step's compute in the last 24 hours is below the limit. */
  readonly mayInterrupt: (step: Step) => boolean
  /** How long a chain takes that begins with the step, in milliseconds. It is begun only if that fits into its window. */
  readonly chainMs: (step: Step) => number
}

/** Row 18, for all steps that would run together. */
export const LIMITED: StepVerdict = { row: 18, action: 'wait', state: 'Scheduled', reason: 'RestartLimit' }

/** Applies rows 10 to 17 to the steps of a plan, in order. A step inherits the verdict of a step that it depends on. */
export const decideSteps = (steps: readonly Step[], context: StepContext): ReadonlyMap<string, StepVerdict> => {
  const verdicts = new Map<string, StepVerdict>()
  for (const step of steps) {
    const needed = step.after.filter((id) => step.inTurnAfter?.includes(id) !== true).map((id) => verdicts.get(id))
    const stopped = needed.find((verdict) => verdict !== undefined && verdict.action !== 'run')
    const own = decideStep(step, context)
    verdicts.set(step.id, own.action === 'skip' ? own : (stopped ?? own))
  }
  return verdicts
}

const decideStep = (step: Step, context: StepContext): StepVerdict => {
  const { policy, now, isDenied, isWaveHeld, mayInterrupt, chainMs } = context
  const run = (row: number): StepVerdict => ({ row, action: 'run', state: 'Progressing' })
  const skip = (row: number, reason: AgentReason): StepVerdict => ({ row, action: 'skip', state: 'Blocked', reason })
  const { windows = [] } = step
  if (isDenied) return skip(10, 'Policy')
  if (step.refused !== undefined) return skip(10, 'Protected')
  if (step.consents.some((consent) => !policy.allow.has(consent))) return skip(10, 'NotAllowed')
  if (isWaveHeld) return { row: 11, action: 'wait', state: 'Scheduled', reason: 'Wave' }
  if (step.impact === 'none') return run(12)
  if (!mayInterrupt(step)) return skip(13, 'TooManyRestarts')
  if (windows.length === 0) return run(14)
  const { isOpen, opensAt } = openingFor(windows, now, chainMs(step))
  if (isOpen) return run(15)
  if (opensAt === undefined) return skip(16, 'NoCommonWindow')
  return { row: 17, action: 'wait', state: 'Scheduled', opensAt }
}

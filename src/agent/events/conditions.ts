/** Decides when a condition is raised and when it is resolved. */
import { createHash } from 'node:crypto'
import { AGENT_STATES, type AgentReason, type AgentState, type AgentStatus } from '../../model/index.ts'
import type { AgentEvent, Condition, EventType, Kept } from './kept.ts'

/** A condition that clears sooner than this is not reported. */
const RAISED_AFTER_MS = 60_000
const RESOLVED_AFTER_ROUNDS = 2

const RAISED_AS: Readonly<Partial<Record<AgentState, EventType>>> = {
  Invalid: 'invalid',
  Failing: 'failing',
  Blocked: 'blocked',
  OutOfSync: 'out-of-sync',
}

/** Conditions that are reported once for the account or the repository, and not for each project. */
export const ACCOUNT_REASONS: readonly AgentReason[] = ['Unreachable', 'KeyRefused']
export const REPOSITORY_REASONS: readonly AgentReason[] = ['GitStale']

/** Conditions that are not reported. Whether an unconfirmed difference is drift shows only at the next refresh. */
const NEVER_RAISED: readonly AgentReason[] = ['DriftUnconfirmed']

const isRaisable = ({ state, reason }: AgentStatus): boolean =>
  RAISED_AS[state] !== undefined && (reason === undefined || !NEVER_RAISED.includes(reason))

interface Observation {
  readonly subject: string
  /** The current conditions. */
  readonly statuses: readonly AgentStatus[]
  /** Whether a condition that was raised may still hold although a worse one hides it. By default, it never does. */
  readonly isHidden?: (condition: AgentStatus) => boolean
  /** The data of the event in addition to the state and the reason. */
  readonly about: (condition: AgentStatus) => Readonly<Record<string, unknown>>
}

/**
 * Updates the conditions. Their keys contain no numbers, times or messages, so that a condition that persists is raised
 * only once.
 *
 * @param isRound whether a round has ended. Only a round can resolve a condition.
 */
export const observeConditions = (kept: Kept, observation: Observation, now: number, isRound: boolean): Kept => {
  const holding = new Map(observation.statuses.filter(isRaisable).map((status) => [keyOf(status), status]))
  const conditions: Record<string, Condition> = {}
  const events: AgentEvent[] = []
  for (const key of new Set([...Object.keys(kept.conditions), ...holding.keys()])) {
    const before = kept.conditions[key] ?? { since: now, goodRounds: 0 }
    const status = holding.get(key)
    if (status !== undefined) {
      const raise = before.raisedBy === undefined && now - before.since >= RAISED_AFTER_MS
      const event = raise ? raised(observation, status, before.since, now) : undefined
      conditions[key] = { ...before, goodRounds: 0, raisedBy: event?.id ?? before.raisedBy }
      if (event !== undefined) events.push(event)
      continue
    }
    if (before.raisedBy === undefined) continue
    const condition = statusOf(key)
    const goodRounds = before.goodRounds + (isRound && observation.isHidden?.(condition) !== true ? 1 : 0)
    if (goodRounds < RESOLVED_AFTER_ROUNDS) conditions[key] = { ...before, goodRounds }
    else events.push(resolved(observation, condition, before, now))
  }
  return { ...kept, conditions, pending: [...kept.pending, ...events] }
}

/** When the next pending condition is due to be raised, or `undefined` if none is pending. */
export const nextRaise = ({ conditions }: Kept): number | undefined => {
  const waiting = Object.values(conditions).filter(({ raisedBy }) => raisedBy === undefined)
  return waiting.length === 0 ? undefined : Math.min(...waiting.map(({ since }) => since)) + RAISED_AFTER_MS
}

export const eventOf = (
  subject: string,
  type: EventType,
  now: number,
  data: Readonly<Record<string, unknown>>,
): AgentEvent => ({
  id: `evt_${createHash('sha256')
    .update(JSON.stringify([subject, type, now, data.state, data.reason]))
    .digest('base64url')
    .slice(0, 27)}`,
  type,
  at: now,
  data,
})

const raised = ({ subject, about }: Observation, status: AgentStatus, since: number, now: number): AgentEvent =>
  eventOf(subject, RAISED_AS[status.state] ?? 'blocked', now, {
    ...status,
    since: new Date(since).toISOString(),
    ...about(status),
  })

const resolved = (
  { subject }: Observation,
  status: AgentStatus,
  { since, raisedBy }: Condition,
  now: number,
): AgentEvent =>
  eventOf(subject, 'resolved', now, { ...status, since: new Date(since).toISOString(), resolves: raisedBy })

const keyOf = ({ state, reason }: AgentStatus): string => (reason === undefined ? state : `${state}/${reason}`)

const statusOf = (key: string): AgentStatus => {
  const [state, reason] = key.split('/')
  return {
    state: AGENT_STATES.find((one) => one === state) ?? 'Unknown',
    reason: reason as AgentReason | undefined,
  }
}

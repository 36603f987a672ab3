/** When a state is raised, and when it is resolved. */
import { createHash } from 'node:crypto'
import { type Reason, STATES, type State, type Status } from '../state.ts'
import type { AgentEvent, Condition, EventType, Kept } from './kept.ts'

/** What passes sooner is not worth waking anybody. */
const RAISED_AFTER_MS = 60_000
const RESOLVED_AFTER_ROUNDS = 2

const RAISED_AS: Readonly<Partial<Record<State, EventType>>> = {
  Invalid: 'invalid',
  Failing: 'failing',
  Blocked: 'blocked',
  OutOfSync: 'out-of-sync',
}

/** Of the account and of the repository: one event for it, not one for each project. */
export const ACCOUNT_REASONS: readonly Reason[] = ['Unreachable', 'KeyRefused']
export const REPOSITORY_REASONS: readonly Reason[] = ['GitStale']

/** The next refresh says whether it is drift. */
const NEVER_RAISED: readonly Reason[] = ['DriftUnconfirmed']

export const isRaisable = ({ state, reason }: Status): boolean =>
  RAISED_AS[state] !== undefined && (reason === undefined || !NEVER_RAISED.includes(reason))

export interface Observation {
  readonly subject: string
  /** What holds now. */
  readonly statuses: readonly Status[]
  /** Whether this is not known of a condition that was raised before, because a worse one hides it. */
  readonly isHidden: (condition: Status) => boolean
  /** What is reported about a condition in addition to its state and reason. */
  readonly about: (condition: Status) => Readonly<Record<string, unknown>>
}

/**
 * A key holds no numbers, times or texts, so that a condition that persists is not raised again.
 *
 * @param isRound whether a round ended, as opposed to time that passed: only rounds show that a condition is over.
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
      conditions[key] = { ...before, goodRounds: 0, ...(event === undefined ? {} : { raisedBy: event.id }) }
      if (event !== undefined) events.push(event)
      continue
    }
    if (before.raisedBy === undefined) continue
    const condition = statusOf(key)
    const goodRounds = before.goodRounds + (isRound && !observation.isHidden(condition) ? 1 : 0)
    if (goodRounds < RESOLVED_AFTER_ROUNDS) conditions[key] = { ...before, goodRounds }
    else events.push(resolved(observation, condition, before, now))
  }
  return { ...kept, conditions, pending: [...kept.pending, ...events] }
}

/** When a condition has lasted long enough; `undefined` if none waits for that. */
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

const raised = ({ subject, about }: Observation, status: Status, since: number, now: number): AgentEvent =>
  eventOf(subject, RAISED_AS[status.state] ?? 'blocked', now, {
    ...status,
    since: new Date(since).toISOString(),
    ...about(status),
  })

const resolved = ({ subject }: Observation, status: Status, { since, raisedBy }: Condition, now: number): AgentEvent =>
  eventOf(subject, 'resolved', now, { ...status, since: new Date(since).toISOString(), resolves: raisedBy })

const keyOf = ({ state, reason }: Status): string => (reason === undefined ? state : `${state}/${reason}`)

const statusOf = (key: string): Status => {
  const [state, reason] = key.split('/')
  return {
    state: STATES.find((one) => one === state) ?? 'Unknown',
    ...(reason === undefined ? {} : { reason: reason as Reason }),
  }
}

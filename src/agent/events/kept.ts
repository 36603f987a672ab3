/** Persistent event state of a subject: conditions raised, and events not yet delivered. */
import { z } from 'zod'

export const EVENT_TYPES = [
  'out-of-sync',
  'blocked',
  'failing',
  'invalid',
  'window.missed',
  'applied',
  'suspended',
  'resumed',
  'removed',
  'resolved',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

const EVENT = z.object({
  /** Stays the same across redeliveries. */
  id: z.string(),
  type: z.enum(EVENT_TYPES),
  /** Milliseconds since the epoch. */
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
})

export type AgentEvent = z.infer<typeof EVENT>

/** When a condition began, and whether it was raised. Its key contains the state and the reason. */
const CONDITION = z.object({
  since: z.number(),
  /** Id of the event that raised it. */
  raisedBy: z.string().optional(),
  /** Consecutive rounds in which it did not hold. */
  goodRounds: z.number(),
})

const KEPT = z.object({
  conditions: z.record(z.string(), CONDITION),
  isSuspended: z.boolean(),
  lastApply: z.string().optional(),
  missedWindow: z.string().optional(),
  isRemoved: z.boolean(),
  pending: z.array(EVENT),
})

export type Condition = z.infer<typeof CONDITION>
export type Kept = z.infer<typeof KEPT>

const NOTHING_KEPT: Kept = {
  conditions: {},
  isSuspended: false,
  isRemoved: false,
  pending: [],
}

/** A cache, because every project's state is checked every few seconds and rarely changes. */
const parsed = new WeakMap<object, Kept>()

/** Unreadable state is treated as empty; at worst, an event is sent twice. */
export const keptOf = (json: unknown): Kept => {
  if (typeof json !== 'object' || json === null) return NOTHING_KEPT
  const known = parsed.get(json)
  if (known !== undefined) return known
  const kept = KEPT.safeParse(json).data ?? NOTHING_KEPT
  parsed.set(json, kept)
  return kept
}

export const pendingOf = (json: unknown): readonly AgentEvent[] => keptOf(json).pending

/** Removes an event that was delivered or expired. `undefined`: nothing is left to keep. */
export const withoutEvent = (json: unknown, id: string): Kept | undefined => {
  const kept = keptOf(json)
  const pending = kept.pending.filter((event) => event.id !== id)
  return kept.isRemoved && pending.length === 0 ? undefined : { ...kept, pending }
}

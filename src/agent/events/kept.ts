/** The persisted event state of a subject. It holds the conditions and the events that were not delivered yet. */
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
  /** The same in every attempt to deliver the event. */
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
  /** The id of the event that raised the condition. */
  raisedBy: z.string().optional(),
  /** The number of consecutive rounds in which the condition did not hold. */
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

/** A cache of parsed states, because the state of every project is checked every few seconds but rarely changes. */
const parsed = new WeakMap<object, Kept>()

/** Parses a state. If it is invalid, it is treated as empty, and at worst an event is sent twice. */
export const keptOf = (json: unknown): Kept => {
  if (typeof json !== 'object' || json === null) return NOTHING_KEPT
  const known = parsed.get(json)
  if (known !== undefined) return known
  const kept = KEPT.safeParse(json).data ?? NOTHING_KEPT
  parsed.set(json, kept)
  return kept
}

export const pendingOf = (json: unknown): readonly AgentEvent[] => keptOf(json).pending

/** Removes an event that was delivered or has expired. Returns `undefined` if nothing is left to keep. */
export const withoutEvent = (json: unknown, id: string): Kept | undefined => {
  const kept = keptOf(json)
  const pending = kept.pending.filter((event) => event.id !== id)
  return kept.isRemoved && pending.length === 0 ? undefined : { ...kept, pending }
}

/** What is kept of a subject between rounds: what was raised, and what is still to be delivered. */
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
  /** The same however often it is sent. */
  id: z.string(),
  type: z.enum(EVENT_TYPES),
  /** Milliseconds since the epoch. */
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
})

export type AgentEvent = z.infer<typeof EVENT>

/** A state and its reason, from when on it holds. */
const CONDITION = z.object({
  since: z.number(),
  /** Of the event that raised it. */
  raisedBy: z.string().optional(),
  /** Rounds in a row in which it did not hold. */
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

export const NOTHING_KEPT: Kept = {
  conditions: {},
  isSuspended: false,
  isRemoved: false,
  pending: [],
}

/** Every project's is looked at every few seconds, and hardly ever changes. */
const parsed = new WeakMap<object, Kept>()

/** What cannot be read counts as nothing: the worst that follows is an event that was sent before. */
export const keptOf = (json: unknown): Kept => {
  if (typeof json !== 'object' || json === null) return NOTHING_KEPT
  const known = parsed.get(json)
  if (known !== undefined) return known
  const kept = KEPT.safeParse(json).data ?? NOTHING_KEPT
  parsed.set(json, kept)
  return kept
}

export const pendingOf = (json: unknown): readonly AgentEvent[] => keptOf(json).pending

/** Once the event is delivered, or too old. `undefined`: nothing is left to keep. */
export const withoutEvent = (json: unknown, id: string): Kept | undefined => {
  const kept = keptOf(json)
  const pending = kept.pending.filter((event) => event.id !== id)
  return kept.isRemoved && pending.length === 0 ? undefined : { ...kept, pending }
}

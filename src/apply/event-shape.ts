/** Zod schemas for the events of an apply. */
import { z } from 'zod'
import { type ApplyEvent, FAILURE_REASONS, STEP_STATUSES } from '../model/index.ts'
import { count, planShape, published, step, window } from './shapes.ts'

const time = z.iso.datetime()

const operation = z.strictObject({ id: z.string(), action: z.string(), status: z.string(), failuresCount: count })

const stepOutcome = z.strictObject({
  step: z.string(),
  status: z.enum(STEP_STATUSES),
  reason: z.enum(FAILURE_REASONS).exactOptional(),
  message: z.string().exactOptional(),
  httpStatus: z.int().exactOptional(),
  operations: z.array(operation),
  computeId: z.string().exactOptional(),
  moved: z.array(z.strictObject({ what: z.string(), before: z.string(), after: z.string() })).exactOptional(),
  movedBy: operation.exactOptional(),
  opensAt: time.exactOptional(),
  durationMs: z.number(),
})

const eventShape = z.discriminatedUnion('type', [
  z.strictObject({ time, type: z.literal('version'), espalier: z.string(), format: z.string() }),
  z.strictObject({ time, type: z.literal('plan'), plan: planShape }),
  z.strictObject({
    time,
    type: z.literal('policy-overridden'),
    policy: z.string(),
    project: z.string(),
    reason: z.string(),
    by: z.string(),
    violations: z.array(z.string()),
  }),
  z.strictObject({ time, type: z.literal('window-overridden'), step: z.string(), windows: z.array(window) }),
  z.strictObject({ time, type: z.literal('step-start'), step }),
  z.strictObject({
    time,
    type: z.literal('call'),
    step: z.string(),
    method: z.string(),
    path: z.string(),
    attempt: count,
  }),
  z.strictObject({
    time,
    type: z.literal('wait'),
    step: z.string(),
    why: z.enum(['locked', 'rate-limited', 'unavailable', 'reading-back']),
    message: z.string(),
    delayMs: z.number(),
  }),
  z.strictObject({ time, type: z.literal('operation'), step: z.string(), operation }),
  z.strictObject({ time, type: z.literal('step-end'), outcome: stepOutcome }),
  z.strictObject({ time, type: z.literal('interrupt'), message: z.string() }),
  z.strictObject({
    time,
    type: z.literal('outcome'),
    outcome: z.strictObject({
      steps: z.array(stepOutcome),
      interrupted: z.boolean(),
      converged: z.boolean().exactOptional(),
      left: z.array(z.string()).exactOptional(),
      notes: z.array(z.string()),
    }),
  }),
]) satisfies z.ZodType<ApplyEvent>

export const eventSchema = (): object =>
  published(eventShape, 'event', 'One line of `espalier apply --format json` and of its journal')

/** Zod schemas for the events of an apply. */
import { z } from 'zod'
import { type ApplyEvent, FAILURE_REASONS, IMPACTS, OBSERVED_EFFECTS, REPAIRS, STEP_STATUSES } from '../model/index.ts'
import { count, planShape, published, step, window } from './shapes.ts'

const time = z.iso.datetime()

const operation = z.strictObject({ id: z.string(), action: z.string(), status: z.string(), failuresCount: count })

const observation = z.strictObject({
  predicted: z.enum(IMPACTS),
  observed: z.enum(OBSERVED_EFFECTS),
  at: z.string().exactOptional(),
})

const stepOutcome = z.strictObject({
  step: z.string(),
  status: z.enum(STEP_STATUSES),
  reason: z.enum(FAILURE_REASONS).exactOptional(),
  message: z.string().exactOptional(),
  httpStatus: z.int().exactOptional(),
  operations: z.array(operation),
  computeId: z.string().exactOptional(),
  repair: z.enum(REPAIRS).exactOptional(),
  observation: observation.exactOptional(),
  moved: z.array(z.strictObject({ what: z.string(), before: z.string(), after: z.string() })).exactOptional(),
  movedBy: operation.exactOptional(),
  opensAt: time.exactOptional(),
  durationMs: z.number(),
})

const event = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.strictObject({ time, type: z.literal(type), ...fields })

const eventShape = z.discriminatedUnion('type', [
  event('version', { espalier: z.string(), format: z.string() }),
  event('plan', { plan: planShape }),
  event('policy-overridden', {
    policy: z.string(),
    project: z.string().exactOptional(),
    reason: z.string(),
    by: z.string(),
    violations: z.array(z.string()),
  }),
  event('window-overridden', { step: z.string(), windows: z.array(window) }),
  event('step-start', { step }),
  event('call', { step: z.string(), method: z.string(), path: z.string(), attempt: count }),
  event('wait', {
    step: z.string(),
    why: z.enum(['locked', 'rate-limited', 'unavailable', 'reading-back']),
    message: z.string(),
    delayMs: z.number(),
  }),
  event('operation', { step: z.string(), operation }),
  event('unpredicted', { step: z.string(), observation }),
  event('step-end', { outcome: stepOutcome }),
  event('interrupt', { message: z.string() }),
  event('outcome', {
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

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

/** @param when when the event is recorded, for the schema and the docs. */
const event = <Type extends string, Fields extends z.ZodRawShape>(type: Type, when: string, fields: Fields) =>
  z.strictObject({ time, type: z.literal(type), ...fields }).describe(when)

const eventShape = z.discriminatedUnion('type', [
  event('version', 'First event: the versions of Espalier and the event format.', {
    espalier: z.string(),
    format: z.string(),
  }),
  event('plan', 'Second event: the plan.', { plan: planShape }),
  event('policy-overridden', 'Before the first step, once for each overridden limit, or policy and project.', {
    policy: z.string(),
    project: z.string().exactOptional(),
    reason: z.string(),
    by: z.string(),
    violations: z.array(z.string()),
  }),
  event('window-overridden', 'With `--now`, a step is about to send its request outside its restart window.', {
    step: z.string(),
    windows: z.array(window),
  }),
  event('step-start', 'A step is about to start.', { step }),
  event('call', 'A request is about to be sent.', {
    step: z.string(),
    method: z.string(),
    path: z.string(),
    attempt: count,
  }),
  event('wait', 'A wait before another request is about to start.', {
    step: z.string(),
    why: z.enum(['locked', 'rate-limited', 'unavailable', 'reading-back']),
    message: z.string(),
    delayMs: z.number(),
  }),
  event('operation', 'An operation has a new status or failure count.', { step: z.string(), operation }),
  event('unpredicted', 'A step that was predicted to interrupt no one interrupted users.', {
    step: z.string(),
    observation,
  }),
  event('step-end', 'A step has ended, or will not run.', { outcome: stepOutcome }),
  event('interrupt', 'A signal was received.', { message: z.string() }),
  event(
    'outcome',
    'Last event: the outcome of every step, notes, and `converged`: whether a new plan has only `scheduled` steps. Absent if no step was done, or after an interruption or a rejected key.',
    {
      outcome: z.strictObject({
        steps: z.array(stepOutcome),
        interrupted: z.boolean(),
        converged: z.boolean().exactOptional(),
        left: z.array(z.string()).exactOptional(),
        notes: z.array(z.string()),
      }),
    },
  ),
]) satisfies z.ZodType<ApplyEvent>

export const eventSchema = (): object =>
  published(eventShape, 'event', 'One line of `espalier apply --format json` and of its journal')

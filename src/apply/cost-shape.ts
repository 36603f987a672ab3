import { z } from 'zod'
import { COST_FLAGS, HOURS_PER_MONTH, type PlanCost } from '../model/index.ts'

const value = z.number().nullable()
const range = { low: value, expected: value, high: value }
const total = z.strictObject({ ...range, unknown: z.int().nonnegative() })
const money = z.strictObject({
  price: z.strictObject({ cuHour: z.number(), currency: z.string() }),
  before: value,
  after: value,
  delta: value,
})
const summary = { before: total, after: total, delta: total, money: money.exactOptional() }

export const planCostShape = z.strictObject({
  model: z.literal('1'),
  hoursPerMonth: z.literal(HOURS_PER_MONTH),
  total: z.strictObject(summary),
  projects: z.array(z.strictObject({ project: z.string(), ...summary })),
  computes: z.array(
    z.strictObject({
      change: z.string(),
      before: z.strictObject(range),
      after: z.strictObject(range),
      delta: z.strictObject(range),
      basis: z.strictObject({
        kind: z.enum(['measured', 'settings', 'unknown']),
        activeHoursPerDay: value,
        since: z.string().nullable(),
        averageCu: value,
        flags: z.array(z.enum(COST_FLAGS)),
      }),
      sentence: z.string(),
    }),
  ),
}) satisfies z.ZodType<PlanCost>

import { z } from 'zod'
import { type PlanPolicies, POLICY_OUTCOMES, POLICY_RULE_NAMES } from '../model/index.ts'

export const planPoliciesShape = z.strictObject({
  files: z.array(z.string()),
  ref: z.string().exactOptional(),
  results: z.array(
    z.strictObject({
      policy: z.string(),
      rule: z.enum(POLICY_RULE_NAMES),
      level: z.enum(['warn', 'deny']),
      outcome: z.enum(POLICY_OUTCOMES),
      project: z.string().exactOptional(),
      branch: z.string().exactOptional(),
      compute: z.string().exactOptional(),
      message: z.string(),
      reason: z.string(),
      override: z.string().exactOptional(),
      overriddenBy: z.string().exactOptional(),
    }),
  ),
  changes: z.array(z.string()),
}) satisfies z.ZodType<PlanPolicies>

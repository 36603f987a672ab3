/** What a request about a compute may name (public OpenAPI): the API's requests, and the faults that imitate them. */
import { z } from 'zod'
import { unsupported } from './unsupported.ts'

const settings = z.object({
  pg_settings: z.record(z.string(), z.string()).optional(),
  preload_libraries: z
    .object({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).optional() })
    .optional(),
  pgbouncer_settings: unsupported('it is deprecated'),
})

/** What every request about a compute may name (public OpenAPI). */
export const common = {
  autoscaling_limit_min_cu: z.number().min(0.25).optional(),
  autoscaling_limit_max_cu: z.number().min(0.25).optional(),
  suspend_timeout_seconds: z.int().min(-1).max(604_800).optional(),
  settings: settings.optional(),
  provisioner: z.enum(['k8s-pod', 'k8s-neonvm', 'serverless-platform']).optional(),
}
/** And what a new branch's computes may not. */
const attributes = {
  ...common,
  name: z.string().min(1).max(64).optional(),
  disabled: z.boolean().optional(),
  pooler_enabled: z.boolean().optional(),
  pooler_mode: z.literal('transaction').optional(),
  passwordless_access: z.boolean().optional(),
}
export const type = z.enum(['read_write', 'read_only'])

export const newEndpoint = z.object({ ...attributes, branch_id: z.string(), type, region_id: z.string().optional() })
export const changedEndpoint = z.object({ ...attributes, branch_id: z.string().optional() })
/** What an update may name. */
export const attributeNames = changedEndpoint.keyof().options

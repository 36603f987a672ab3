/** Fields of requests about computes (public OpenAPI). Faults that act as another client use them too. */
import { z } from 'zod'
import { isMachineSetting } from '../computes/machine-settings.ts'

/** A field that the service has and the sandbox lacks: it is refused by name rather than ignored. */
export const unsupported = (why = '') =>
  z.never({ error: `is not supported by the sandbox${why === '' ? '' : `: ${why}`}` }).optional()

export const pgSettings = z.record(z.string(), z.string()).superRefine((settings, context) => {
  for (const name of Object.keys(settings).filter(isMachineSetting)) {
    context.addIssue({ code: 'custom', path: [name], message: `parameter "${name}" cannot be changed` })
  }
})

const settings = z.object({
  pg_settings: pgSettings.optional(),
  preload_libraries: z
    .object({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).readonly().optional() })
    .optional(),
  pgbouncer_settings: unsupported('it is deprecated'),
})

/** Fields of every request about a compute. */
export const common = {
  autoscaling_limit_min_cu: z.number().min(0.25).optional(),
  autoscaling_limit_max_cu: z.number().min(0.25).optional(),
  suspend_timeout_seconds: z.int().min(-1).max(604_800).optional(),
  settings: settings.optional(),
  provisioner: z.enum(['k8s-pod', 'k8s-neonvm', 'serverless-platform']).optional(),
}
/** Not allowed for computes that are created with their branch. */
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
export const attributeNames = changedEndpoint.keyof().options

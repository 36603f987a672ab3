/** Settings of a project. They are stored as given and shown with all members, because clients rely on every one. */
import { z } from 'zod'
import { Refusal } from './refusal.ts'

const count = z.int().min(0)
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 04:30' })
/** An IP address or a range: `192.0.2.1`, `192.0.2.0/24`, `192.0.2.1-192.0.2.9`, `2001:db8::/32`. */
const addresses = z
  .string()
  .regex(/^[0-9a-fA-F.:]+([/-][0-9a-fA-F.:]+)?$/, { error: 'must be an IP address or a range' })

/** Settings in a request (public OpenAPI). */
export const settingsRequest = z.object({
  quota: z
    .object({
      active_time_seconds: count.optional(),
      compute_time_seconds: count.optional(),
      written_data_bytes: count.optional(),
      data_transfer_bytes: count.optional(),
      logical_size_bytes: count.optional(),
    })
    .optional(),
  allowed_ips: z
    .object({ ips: z.array(addresses).readonly().optional(), protected_branches_only: z.boolean().optional() })
    .optional(),
  enable_logical_replication: z.boolean().optional(),
  maintenance_window: z
    .object({ weekdays: z.array(z.int().min(1).max(7)).readonly(), start_time: timeOfDay, end_time: timeOfDay })
    .optional(),
  block_public_connections: z.boolean().optional(),
  block_vpc_connections: z.boolean().optional(),
  audit_log_level: z.enum(['base', 'extended', 'full']).optional(),
  hipaa: z.boolean().optional(),
  preload_libraries: z
    .object({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).readonly().optional() })
    .optional(),
})

export type ProjectSettings = z.output<typeof settingsRequest>

/**
 * Given members replace the existing ones. `allowed_ips` is merged, because clients send only part of it.
 *
 * @throws {Refusal} 400 for turning off a setting that cannot be turned off (public OpenAPI).
 */
export const withSettings = (before: ProjectSettings, asked: ProjectSettings): ProjectSettings => {
  if (before.enable_logical_replication === true && asked.enable_logical_replication === false) {
    throw new Refusal(400, 'project.settings.enable_logical_replication: once enabled, it cannot be disabled')
  }
  if (before.hipaa === true && asked.hipaa === false) {
    throw new Refusal(400, 'project.settings.hipaa: disabling HIPAA is not allowed')
  }
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
  const allowed =
    asked.allowed_ips === undefined ? {} : { allowed_ips: { ...before.allowed_ips, ...asked.allowed_ips } }
  return { ...before, ...given, ...allowed }
}

export const shownSettings = (given: ProjectSettings = {}) => ({
  ...given,
  quota: given.quota ?? {},
  allowed_ips: {
    ips: given.allowed_ips?.ips ?? [],
    protected_branches_only: given.allowed_ips?.protected_branches_only ?? false,
  },
  enable_logical_replication: given.enable_logical_replication ?? false,
  // The service gives every project a window. Its time does not matter here: the sandbox runs no maintenance.
  maintenance_window: given.maintenance_window ?? { weekdays: [7], start_time: '04:00', end_time: '05:00' },
  block_public_connections: given.block_public_connections ?? false,
  block_vpc_connections: given.block_vpc_connections ?? false,
  hipaa: given.hipaa ?? false,
})

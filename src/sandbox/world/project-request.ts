/** Fields of requests about projects (public OpenAPI). */
import { z } from 'zod'
import { annotation } from './branch-request.ts'
import { common, pgSettings, unsupported } from './compute-request.ts'
import { settingsRequest } from './project-settings.ts'

/** Postgres truncates longer names. */
const MAX_NAME_BYTES = 63
/** Names that Postgres or the service reserves. */
const RESERVED_NAME = /^(pg_.*|neon_superuser|supervisor|cloud_admin|public|none|postgres|template[01])$/

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
const CONTROL = /[\x00-\x1f\x7f]/

export const sqlName = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES, {
    error: `must have at most ${MAX_NAME_BYTES} bytes`,
  })
  .refine((name) => !CONTROL.test(name), { error: 'must not contain control characters' })
  .refine((name) => !RESERVED_NAME.test(name), { error: 'is a reserved name' })

const id = z.string().regex(/^[a-z0-9-]{1,60}$/, { error: 'must have 1 to 60 lower-case letters, digits and hyphens' })

const attributes = {
  name: z.string().min(1).max(256).optional(),
  /** At most 30 days. */
  history_retention_seconds: z.int().min(0).max(2_592_000).optional(),
  default_endpoint_settings: z
    .object({
      autoscaling_limit_min_cu: common.autoscaling_limit_min_cu,
      autoscaling_limit_max_cu: common.autoscaling_limit_max_cu,
      suspend_timeout_seconds: common.suspend_timeout_seconds,
      pg_settings: pgSettings.optional(),
      pgbouncer_settings: unsupported('it is deprecated'),
    })
    .optional(),
  settings: settingsRequest.optional(),
}

export const changedProject = z.object(attributes)
export const newProject = z.object({
  ...attributes,
  branch: z
    .object({
      name: z.string().min(1).max(256).optional(),
      role_name: sqlName.optional(),
      database_name: sqlName.optional(),
      annotations: annotation.optional(),
    })
    .optional(),
  pg_version: z.int().optional(),
  provisioner: common.provisioner,
  region_id: id.optional(),
  org_id: id.optional(),
  store_passwords: z.literal(true, { error: 'must be true: the sandbox always stores passwords' }).optional(),
  /** Deprecated names of the default endpoint settings. */
  autoscaling_limit_min_cu: common.autoscaling_limit_min_cu,
  autoscaling_limit_max_cu: common.autoscaling_limit_max_cu,
})

export type NewProjectRequest = z.output<typeof newProject>
export type ProjectChange = z.output<typeof changedProject>

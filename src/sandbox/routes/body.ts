/** Request bodies: what the API documents is checked, what it does not is ignored. */
import type { Context } from 'hono'
import { z } from 'zod'
import { issueText } from '../../base/index.ts'
import { Refusal } from '../world/refusal.ts'

const settings = z.object({
  pg_settings: z.record(z.string(), z.string()).optional(),
  preload_libraries: z
    .object({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).optional() })
    .optional(),
})

/** What every request about a compute may name (public OpenAPI). */
const common = {
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
const type = z.enum(['read_write', 'read_only'])

export const createBody = z.object({
  endpoint: z.object({ ...attributes, branch_id: z.string(), type, region_id: z.string().optional() }),
})
const updated = z.object({ ...attributes, branch_id: z.string().optional() })
export const updateBody = z.object({ endpoint: updated })
/** What an update may name. */
export const attributeNames = updated.keyof().options
export const branchBody = z.object({
  branch: z
    .object({
      name: z.string().min(1).max(256).optional(),
      parent_id: z.string().optional(),
      protected: z.boolean().optional(),
      expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
    })
    .default({}),
  endpoints: z.array(z.object({ ...common, type })).default([]),
})
export const branchUpdateBody = z.object({
  branch: z.object({
    name: z.string().min(1).max(256).optional(),
    protected: z.boolean().optional(),
    expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
  }),
})

const projectAttributes = {
  name: z.string().min(1).max(256).optional(),
  /** Up to 30 days (public OpenAPI). */
  history_retention_seconds: z.int().min(0).max(2_592_000).optional(),
  default_endpoint_settings: z
    .object({
      autoscaling_limit_min_cu: common.autoscaling_limit_min_cu,
      autoscaling_limit_max_cu: common.autoscaling_limit_max_cu,
      suspend_timeout_seconds: common.suspend_timeout_seconds,
    })
    .optional(),
}
export const projectBody = z.object({ project: z.object(projectAttributes) })
export const newProjectBody = z.object({
  project: z
    .object({
      ...projectAttributes,
      region_id: z
        .string()
        .regex(/^[a-z0-9-]{1,60}$/)
        .optional(),
      org_id: z.string().optional(),
    })
    .default({}),
})

const MAX_BODY_BYTES = 1024 * 1024

/** @throws {Refusal} 400 that names the field, 413 where the body is too large. */
export const readBody = async <T>(context: Context, schema: z.ZodType<T>, maxBytes = MAX_BODY_BYTES): Promise<T> => {
  const text = await context.req.text()
  if (Buffer.byteLength(text) > maxBytes) {
    throw new Refusal(413, `request body is larger than ${maxBytes} bytes`)
  }
  let value: unknown
  try {
    value = text === '' ? {} : JSON.parse(text)
  } catch {
    throw new Refusal(400, 'request body is not valid JSON')
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Refusal(
    400,
    `${issue?.path.join('.') || 'request body'}: ${issue === undefined ? 'is not valid' : issueText(issue)}`,
  )
}

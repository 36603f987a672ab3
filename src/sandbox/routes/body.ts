/** Request bodies: what the API documents is checked, what it does not is ignored. */
import type { Context } from 'hono'
import { z } from 'zod'
import { issueText } from '../../base/index.ts'
import { changedEndpoint, common, newEndpoint, type } from '../world/compute-request.ts'
import { changedProject, newProject } from '../world/project-request.ts'
import { Refusal } from '../world/refusal.ts'
import { reportIgnored, unreadFields } from './ignored.ts'

export const createBody = z.object({ endpoint: newEndpoint })
export const updateBody = z.object({ endpoint: changedEndpoint })
const moment = z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
/** Of the write-ahead log, as Postgres writes them. */
const lsn = z.string().regex(/^[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}$/, 'must be a log sequence number such as 0/1DE2850')
const branchId = z.string().regex(/^[a-z0-9-]{1,60}$/, 'must be an id: lower-case letters, digits and hyphens')
const branchName = z.string().min(1).max(256)

const newBranch = z.object({
  name: branchName.optional(),
  parent_id: branchId.or(z.literal('')).optional(),
  parent_timestamp: moment.optional(),
  parent_lsn: lsn.optional(),
  init_source: z.enum(['parent-data', 'schema-only']).optional(),
  protected: z.boolean().optional(),
  archived: z.boolean().optional(),
  expires_at: moment.nullable().optional(),
})
/** At most 50 properties (public OpenAPI). */
const annotation = z
  .record(z.string(), z.string())
  .refine((value) => Object.keys(value).length <= 50, 'must have 50 properties at most')

export const branchBody = z.object({
  branch: newBranch.default({}),
  endpoints: z.array(z.object({ ...common, type })).default([]),
  annotation_value: annotation.optional(),
})
export const branchUpdateBody = z.object({ branch: newBranch.pick({ name: true, protected: true, expires_at: true }) })
export const restoreBody = z.object({
  source_branch_id: branchId,
  source_timestamp: moment.optional(),
  source_lsn: lsn.optional(),
  preserve_under_name: z.string().max(256).optional(),
})

export const projectBody = z.object({ project: changedProject })
export const newProjectBody = z.object({ project: newProject })

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
  if (parsed.success) {
    reportIgnored(context, unreadFields(value, parsed.data))
    return parsed.data
  }
  const issue = parsed.error.issues[0]
  const where = issue?.path.join('.') || 'request body'
  throw new Refusal(400, `${where}: ${issue === undefined ? 'is not valid' : issueText(issue)}`)
}

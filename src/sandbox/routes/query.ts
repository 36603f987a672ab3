/** What a list may be asked for (public OpenAPI): each parameter is checked, one that is not documented is ignored. */
import type { Context } from 'hono'
import { z } from 'zod'
import { issueText } from '../issue-text.ts'
import { Refusal } from '../world/refusal.ts'
import { reportIgnored } from './ignored.ts'

const limit = (most: number) => {
  const error = `must be a whole number between 1 and ${most}`
  return z
    .string()
    .regex(/^\d{1,9}$/, error)
    .transform(Number)
    .refine((value) => value >= 1 && value <= most, error)
}
const TIMEOUT = 'must be a whole number of milliseconds between 100 and 30000'
const timeout = z
  .string()
  .regex(/^\d{1,9}$/, TIMEOUT)
  .transform(Number)
  .refine((value) => value >= 100 && value <= 30_000, TIMEOUT)
/** In any case: Python's clients send `False`. */
export const flag = z
  .string()
  .regex(/^(true|false)$/i, 'must be true or false')
  .transform((value) => value.toLowerCase() === 'true')
const text = z.string()
const organization = text.regex(/^[a-z0-9-]{1,60}$/, 'must be an id: lower-case letters, digits and hyphens')

export const projectsQuery = z.object({
  limit: limit(400).default(10),
  cursor: text.default(''),
  search: text.default(''),
  org_id: organization.optional(),
  /** Nothing here takes as long as a client would wait. */
  timeout: timeout.optional(),
  recoverable: flag.default(false),
})
export const sharedQuery = projectsQuery.pick({ limit: true, cursor: true, search: true, timeout: true })
export const operationsQuery = z.object({ limit: limit(1_000).default(100), cursor: text.default('') })
export const branchesQuery = z.object({
  limit: limit(10_000).default(10_000),
  cursor: text.default(''),
  search: text.default(''),
  sort_by: z
    .enum(['name', 'created_at', 'updated_at'], { error: 'must be one of name, created_at, updated_at' })
    .default('updated_at'),
  sort_order: z
    .enum(['asc', 'desc', 'ASC', 'DESC'], { error: 'must be asc or desc' })
    .default('desc')
    .transform((order) => (order.toLowerCase() === 'asc' ? 'asc' : 'desc')),
  /** A deleted branch cannot be recovered here, so none is left to be listed. */
  include_deleted: flag.optional(),
})
export const countQuery = z.object({ search: text.default('') })
export const deletionQuery = z.object({ hard_delete: flag.optional() })

/** @throws {Refusal} 400 that names the parameter. */
export const readQuery = <T extends object>(context: Context, schema: z.ZodType<T>): T => {
  const given = context.req.query()
  const parsed = schema.safeParse(given)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const where = issue?.path.join('.') || 'query'
    throw new Refusal(400, `${where}: ${issue === undefined ? 'is not valid' : issueText(issue)}`)
  }
  const read: object = parsed.data
  reportIgnored(
    context,
    Object.keys(given)
      .filter((name) => !Object.hasOwn(read, name))
      .map((name) => `?${name}`),
  )
  return parsed.data
}

/** Schemas for query parameters (public OpenAPI). */
import { z } from 'zod'
import { id } from '../world/requests.ts'

const wholeNumber = (least: number, most: number, unit = '') => {
  const error = `must be a whole number${unit} between ${least} and ${most}`
  return z
    .string()
    .regex(/^\d{1,9}$/, error)
    .transform(Number)
    .refine((value) => value >= least && value <= most, error)
}
const limit = (most: number) => wholeNumber(1, most)
/** The value is case-insensitive, because Python clients send `False`. */
export const flag = z
  .string()
  .regex(/^(true|false)$/i, 'must be true or false')
  .transform((value) => value.toLowerCase() === 'true')
const text = z.string()

export const projectsQuery = z.object({
  limit: limit(400).default(10),
  cursor: text.default(''),
  search: text.default(''),
  org_id: id.optional(),
  /** Validated, but without effect, because no list takes that long. */
  timeout: wholeNumber(100, 30_000, ' of milliseconds').optional(),
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
  /** Has no effect. The sandbox does not list deleted branches, because it cannot recover them. */
  include_deleted: flag.optional(),
})
export const countQuery = z.object({ search: text.default('') })
export const deletionQuery = z.object({ hard_delete: flag.optional() })

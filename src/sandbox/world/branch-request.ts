/** Fields of requests about branches (public OpenAPI). */
import { z } from 'zod'

const moment = z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
const lsn = z.string().regex(/^[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}$/, 'must be a log sequence number such as 0/1DE2850')
const branchId = z.string().regex(/^[a-z0-9-]{1,60}$/, 'must be an id: lower-case letters, digits and hyphens')
const branchName = z.string().min(1).max(256)

export const newBranch = z.object({
  name: branchName.optional(),
  parent_id: branchId.or(z.literal('')).optional(),
  parent_timestamp: moment.optional(),
  parent_lsn: lsn.optional(),
  init_source: z.enum(['parent-data', 'schema-only']).optional(),
  protected: z.boolean().optional(),
  archived: z.boolean().optional(),
  expires_at: moment.nullable().optional(),
})
export const annotation = z
  .record(z.string(), z.string())
  .refine((value) => Object.keys(value).length <= 50, 'must have at most 50 properties')

export const changedBranch = newBranch.pick({ name: true, protected: true, expires_at: true })
export const restoreRequest = z.object({
  source_branch_id: branchId,
  source_timestamp: moment.optional(),
  source_lsn: lsn.optional(),
  preserve_under_name: z.string().max(256).optional(),
})

export type BranchRequest = z.output<typeof newBranch>
export type BranchUpdate = z.output<typeof changedBranch>
export type RestoreRequest = z.output<typeof restoreRequest>

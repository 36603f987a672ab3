/** Request bodies: what the API documents is checked, what it does not is ignored. */
import type { Context } from 'hono'
import { z } from 'zod'
import { issueText } from '../issue-text.ts'
import { annotation, changedBranch, newBranch } from '../world/branch-request.ts'
import { changedEndpoint, common, newEndpoint, type } from '../world/compute-request.ts'
import { changedProject, newProject } from '../world/project-request.ts'
import { Refusal } from '../world/refusal.ts'
import { reportIgnored, unreadFields } from './ignored.ts'

export const createBody = z.object({ endpoint: newEndpoint })
export const updateBody = z.object({ endpoint: changedEndpoint })
export const branchBody = z.object({
  branch: newBranch.default({}),
  endpoints: z.array(z.object({ ...common, type })).default([]),
  annotation_value: annotation.optional(),
})
export const branchUpdateBody = z.object({ branch: changedBranch })

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

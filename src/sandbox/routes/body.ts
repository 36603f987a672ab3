/** Request bodies: documented fields are checked, unknown fields are ignored. */
import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { issueText } from '../issue-text.ts'
import { annotation, changedBranch, newBranch } from '../world/branch-request.ts'
import { changedEndpoint, common, newEndpoint, type } from '../world/compute-request.ts'
import { changedProject, newProject } from '../world/project-request.ts'
import { Refusal } from '../world/refusal.ts'
import { reportIgnored, unknownFields } from './ignored.ts'

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

/** Refuses a body over `maxSize` bytes with 413, before it fills the memory. */
export const limitBody = (maxSize: number): MiddlewareHandler => {
  const refuse = (): never => {
    throw new Refusal(413, `request body is larger than ${maxSize} bytes`)
  }
  const limitChunks = bodyLimit({ maxSize, onError: refuse })
  return async (context, next) => {
    // `bodyLimit` creates a `Request` object, which is slow: use it only for bodies of unknown length.
    if (context.req.header('transfer-encoding') !== undefined) return limitChunks(context, next)
    if (Number(context.req.header('content-length') ?? 0) > maxSize) refuse()
    await next()
  }
}

/** @throws {Refusal} 400 with the field's path. */
export const readBody = async <T>(context: Context, schema: z.ZodType<T>): Promise<T> => {
  const text = await context.req.text()
  let value: unknown
  try {
    value = text === '' ? {} : JSON.parse(text)
  } catch {
    throw new Refusal(400, 'request body is not valid JSON')
  }
  const read = parse(value, schema, 'request body')
  reportIgnored(context, unknownFields(value, read))
  return read
}

/**
 * @param what what to call the value if no single field is invalid.
 * @throws {Refusal} 400 with the field's path.
 */
export const parse = <T>(value: unknown, schema: z.ZodType<T>, what: string): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Refusal(400, `${issue?.path.join('.') || what}: ${issue === undefined ? 'is not valid' : issueText(issue)}`)
}

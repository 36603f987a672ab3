/** Reads requests. Documented fields and parameters are checked. Unknown ones are ignored, as on the service. */
import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { routePath } from 'hono/route'
import { z } from 'zod'
import { isRecord } from '../../base/index.ts'
import { issueAt } from '../../base/issue-text.ts'
import { ApiError, id } from '../world/requests.ts'

/** Rejects a body of more than `maxSize` bytes with 413, before the body can fill the memory. */
export const limitBody = (maxSize: number): MiddlewareHandler => {
  const reject = (): never => {
    throw new ApiError(413, `request body exceeds ${maxSize} bytes`)
  }
  const limitChunks = bodyLimit({ maxSize, onError: reject })
  return async (context, next) => {
    // `bodyLimit` creates a `Request` object, which is slow. Therefore, use it only for bodies of unknown length.
    if (context.req.header('transfer-encoding') !== undefined) return limitChunks(context, next)
    if (Number(context.req.header('content-length') ?? 0) > maxSize) reject()
    await next()
  }
}

/** @throws {ApiError} 400 with the field's path. */
export const readBody = async <T>(context: Context, schema: z.ZodType<T>): Promise<T> => {
  const text = await context.req.text()
  let value: unknown
  try {
    value = text === '' ? {} : JSON.parse(text)
  } catch {
    throw new ApiError(400, 'request body is not valid JSON')
  }
  const read = parse(value, schema, 'request body')
  reportIgnored(context, unknownFields(value, read))
  return read
}

/**
 * @param what the name of the whole value, for messages that do not concern a single field.
 * @throws {ApiError} 400 with the field's path.
 */
const parse = <T>(value: unknown, schema: z.ZodType<T>, what: string): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new ApiError(400, issueAt(parsed.error.issues[0], what))
}

/** @throws {ApiError} 400 with the parameter's name. */
export const readQuery = <T extends object>(context: Context, schema: z.ZodType<T>): T => {
  const given = context.req.query()
  const read = parse(given, schema, 'query')
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(read, name))
  reportIgnored(
    context,
    unknown.map((name) => `?${name}`),
  )
  return read
}

/** Limits memory usage if a client sends random names. */
const MOST_LOGGED = 1_000

/** @param log called with one line when a route ignores a field for the first time. */
export const watchIgnored = (log: (line: string) => void): MiddlewareHandler => {
  const known = new Set<string>()
  return async (context, next) => {
    context.set('onIgnored', (fields: readonly string[]) => {
      for (const field of fields) {
        const line = `ignored  ${JSON.stringify(field.slice(0, 100))}  ${context.req.method} ${routePath(context, -1)}`
        if (known.has(line) || known.size >= MOST_LOGGED) continue
        known.add(line)
        log(line)
      }
    })
    await next()
  }
}

const reportIgnored = (context: Context, fields: readonly string[]): void => {
  const report: ((fields: readonly string[]) => void) | undefined = context.get('onIgnored')
  if (fields.length > 0) report?.(fields)
}

/** The paths of those fields in `given` that are missing from `read`, which is the result of parsing `given`. */
const unknownFields = (given: unknown, read: unknown, at = ''): readonly string[] => {
  if (Array.isArray(given)) {
    return Array.isArray(read) ? given.flatMap((item, index) => unknownFields(item, read[index], `${at}[]`)) : []
  }
  if (!isRecord(given) || !isRecord(read)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const path = at === '' ? name : `${at}.${name}`
    return Object.hasOwn(read, name) ? unknownFields(value, read[name], path) : [path]
  })
}

// Schemas for query parameters (public OpenAPI).

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

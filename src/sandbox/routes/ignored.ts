/** Unknown fields of requests: they are ignored, as by the service, and each is logged once. */
import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'

/** Limits memory use if a client sends random names. */
const MOST = 1_000

/** @param log called with one line for each field that a route ignores for the first time. */
export const watchIgnored = (log: (line: string) => void): MiddlewareHandler => {
  const known = new Set<string>()
  return async (context, next) => {
    context.set('onIgnored', (fields: readonly string[]) => {
      for (const field of fields) {
        const line = `ignored  ${JSON.stringify(field.slice(0, 100))}  ${context.req.method} ${routePath(context, -1)}`
        if (known.has(line) || known.size >= MOST) continue
        known.add(line)
        log(line)
      }
    })
    await next()
  }
}

export const reportIgnored = (context: Context, fields: readonly string[]): void => {
  const report: ((fields: readonly string[]) => void) | undefined = context.get('onIgnored')
  if (fields.length > 0) report?.(fields)
}

/** Paths of the fields of `given` that `read`, the result of its schema, does not have. */
export const unknownFields = (given: unknown, read: unknown, at = ''): readonly string[] => {
  if (Array.isArray(given)) {
    return Array.isArray(read) ? given.flatMap((item, index) => unknownFields(item, read[index], `${at}[]`)) : []
  }
  if (!isObject(given) || !isObject(read)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const path = at === '' ? name : `${at}.${name}`
    return Object.hasOwn(read, name) ? unknownFields(value, read[name], path) : [path]
  })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

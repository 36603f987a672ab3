/** Injects faults into requests, for example failures of the network or of a server in between. */
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { SandboxClock } from '../clock.ts'
import type { Faults, RequestEffect } from '../faults.ts'
import { createCompute, deleteCompute, updateCompute } from '../world/compute-commands.ts'
import { ApiError } from '../world/requests.ts'
import type { ProjectTables } from '../world/tables.ts'
import type { World } from '../world/world.ts'

const HTML =
  '<!DOCTYPE html><html><head><title>524: A timeout occurred</title></head><body>A timeout occurred</body></html>'

/** @param root the root of the API. The paths in faults are relative to it. */
export const injectFaults =
  (faults: Faults, world: World, root: string): MiddlewareHandler =>
  async (context, next) => {
    const { clock } = world
    const path = context.req.path.startsWith(root) ? context.req.path.slice(root.length) : context.req.path
    const effect = faults.ofRequest(context.req.method, path)
    if (effect === undefined) return next()
    switch (effect.kind) {
      case 'reset-before':
        return cut(context)
      case 'reset-after':
        await next()
        return cut(context)
      case 'truncate': {
        await next()
        const status = withBody(context.res)
        const body = await context.res.text()
        const half = body.slice(0, Math.floor(body.length / 2))
        return replace(context, new Response(half, { status, headers: { 'content-type': 'application/json' } }))
      }
      case 'malformed':
        await next()
        return replace(context, new Response('{"endpoint": ', { status: withBody(context.res) }))
      case 'html':
        return new Response(HTML, { status: 524, headers: { 'content-type': 'text/html' } })
      case 'status':
        if (effect.retryAfter !== undefined) context.header('retry-after', String(effect.retryAfter))
        return context.json(
          { request_id: context.get('requestId'), code: effect.code, message: effect.message },
          effect.status as ContentfulStatusCode,
        )
      case 'lock':
        throw new ApiError(
          423,
          'project already has running conflicting operations, scheduling of new ones is prohibited',
        )
      case 'latency':
        await new Promise<void>((resolve) =>
          clock.at(clock.now() + effect.ms + faults.random() * effect.jitterMs, resolve),
        )
        break
      case 'lag':
        context.set('listedAsOf', clock.now() - effect.ms)
        break
      case 'ignore':
        // Without names, all attributes are ignored.
        context.set('isIgnored', (name: string) => effect.attributes?.some((one) => one === name) ?? true)
        break
      case 'suspend-on-delete':
        context.set('suspendsOnDelete', true)
        break
      case 'rival-create':
      case 'rival-update':
      case 'rival-delete':
        writeConcurrently(effect, world, path)
        break
      default:
        return effect satisfies never
    }
    await next()
    return undefined
  }

/** The status of a response that gets a body. A response with status 204 cannot have one. */
const withBody = ({ status }: Response): number => (status === 204 ? 200 : status)

const replace = (context: Context, response: Response): undefined => {
  context.res = undefined
  context.res = response
  return undefined
}

/** Destroys the socket of the request, which means that the returned response never reaches the client. */
const cut = (context: Context): Response => {
  const { incoming } = context.env as { incoming?: { socket?: { destroy(): void } } }
  incoming?.socket?.destroy()
  return new Response(null, { status: 499 })
}

type ConcurrentWrite = Extract<RequestEffect, { readonly kind: `rival-${string}` }>

/**
 * Acts as another client that changes the project just before a request is executed. The rules of the API also apply to
 * this other client.
 *
 * @param path the path of the request, below the API root.
 */
const writeConcurrently = (effect: ConcurrentWrite, world: World, path: string): void => {
  const [, project = '', computeOfPath = ''] = /^\/projects\/([^/]+)(?:\/endpoints\/([^/]+))?/.exec(path) ?? []
  try {
    switch (effect.kind) {
      case 'rival-create':
        createCompute(world, project, effect.endpoint)
        return
      case 'rival-update':
        updateCompute(world, project, effect.endpoint_id ?? computeOfPath, effect.endpoint)
        return
      case 'rival-delete':
        deleteCompute(world, project, effect.endpoint_id ?? computeOfPath)
    }
  } catch (error) {
    // An error affects only the other client.
    if (!(error instanceof ApiError)) throw error
  }
}

// The rate limits that the service documents: 700 requests per minute per account, and 40 per second per route.

const ACCOUNT = { burst: 700, perMs: 700 / 60_000 }
const ROUTE = { burst: 40, perMs: 40 / 1_000 }

/** Rejects requests that exceed a limit with 429. Time is measured with the sandbox's clock. */
export const limitRates = (clock: SandboxClock): MiddlewareHandler => {
  const account = bucket(ACCOUNT, clock)
  const routes = new Map<string, () => boolean>()
  return async (context, next) => {
    const route = `${context.req.method} ${matchedRoutes(context).at(-1)?.path}`
    const own = routes.get(route) ?? bucket(ROUTE, clock)
    routes.set(route, own)
    if (!own() || !account()) throw new ApiError(429, 'too many requests: slow down and try again')
    await next()
  }
}

/** A token bucket. The returned function takes a token, or returns false if the bucket is empty. */
const bucket = ({ burst, perMs }: typeof ACCOUNT, clock: SandboxClock): (() => boolean) => {
  let left = burst
  let seen = clock.now()
  return () => {
    const now = clock.now()
    left = Math.min(burst, left + (now - seen) * perMs)
    seen = now
    if (left < 1) return false
    left -= 1
    return true
  }
}

// Faults that produce no error: lists show an old state, and updates are accepted but not executed.

/** The state of the project that lists in the response to this request must show. */
export const listed = (context: Context, world: World, tables: ProjectTables): ProjectTables => {
  const time: number | undefined = context.get('listedAsOf')
  return time === undefined ? tables : world.projectAt(tables, time)
}

/** Whether this request deletes a compute by an operation. */
export const suspendsOnDelete = (context: Context): boolean => context.get('suspendsOnDelete') === true

/** The attributes of an update, without those that must be ignored. */
export const withoutIgnored = <T extends object>(context: Context, endpoint: T): Partial<T> => {
  const isIgnored: ((name: string) => boolean) | undefined = context.get('isIgnored')
  if (isIgnored === undefined) return endpoint
  return Object.fromEntries(Object.entries(endpoint).filter(([name]) => !isIgnored(name))) as Partial<T>
}

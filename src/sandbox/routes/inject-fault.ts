/** Injects faults into requests, for example failures of the network or of a server in between. */
import type { Context, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { RequestEffect } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { ApiError } from '../world/api-error.ts'
import { createCompute, deleteCompute, updateCompute } from '../world/compute-commands.ts'
import type { World } from '../world/world.ts'
import { ignoreAttributes, lagBehind } from './stale-reads.ts'

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
        const { status } = context.res
        const body = await context.res.text()
        const half = body.slice(0, Math.floor(body.length / 2))
        return replace(context, new Response(half, { status, headers: { 'content-type': 'application/json' } }))
      }
      case 'malformed':
        await next()
        return replace(context, new Response('{"endpoint": ', { status: context.res.status }))
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
        lagBehind(context, clock.now() - effect.ms)
        break
      case 'ignore':
        ignoreAttributes(context, effect.attributes)
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

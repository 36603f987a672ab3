/** Carries out the faults of requests: what a client sees when a network, or what is on its way, fails. */
import type { Context, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { RequestEffect } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'
import { writeConcurrently } from './concurrent-writer.ts'
import { ignoreAttributes, lagBehind } from './stale-reads.ts'

const HTML =
  '<!DOCTYPE html><html><head><title>524: A timeout occurred</title></head><body>A timeout occurred</body></html>'

/** @param root the API's root, which the faults' paths begin below. */
export const injectFaults =
  (faults: Faults, world: World, root: string): MiddlewareHandler =>
  async (context, next) => {
    const path = context.req.path.startsWith(root) ? context.req.path.slice(root.length) : context.req.path
    const effect = faults.ofRequest(context.req.method, path)
    if (effect === undefined) return next()
    return inject(effect, context, next, { world, path, random: faults.random })
  }

const inject = async (
  effect: RequestEffect,
  context: Context,
  next: () => Promise<void>,
  { world, path, random }: { readonly world: World; readonly path: string; readonly random: () => number },
): Promise<Response | undefined> => {
  const { clock } = world
  switch (effect.kind) {
    case 'latency':
      await new Promise<void>((resolve) => clock.at(clock.now() + effect.ms + random() * effect.jitterMs, resolve))
      await next()
      return undefined
    case 'reset-before':
      return cut(context)
    case 'reset-after':
      await next()
      return cut(context)
    case 'truncate': {
      await next()
      const body = await context.res.text()
      const headers = { 'content-type': 'application/json' }
      return replace(
        context,
        new Response(body.slice(0, Math.floor(body.length / 2)), { status: context.res.status, headers }),
      )
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
      throw new Refusal(423, 'project already has running conflicting operations, scheduling of new ones is prohibited')
    case 'lag':
      lagBehind(context, clock.now() - effect.ms)
      await next()
      return undefined
    case 'ignore':
      ignoreAttributes(context, effect.attributes)
      await next()
      return undefined
    case 'rival-create':
    case 'rival-update':
    case 'rival-delete':
      writeConcurrently(effect, world, path)
      await next()
      return undefined
  }
}

const replace = (context: Context, response: Response): undefined => {
  context.res = undefined
  context.res = response
  return undefined
}

/** The socket of the request is destroyed; nothing that is returned reaches the client. */
const cut = (context: Context): Response => {
  const { incoming } = context.env as { incoming?: { socket?: { destroy(): void } } }
  incoming?.socket?.destroy()
  return new Response(null, { status: 499 })
}

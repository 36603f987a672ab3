/** The rate limits that the service documents: 700 requests per minute per account, and 40 per second per route. */
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { SandboxClock } from '../clock/clock.ts'
import { ApiError } from '../world/api-error.ts'

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

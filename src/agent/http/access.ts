/** Access control of the agent's HTTP server. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { isLoopback } from './address.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Constant-time comparison. */
export const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected))

/**
 * Prevents DNS rebinding: another site could resolve its name to this machine and read an unauthenticated server. The
 * browser still sends that site's name as the host.
 */
export const refuseOtherHosts: MiddlewareHandler = async (context, next) => {
  const host = (context.req.header('host') ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  if (!isLoopback(host)) return context.text('This server is available only as localhost.\n', 421)
  return next()
}

/**
 * Reads also accept the token as a Basic password, because browsers can prompt for it. Writes do not, because browsers
 * also send Basic credentials with cross-site form submissions.
 */
export const requireToken =
  (token: string, { alsoForReading }: { readonly alsoForReading: boolean }): MiddlewareHandler =>
  async (context, next) => {
    const isReading = context.req.method === 'GET' || context.req.method === 'HEAD'
    if (isReading && !alsoForReading) return next()
    const given = context.req.header('authorization') ?? ''
    const password = isReading ? passwordOf(given) : undefined
    if (isSame(password ?? bearerOf(given) ?? '', token)) return next()
    context.header('www-authenticate', `${isReading ? 'Basic' : 'Bearer'} realm="espalier agent"`)
    return context.text(
      isReading
        ? "The agent's token is required, as a bearer token or as the password. It is in the file `token` in the agent's data folder.\n"
        : "The agent's token is required, as a bearer token. It is in the file `token` in the agent's data folder.\n",
      401,
    )
  }

const bearerOf = (given: string): string | undefined => /^Bearer +(\S+)$/i.exec(given)?.[1]

const passwordOf = (given: string): string | undefined => {
  const encoded = /^Basic +(\S+)$/i.exec(given)?.[1]
  return encoded === undefined
    ? undefined
    : Buffer.from(encoded, 'base64')
        .toString()
        .replace(/^[^:]*:/, '')
}

/** Headers of every response. Pages set their own policy, which allows only their script and style. */
export const securityHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  const isPage = (context.res.headers.get('content-type') ?? '').startsWith('text/html')
  const policy = isPage ? '' : "default-src 'none'; "
  for (const [name, value] of Object.entries({
    'content-security-policy': `${policy}frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  })) {
    context.res.headers.set(name, value)
  }
}

/** Who may ask what of the agent. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { isLoopback } from './address.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Takes the same time however much of it is right. */
export const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected))

/**
 * A page of another site can have its name resolve to this machine, and then read what listens here without a token.
 * The browser still names that site as the host.
 */
export const refuseOtherHosts: MiddlewareHandler = async (context, next) => {
  const host = (context.req.header('host') ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  if (!isLoopback(host)) return context.text('This address is served as localhost only.\n', 421)
  return next()
}

/**
 * Reading takes the token as a Basic password too, because a browser can ask for that. Changing something does not:
 * a browser also sends a password when another site submits a form.
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
        ? 'The token of the agent is needed, as a bearer token or as the password. It is in the file `token` of its data folder.\n'
        : 'The token of the agent is needed, as a bearer token. It is in the file `token` of its data folder.\n',
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

/** Headers of every answer. Pages have their own policy, which allows only their script and style. */
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

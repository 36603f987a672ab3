/** Where the agent's HTTP server listens, and who may access it. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { isLoopback } from '../../../api/index.ts'
import { EspalierError } from '../../../base/index.ts'

export interface ListenAddress {
  readonly host: string
  /** 0 stands for any free port. */
  readonly port: number
}

const DEFAULT_LISTEN = '127.0.0.1:7790'

const ADDRESS = /^(?:\[(?<six>[\da-f:.]+)\]|(?<host>[\w.-]+)):(?<port>\d{1,5})$/i

/**
 * Parses an address such as `127.0.0.1:7790` or `[::1]:7790`.
 *
 * @throws {EspalierError} `E_USAGE`
 */
export const parseListenAddress = (text: string, flag: string): ListenAddress => {
  const { six, host = six, port } = ADDRESS.exec(text)?.groups ?? {}
  if (host === undefined || Number(port) > 65_535) {
    throw new EspalierError('E_USAGE', `${flag} ${text} is not a valid address and port.`, {
      hint: `For example: ${flag} ${DEFAULT_LISTEN}, or [::1]:7790 for IPv6.`,
    })
  }
  return { host, port: Number(port) }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares two secrets in constant time. */
export const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected))

/**
 * Prevents DNS rebinding. Another site could let its name resolve to this machine, and so read a server that requires
 * no token. Such a request is recognized by its `Host` header, in which the browser sends the name of that site.
 */
export const refuseOtherHosts: MiddlewareHandler = async (context, next) => {
  const host = (context.req.header('host') ?? '').replace(/:\d+$/, '')
  if (!isLoopback(host)) return context.text('This server is available only as localhost.\n', 421)
  return next()
}

/** The tokens now: they may be replaced while the agent runs. */
export interface Tokens {
  /** Allows every request. */
  readonly write: { readonly text: string }
  /** Allows only requests that read. */
  readonly read: { readonly text: string }
}

/**
 * Whether an `Authorization` header has a token for the request. Requests that only read may also send it as the
 * password of Basic authentication, for which browsers prompt. Requests that write may not, because browsers also send
 * Basic credentials with forms that another site submits.
 */
export const isAllowed = (authorization: string, isReading: boolean, { write, read }: Tokens): boolean => {
  const given = (isReading ? passwordOf(authorization) : undefined) ?? bearerOf(authorization) ?? ''
  return isSame(given, write.text) || (isReading && isSame(given, read.text))
}

export const requireToken =
  (tokens: Tokens, { alsoForReading }: { readonly alsoForReading: boolean }): MiddlewareHandler =>
  async (context, next) => {
    const isReading = context.req.method === 'GET' || context.req.method === 'HEAD'
    if (isReading && !alsoForReading) return next()
    if (isAllowed(context.req.header('authorization') ?? '', isReading, tokens)) return next()
    context.header('www-authenticate', `${isReading ? 'Basic' : 'Bearer'} realm="espalier agent"`)
    return context.text(
      isReading
        ? "The agent's token is required, as a bearer token or as the password. It is in the file `read-token` in the agent's data folder.\n"
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

/** Sets the headers of every response. A page sets its own policy, which allows only its own script and style. */
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

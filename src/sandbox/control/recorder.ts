/** Records requests. For requests that make changes, the body and the response are recorded too. */
import type { MiddlewareHandler } from 'hono'
import type { SandboxClock } from '../clock.ts'

export interface RecordedRequest {
  /** Milliseconds since the epoch, by the sandbox's clock. */
  readonly at: number
  readonly method: string
  /** The path below the API root, with the query. */
  readonly path: string
  readonly body?: string
  readonly status: number
  /** The parsed response to a request that makes changes. Responses to reads are not recorded. */
  readonly answer?: unknown
}

const REMEMBERED = 10_000

/** Longer bodies are not recorded, which limits memory usage. */
const LONGEST_BODY = 16 * 1024

export const record =
  (requests: RecordedRequest[], clock: SandboxClock, root: string): MiddlewareHandler =>
  async (context, next) => {
    const at = clock.now()
    await next()
    if (requests.length >= REMEMBERED) requests.shift()
    const { method, url } = context.req
    const path = url.slice(url.indexOf(root) + root.length)
    const { status } = context.res
    if (method === 'GET') return void requests.push({ at, method, path, status })
    // Do not record the body if the key is wrong, because a client without a valid key must not fill the memory.
    const body = status === 401 ? '' : await context.req.text()
    const answer = status === 204 ? undefined : await readJson(context.res.clone())
    requests.push({
      at,
      method,
      path,
      ...(body === '' || body.length > LONGEST_BODY ? {} : { body }),
      status,
      ...(answer === undefined ? {} : { answer }),
    })
  }

/** Returns `undefined` if the response is not JSON, for example because of a fault. */
const readJson = (response: Response): Promise<unknown> => response.json().catch(() => undefined)

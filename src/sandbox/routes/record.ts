/** Records each request. For changes it also records the request body and the response. */
import type { MiddlewareHandler } from 'hono'
import type { SandboxClock } from '../clock/clock.ts'
import type { Recorder } from '../control/recorder.ts'

/** Longer bodies are not recorded, to limit memory use. */
const LONGEST_BODY = 16 * 1024

export const record =
  (recorder: Recorder, clock: SandboxClock, root: string): MiddlewareHandler =>
  async (context, next) => {
    const at = clock.now()
    await next()
    const { method, url } = context.req
    const path = url.slice(url.indexOf(root) + root.length)
    const { status } = context.res
    if (method === 'GET') return recorder.add({ at, method, path, status })
    // A client without a key must not fill the memory.
    const body = status === 401 ? '' : await context.req.text()
    const answer = status === 204 ? undefined : await readJson(context.res.clone())
    recorder.add({
      at,
      method,
      path,
      ...(body === '' || body.length > LONGEST_BODY ? {} : { body }),
      status,
      ...(answer === undefined ? {} : { answer }),
    })
  }

/** `undefined` if there is no JSON, for example because of a fault. */
const readJson = (response: Response): Promise<unknown> => response.json().catch(() => undefined)

/**
 * Publishes every response on a diagnostics channel, so that tests can check all of them against the OpenAPI document.
 */
import { channel } from 'node:diagnostics_channel'
import type { MiddlewareHandler } from 'hono'

export const ANSWERS = 'espalier:sandbox:answer'

export interface PublishedAnswer {
  readonly method: string
  /** Below the API root, without the query. */
  readonly path: string
  readonly status: number
  /** The parsed body; `undefined` if there is none. */
  readonly answer: unknown
}

const answers = channel(ANSWERS)

export const publishAnswers =
  (root: string): MiddlewareHandler =>
  async (context, next) => {
    await next()
    if (!answers.hasSubscribers) return
    const text = await context.res.clone().text()
    const published: PublishedAnswer = {
      method: context.req.method,
      path: context.req.path.slice(root.length),
      status: context.res.status,
      answer: text === '' ? undefined : JSON.parse(text),
    }
    answers.publish(published)
  }

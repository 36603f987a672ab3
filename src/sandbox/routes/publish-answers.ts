/** Publishes every answer of the API on a diagnostics channel, for tests that check them all. */
import { channel } from 'node:diagnostics_channel'
import type { MiddlewareHandler } from 'hono'

export const ANSWERS = 'espalier:sandbox:answer'

export interface PublishedAnswer {
  readonly method: string
  /** Below the API's root, without its query. */
  readonly path: string
  readonly status: number
  /** `undefined` if there is no body. */
  readonly answer: unknown
}

const answers = channel(ANSWERS)

/** @param root the API's root. */
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

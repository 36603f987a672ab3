/** A server that returns scripted responses, one per request, and records the requests. */
import { text } from 'node:stream/consumers'
import { serve } from '../serve.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

export type Answer =
  | {
      readonly status: number
      readonly json?: unknown
      readonly text?: string
      readonly headers?: Record<string, string>
    }
  | 'reset'

export interface ScriptedServer {
  readonly url: string
  readonly asked: readonly Asked[]
  close(): Promise<void>
}

/** The last response is repeated for all further requests. */
export const scriptedServer = async (
  answers: readonly Answer[] | ((asked: Asked) => Answer),
): Promise<ScriptedServer> => {
  const asked: Asked[] = []
  const { origin, close } = await serve(async (request, response) => {
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: await text(request),
    }
    asked.push(one)
    const answer =
      typeof answers === 'function' ? answers(one) : (answers[Math.min(asked.length, answers.length) - 1] ?? 'reset')
    if (answer === 'reset') {
      request.socket.destroy()
      return
    }
    response.writeHead(answer.status, answer.headers)
    response.end(answer.text ?? (answer.json === undefined ? '' : JSON.stringify(answer.json)))
  })
  return { url: `${origin}/api/v2`, asked, close }
}

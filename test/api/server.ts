/** A server that returns scripted responses, one per request, and records the requests. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

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
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request) body += chunk
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body,
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
  }
  const server = createServer((request, response) => void reply(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`,
    asked,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A proxy between a client and the sandbox that checks every exchange against the sandbox's OpenAPI document. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { undocumented } from '../sandbox/openapi.ts'

export interface CheckingProxy {
  readonly apiUrl: string
  /** Differences from the document so far, and the number of exchanges. */
  readonly problems: readonly string[]
  readonly exchanges: number
  close(): Promise<void>
}

const API_ROOT = '/api/v2'

export const startCheckingProxy = async (apiUrl: string): Promise<CheckingProxy> => {
  const problems: string[] = []
  let exchanges = 0
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const method = request.method ?? 'GET'
    const path = (request.url ?? '').slice(API_ROOT.length)
    const answer = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
      ...(body === '' ? {} : { body }),
    })
    const text = await answer.text()
    const answered: unknown = text === '' ? undefined : JSON.parse(text)
    const sent: unknown = body === '' ? undefined : JSON.parse(body)
    exchanges += 1
    problems.push(...undocumented({ method, path, sent, status: answer.status, answered }))
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${API_ROOT}`,
    problems,
    get exchanges() {
      return exchanges
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

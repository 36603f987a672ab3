/** A proxy between a client and the sandbox that checks every exchange against the sandbox's OpenAPI document. */
import { text } from 'node:stream/consumers'
import { undocumented } from '../sandbox/openapi.ts'
import { serve } from '../serve.ts'

export interface CheckingProxy {
  readonly apiUrl: string
  /** Differences from the document so far. */
  readonly problems: readonly string[]
}

const API_ROOT = '/api/v2'

export const startCheckingProxy = async (apiUrl: string): Promise<CheckingProxy> => {
  const problems: string[] = []
  const { origin } = await serve(async (request, response) => {
    const body = await text(request)
    const method = request.method ?? 'GET'
    const path = (request.url ?? '').slice(API_ROOT.length)
    const answer = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
      ...(body === '' ? {} : { body }),
    })
    const content = await answer.text()
    const answered: unknown = content === '' ? undefined : JSON.parse(content)
    const sent: unknown = body === '' ? undefined : JSON.parse(body)
    problems.push(...undocumented({ method, path, sent, status: answer.status, answered }))
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(content)
  })
  return { apiUrl: `${origin}${API_ROOT}`, problems }
}

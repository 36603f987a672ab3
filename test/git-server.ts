/** A private repository: git over HTTP on loopback, as GitHub serves it. Runs `git http-backend` as a CGI program. */
import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { serve } from './serve.ts'

/** @param root the folder of `owner/name` folders. @param password for any user name. @returns the server's URL. */
export const openGitServer = async (root: string, password: string): Promise<string> => {
  const { origin } = await serve((request, response) => {
    // GitHub rejects a request with two tokens, even if one of them is valid.
    const [given = '', ...others] = request.headersDistinct.authorization ?? []
    const login = Buffer.from(/^basic (.*)$/i.exec(given)?.[1] ?? '', 'base64').toString()
    if (others.length === 0 && login.endsWith(`:${password}`)) return answer(root, request, response)
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  return origin
}

const answer = async (root: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      // Pushes are allowed: a workflow may open a pull request.
      REMOTE_USER: 'runner',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(backend.stdin)
  const answer = await buffer(backend.stdout)
  const end = answer.indexOf('\r\n\r\n')
  const headers = answer
    .subarray(0, end)
    .toString()
    .split('\r\n')
    .map((line) => line.split(/: (.*)/s, 2) as [string, string])
  const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200'
  response.writeHead(Number.parseInt(status, 10), headers.filter(([name]) => name !== 'Status').flat())
  response.end(answer.subarray(end + 4))
}

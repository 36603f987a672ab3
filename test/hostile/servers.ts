/** Servers on loopback that record traffic. */
import { createServer, request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import { served } from '../serve.ts'
import type { Authority } from './certificates.ts'

/** Forwards TLS requests to `target` (`http://…`). Returns the origin. */
export const serveTls = async ({ server }: Authority, target: string): Promise<string> => {
  const { port } = await served(
    createTlsServer(server, (incoming, outgoing) => {
      const { method, headers } = incoming
      const forwarded = request(`${target}${incoming.url ?? ''}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
      forwarded.on('error', () => outgoing.destroy())
      incoming.pipe(forwarded)
    }).listen(0, '127.0.0.1'),
  )
  return `https://localhost:${port}`
}

export interface Proxy {
  readonly url: string
  /** The hosts of requested tunnels. */
  readonly tunnels: string[]
  /** All bytes sent towards the target, as readable by the proxy. */
  readonly seen: () => string
}

/** A forward proxy that supports only CONNECT. */
export const openProxy = async (): Promise<Proxy> => {
  const tunnels: string[] = []
  const parts: Buffer[] = []
  const server = createServer((_request, response) => response.writeHead(405).end())
  server.on('connect', ({ url = '', rawHeaders }, socket) => {
    tunnels.push(url)
    parts.push(Buffer.from(rawHeaders.join('\n')))
    const [host = '', port] = url.split(':')
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      socket.on('data', (part: Buffer) => parts.push(part))
      socket.pipe(upstream).pipe(socket)
    })
    for (const end of [socket, upstream]) end.on('error', () => undefined)
    socket.on('close', () => upstream.destroy())
  })
  return {
    url: (await served(server.listen(0, '127.0.0.1'))).origin,
    tunnels,
    seen: () => Buffer.concat(parts).toString('latin1'),
  }
}

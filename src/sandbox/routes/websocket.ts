/** `/v2` serves the Postgres protocol over WebSocket, as used by the service's serverless driver (from its source). */
import type { IncomingMessage, Server } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, WebSocketServer } from 'ws'
import type { Computes } from '../computes/computes.ts'

const PATH = '/v2'
const LOOPBACK = '127.0.0.1'

/**
 * Connects clients only to the computes of this sandbox, whatever address they request.
 *
 * @returns a function that closes all connections. Closing the server does not close them, because the server does not
 *   track upgraded sockets.
 */
export const serveWebSockets = (server: Server, computes: Computes): (() => void) => {
  const open = new Set<Duplex>()
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false })
  server.on('upgrade', (request, socket, head) => {
    open.add(socket)
    socket.on('error', () => socket.destroy()).once('close', () => open.delete(socket))
    void target(request, computes)
      .catch(() => undefined)
      .then((port) => {
        if (port === undefined) reject(socket)
        else sockets.handleUpgrade(request, socket, head, (opened) => pass(createWebSocketStream(opened), port))
      })
  })
  return () => {
    for (const socket of open) socket.destroy()
  }
}

/** Reads `address=host:port`, which the driver appends to the URL. Rejects if the URL of the request is malformed. */
const target = async ({ url }: IncomingMessage, computes: Computes): Promise<number | undefined> => {
  const { pathname, searchParams } = new URL(url ?? '/', 'http://localhost')
  const [, host, port] = /^(.+?)(?::(\d+))?$/.exec(searchParams.get('address') ?? '') ?? []
  if (pathname !== PATH || host === undefined) return undefined
  return computes.portOf({ host, port: Number(port ?? 0) })
}

const reject = (socket: Duplex): void =>
  void socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')

const pass = (client: Duplex, port: number): void => {
  const compute = connect(port, LOOPBACK)
  client.on('error', () => compute.destroy()).once('close', () => compute.destroy())
  compute.on('error', () => client.destroy()).once('close', () => client.end())
  client.pipe(compute).pipe(client)
}

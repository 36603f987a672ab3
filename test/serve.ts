/** HTTP servers on loopback that a test opens and that close when it has finished. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Served {
  /** `http://127.0.0.1:port`. */
  readonly origin: string
  readonly port: number
  /** Ends all connections. Needed only to close the server before the test has finished. */
  close(): Promise<void>
}

/**
 * @param answer may fail, as it does when a client is killed in the middle of a request: the connection is closed then,
 *   and the client sees the failure.
 */
export const serve = (answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Served> =>
  served(
    createServer((request, response) => {
      void (async () => answer(request, response))().catch(() => response.destroy())
    }).listen(0, '127.0.0.1'),
  )

/** @param server was told to listen on 127.0.0.1. */
export const served = async (server: Server): Promise<Served> => {
  // On a slow machine, an idle connection would otherwise be closed while the next request is sent.
  server.keepAliveTimeout = 0
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    if (!server.listening) return
    server.closeAllConnections()
    await once(server.close(), 'close')
  }
  onTestFinished(close)
  return { origin: `http://127.0.0.1:${port}`, port, close }
}

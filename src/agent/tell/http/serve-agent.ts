/** Serves the page, API, metrics and git webhook of a running agent. */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { EspalierError } from '../../../base/index.ts'
import type { AgentControl } from '../../control.ts'
import { agentMetrics } from '../metrics.ts'
import type { ListenAddress } from './access.ts'
import { liveEvents } from './live-events.ts'
import { privateRoutes, publicRoutes, type Served } from './routes.ts'

export interface ServeOptions {
  readonly listen: ListenAddress
  /** An address that serves only the health checks, the metrics and the git webhook, and requires no token. */
  readonly listenPublic?: ListenAddress
  readonly token: string
  readonly webhookSecret?: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly log: (line: string) => void
}

export interface AgentServer {
  /** For example, `http://127.0.0.1:7790`. */
  readonly url: string
  readonly publicUrl?: string
  close(): Promise<void>
}

/** @throws {EspalierError} `E_LISTEN` if the agent cannot listen on one of the addresses. */
export const serveAgent = async (
  control: AgentControl,
  { listen, listenPublic, token, ...options }: ServeOptions,
): Promise<AgentServer> => {
  const metrics = agentMetrics(control)
  const live = liveEvents(control)
  const served: Served = { control, metrics, ...options }
  const servers: Server[] = []
  const close = async (): Promise<void> => {
    live.close()
    metrics.close()
    await Promise.all(servers.map(end))
  }
  const start = async (
    routes: (host: string) => { fetch: (request: Request) => Response | Promise<Response> },
    address: ListenAddress,
  ) => {
    const app = routes(address.host)
    // Do not replace Node's global `Request` and `Response`.
    const server = await bind(
      getRequestListener((request) => app.fetch(request), { overrideGlobalObjects: false }),
      address,
    )
    servers.push(server)
    return urlOf(server, address)
  }
  try {
    const { version } = control.view()
    const url = await start((host) => privateRoutes(served, host, { token, live, version }), listen)
    if (listenPublic === undefined) return { url, close }
    return { url, publicUrl: await start((host) => publicRoutes(served, host), listenPublic), close }
  } catch (error) {
    await close()
    throw error
  }
}

const bind = async (listener: RequestListener, { host, port }: ListenAddress): Promise<Server> => {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 60_000 }, listener)
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new EspalierError('E_LISTEN', `The agent cannot listen on ${host}:${port}.`, {
      hint: 'Another program may be using it. Choose another address with --listen or --listen-public.',
      cause,
    })
  }
  return server
}

const urlOf = (server: Server, { host }: ListenAddress): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`

const end = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** Serves the page, API, metrics and git webhook of a running agent. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { isLoopback } from '../../../api/index.ts'
import { EspalierError } from '../../../base/index.ts'
import { openingOf } from '../../../model/window-opening.ts'
import { type AgentPage, agentPage, agentProjectPage, type PageFrame } from '../../../report/html/index.ts'
import type { AgentControl } from '../../control.ts'
import { type AgentMetrics, agentMetrics } from '../metrics.ts'
import {
  isAllowed,
  type ListenAddress,
  refuseOtherHosts,
  requireToken,
  securityHeaders,
  type Tokens,
} from './access.ts'
import { apiRoutes, type OpenStream, pageOf, pastApplies } from './api.ts'
import { verifyHook } from './git-hook.ts'
import { type LiveEvents, liveEvents } from './live-events.ts'

interface ServeOptions extends Pick<Served, 'now' | 'webhookSecret' | 'log'> {
  readonly listen: ListenAddress
  /** An address that serves only the health checks, the metrics and the git webhook, and requires no token. */
  readonly listenPublic?: ListenAddress
  readonly tokens: Tokens
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
  { listen, listenPublic, tokens, ...options }: ServeOptions,
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
    const url = await start((host) => privateRoutes(served, host, { tokens, live, version }), listen)
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

// All HTTP routes that the agent serves.

interface Served {
  readonly control: AgentControl
  readonly metrics: AgentMetrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** If absent, the git webhook is disabled. */
  readonly webhookSecret?: string
  /** Logs an internal error as one line. */
  readonly log: (line: string) => void
}

/** After this time, the scheduler counts as stuck. It sleeps for at most a minute, and a round delays it slightly. */
const MAX_TICK_AGE_MS = 90_000

/** The routes for probes, Prometheus and the git host, which require no token. */
const publicRoutes = (served: Served, host: string): Hono => {
  const { control, metrics, now, webhookSecret } = served
  const app = bareApp(served, host)
  app.get('/healthz', (context) => {
    const age = control.idleMs
    // The probe does not check git or the service, because an outage of either must not cause a restart loop.
    return age <= MAX_TICK_AGE_MS
      ? context.text('ok\n')
      : context.text(`The scheduler last ran ${Math.round(age / 1_000)} s ago.\n`, 503)
  })
  app.get('/readyz', (context) =>
    control.view().source.version === undefined
      ? context.text('The manifests have not been read yet.\n', 503)
      : context.text('ok\n'),
  )
  app.get('/metrics', async (context) =>
    context.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
  app.post('/hooks/git', async (context) => {
    if (webhookSecret === undefined) return context.notFound()
    switch (await verifyHook(context.req.raw, webhookSecret, now())) {
      case 'too-large':
        return context.text('The webhook body is larger than 25 MiB.\n', 413)
      case 'not-signed':
        return context.text('The webhook signature is missing or invalid.\n', 401)
      case 'signed':
        control.fetchSoon()
        return context.body(null, 204)
    }
  })
  return app
}

const privateRoutes = (
  served: Served,
  host: string,
  { tokens, live, version }: { readonly tokens: Tokens; readonly live: LiveEvents; readonly version: string },
): Hono => {
  const { control, now } = served
  const frame: PageFrame = {
    version,
    sha256: (text) => createHash('sha256').update(text).digest('base64'),
    home: '/',
  }
  const app = bareApp(served, host)
  const alsoForReading = !isLoopback(host)
  const guard = requireToken(tokens, { alsoForReading })
  app.use('*', (context, next) => (context.req.path === '/hooks/git' ? next() : guard(context, next)))
  app.get('/', (context) => {
    const { q = '', state = '', page = '' } = context.req.query()
    return context.html(agentPage(withLocalTimes(control, now()), frame, { q, state, page: pageOf(page) }))
  })
  app.get('/projects/:id', async (context) => {
    const id = context.req.param('id')
    const { source, projects } = withLocalTimes(control, now())
    const project = projects.find((one) => one.id === id)
    if (project === undefined) return context.notFound()
    const history = pastApplies(await control.historyOf(id), context.req.query('page'))
    return context.html(agentProjectPage({ source, project, plan: control.planOf(id), history }, frame))
  })
  const openStream: OpenStream = (authorization) =>
    live.open(() => !alsoForReading || isAllowed(authorization, true, tokens))
  app.route('/api/v1', apiRoutes(control, openStream, now))
  app.route('/', publicRoutes(served, host))
  return app
}

/** The data for the page. Each window's opening time is also given in the time zone of the window. */
const withLocalTimes = (control: AgentControl, now: number): AgentPage => {
  const view = control.view()
  const projects = view.projects.map((project) => {
    const { id, windowOpensAt } = project
    if (windowOpensAt === undefined) return { ...project, now }
    const openings = (control.planOf(id)?.steps ?? []).flatMap(({ windows = [] }) =>
      windows.length === 0 ? [] : [openingOf(windows, now)],
    )
    const same = openings.find(({ opensAt = '' }) => Date.parse(opensAt) === Date.parse(windowOpensAt))
    return { ...project, now, windowOpensLocally: same?.opensLocally }
  })
  return { ...view, projects, now }
}

const bareApp = ({ log }: Served, host: string): Hono => {
  const app = new Hono()
  app.use('*', securityHeaders)
  if (isLoopback(host)) app.use('*', refuseOtherHosts)
  app.notFound((context) => context.text('Not found.\n', 404))
  app.onError((error, context) => {
    log(`${context.req.method} ${context.req.path}: ${error.stack ?? error.message}`)
    return context.text("This is a bug in Espalier. See the agent's log.\n", 500)
  })
  return app
}

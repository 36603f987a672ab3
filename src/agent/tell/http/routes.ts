/** All HTTP routes that the agent serves. */
import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { openingOf } from '../../../model/window-opening.ts'
import { type AgentPage, agentPage, type PageFrame, planPage } from '../../../report/html/index.ts'
import type { AgentControl } from '../../control.ts'
import type { AgentMetrics } from '../metrics.ts'
import { isLoopback, refuseOtherHosts, requireToken, securityHeaders } from './access.ts'
import { apiRoutes } from './api.ts'
import { verifyHook } from './git-hook.ts'
import type { LiveEvents } from './live-events.ts'

export interface Served {
  readonly control: AgentControl
  readonly metrics: AgentMetrics
  readonly now: () => number
  /** If absent, the git webhook is disabled. */
  readonly webhookSecret?: string
  /** Logs an internal error as one line. */
  readonly log: (line: string) => void
}

/** After this time, the scheduler counts as stuck. It sleeps for at most a minute, and a round delays it slightly. */
const MAX_TICK_AGE_MS = 90_000

/** The routes for probes, Prometheus and the git host, which require no token. */
export const publicRoutes = (served: Served, host: string): Hono => {
  const { control, metrics, now, webhookSecret } = served
  const app = bareApp(served, host)
  app.get('/healthz', (context) => {
    const age = now() - Date.parse(control.view().tickedAt)
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

export const privateRoutes = (
  served: Served,
  host: string,
  { token, live, version }: { readonly token: string; readonly live: LiveEvents; readonly version: string },
): Hono => {
  const { control, now } = served
  const frame: PageFrame = {
    version,
    sha256: (text) => createHash('sha256').update(text).digest('base64'),
    home: '/',
  }
  const app = bareApp(served, host)
  const guard = requireToken(token, { alsoForReading: !isLoopback(host) })
  app.use('*', (context, next) => (context.req.path === '/hooks/git' ? next() : guard(context, next)))
  app.get('/', (context) => context.html(agentPage(withLocalTimes(control, now()), frame)))
  app.get('/projects/:id', (context) => {
    const id = context.req.param('id')
    const project = control.view().projects.find((one) => one.id === id)
    if (project === undefined) return context.notFound()
    const plan = control.planOf(id)
    if (plan === undefined) return context.text('The project has not been planned yet.\n', 404)
    return context.html(planPage(plan, { ...frame, takenAt: project.refreshedAt }))
  })
  app.route('/api/v1', apiRoutes(control, live, now))
  app.route('/', publicRoutes(served, host))
  return app
}

/** The data for the page. Each window's opening time is also given in the time zone of the window. */
const withLocalTimes = (control: AgentControl, now: number): AgentPage => {
  const view = control.view()
  const projects = view.projects.map((project) => {
    const { id, windowOpensAt } = project
    if (windowOpensAt === undefined) return project
    const openings = (control.planOf(id)?.steps ?? []).flatMap(({ windows = [] }) =>
      windows.length === 0 ? [] : [openingOf(windows, now)],
    )
    const same = openings.find(({ opensAt = '' }) => Date.parse(opensAt) === Date.parse(windowOpensAt))
    return { ...project, windowOpensLocally: same?.opensLocally }
  })
  return { ...view, projects }
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

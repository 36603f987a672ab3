/** The routes of the API (docs/reference/control-api.md). */
import { randomUUID } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { ControlParts } from '../control/control.ts'
import { record } from '../control/recorder.ts'
import { ApiError } from '../world/requests.ts'
import type { ProjectTables } from '../world/tables.ts'
import { accountRoutes, keyRoutes } from './account.ts'
import { branchRoutes } from './branches.ts'
import { catalogRoutes, schemaRoutes } from './catalog.ts'
import { computeRoutes } from './computes.ts'
import { injectFaults, limitRates } from './faults.ts'
import { checkProject, identify, identityOf } from './identity.ts'
import { projectRoutes } from './projects.ts'
import { limitBody, watchIgnored } from './request.ts'
import { sqlRoute } from './sql.ts'

export const API_ROOT = '/api/v2'
/** Path segments that can follow `/projects/` and are not the id of a project. */
const NO_PROJECTS: ReadonlySet<string> = new Set(['shared', 'auth'])
/**
 * Features that the sandbox does not have. Reading them returns 404 rather than 501, because clients use these routes to
 * find out whether a feature is enabled, and expect 404 if it is not.
 */
const FEATURE = /^\/projects\/[^/]+\/branches\/[^/]+\/(auth|data-api\/[^/]+)$/
const MAX_BODY_BYTES = 1024 * 1024
const UNSERVED = 'NOT_SERVED_BY_SANDBOX'
const REQUEST_ID = 'x-neon-ret-request-id'

interface AppOptions extends ControlParts {
  readonly apiKey: string
  readonly rateLimits: boolean
  readonly onProject: (tables: ProjectTables) => void
  /** Called after each response. */
  readonly onRequest: (method: string, path: string, status: number) => void
  readonly log: (line: string) => void
}

export const createApp = ({ world, computes, faults, recorded, apiKey, ...options }: AppOptions): Hono => {
  const { rateLimits, onProject, onRequest, log } = options
  const app = new Hono()
  app.use('*', async (context, next) => {
    context.header(REQUEST_ID, requestIdOf(context))
    context.header('date', new Date(world.clock.now()).toUTCString())
    await next()
    onRequest(context.req.method, context.req.path, context.res.status)
  })
  app.onError((error, context) => {
    if (error instanceof ApiError) return respond(context, error)
    for (const line of (error.stack ?? error.message).split('\n')) log(`bug  ${line}`)
    return respond(context, new ApiError(500, 'internal server error'))
  })
  app.notFound((context) => respond(context, unserved(context, app)))

  // No key is needed to read the description of the API.
  for (const path of ['/openapi.json', `${API_ROOT}/openapi.json`]) {
    app.get(path, async (context) => {
      const { default: document } = await import('../generated/openapi.json', { with: { type: 'json' } })
      return context.json(document)
    })
  }

  // When each key was last used, by its digest. These times are not stored, because each request would need a write.
  const keyUse = new Map<string, number>()
  sqlRoute(app, computes)

  const api = app.basePath(API_ROOT)
  api.use('*', limitBody(MAX_BODY_BYTES))
  api.use('*', record(recorded, world.clock, API_ROOT))
  api.use('*', injectFaults(faults, world, API_ROOT))
  // This follows `injectFaults`, so that responses are published before a fault changes them.
  api.use('*', publishResponse)
  api.use('*', watchIgnored(log))
  api.use('*', identify(world, apiKey, keyUse))
  if (rateLimits) api.use('*', limitRates(world.clock))
  api.use('/projects/:project/*', async (context, next) => {
    const id = context.req.param('project')
    const tables = world.tables.projects.get(id)
    if (!NO_PROJECTS.has(id)) checkProject(identityOf(context), id, world)
    if (tables !== undefined) onProject(tables)
    await next()
  })
  accountRoutes(api, world)
  keyRoutes(api, world, keyUse)
  projectRoutes(api, world, computes)
  branchRoutes(api, world, computes)
  catalogRoutes(api, world, computes)
  schemaRoutes(api, world, computes)
  computeRoutes(api, world, computes)
  return app
}

const responses = channel('espalier:sandbox:response')

/** Publishes responses, so that tests can check each of them against the OpenAPI document. */
const publishResponse: MiddlewareHandler = async (context, next) => {
  await next()
  if (!responses.hasSubscribers) return
  const { method, path } = context.req
  const text = await context.res.clone().text()
  const body: unknown = text === '' ? undefined : JSON.parse(text)
  responses.publish({ method, path: path.slice(API_ROOT.length), status: context.res.status, body })
}

/** The request id that the client sent, otherwise a new one (public OpenAPI). It is also in the body of every error. */
const requestIdOf = (context: Context): string => {
  const given = context.req.header('x-request-id')
  const id = given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()
  context.set('requestId', id)
  return id
}

/** The error for a request that no route serves. */
const unserved = (context: Context, app: Hono): ApiError => {
  const { method, path: whole } = context.req
  if (!whole.startsWith(`${API_ROOT}/`)) return new ApiError(404, 'this route does not exist')
  const path = whole.slice(API_ROOT.length)
  const allowed = app.routes.flatMap((route) =>
    route.method !== 'ALL' && matches(route.path, whole) ? route.method : [],
  )
  if (allowed.length > 0) {
    context.header('allow', allowed.join(', '))
    return new ApiError(405, `this route does not support ${method}, only ${allowed.join(', ')}`)
  }
  if (method === 'GET' && FEATURE.test(path)) {
    return new ApiError(404, 'this feature is not enabled; it is not available in the sandbox')
  }
  return new ApiError(
    501,
    `not available in Espalier's sandbox: ${method} ${path}. GET /openapi.json lists the available routes`,
    UNSERVED,
  )
}

/** @param route such as `/projects/:project`. */
const matches = (route: string, path: string): boolean =>
  new RegExp(`^${route.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`).test(path)

const respond = (context: Context, { status, code, message }: ApiError): Response =>
  context.json({ request_id: context.get('requestId'), code, message }, status)

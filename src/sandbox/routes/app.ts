/** The API's routes over the world (spec 4; what it does not show is in docs/control-api.md). */
import { randomUUID, timingSafeEqual } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { createBranch } from '../world/branch-commands.ts'
import {
  type ComputeAnswer,
  createCompute,
  deleteCompute,
  restartCompute,
  startCompute,
  suspendCompute,
  updateCompute,
} from '../world/compute-commands.ts'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'
import { branchBody, createBody, readBody, updateBody } from './body.ts'
import { operationPage, readLimit } from './paging.ts'
import { presentBranch, presentCompute, presentOperation, presentProject } from './present.ts'

export const API_ROOT = '/api/v2'

export interface AppOptions {
  readonly world: World
  readonly apiKey: string
  /** Told of each request once it is answered. */
  readonly onRequest: (method: string, path: string, status: number) => void
}

export const createApp = ({ world, apiKey, onRequest }: AppOptions): Hono => {
  const app = new Hono()

  app.use('*', async (context, next) => {
    context.header('x-neon-ret-request-id', context.req.header('x-request-id') ?? randomUUID())
    await next()
    onRequest(context.req.method, context.req.path, context.res.status)
  })
  app.onError((error, context) => refuse(context, error))
  app.notFound((context) => refuse(context, new Refusal(404, 'this route does not exist')))

  const api = app.basePath(API_ROOT)
  api.use('*', async (context, next) => {
    if (!isAuthorized(context.req.header('authorization'), apiKey)) {
      throw new Refusal(401, 'supplied credentials do not pass authentication')
    }
    await next()
  })

  const answer = (context: Context, { compute, operations }: ComputeAnswer, status: 200 | 201 = 200): Response =>
    context.json(
      {
        endpoint: presentCompute(compute, world.project(compute.projectId).project),
        operations: operations.map(presentOperation),
      },
      status,
    )

  api.get('/projects', (context) => {
    const limit = readLimit(context.req.query('limit'), 400, 10)
    const cursor = context.req.query('cursor')
    const ids = [...world.tables.projects.keys()].sort()
    const from = cursor === undefined || cursor === '' ? 0 : ids.findIndex((id) => id > cursor)
    const page = from < 0 ? [] : ids.slice(from, from + limit)
    return context.json({
      projects: page.map((id) => presentProject(world.project(id).project)),
      pagination: { cursor: page.at(-1) ?? cursor ?? '' },
      applications: {},
      integrations: {},
    })
  })
  api.get('/projects/:project', (context) =>
    context.json({ project: presentProject(world.project(context.req.param('project')).project) }),
  )

  api.get('/projects/:project/branches', (context) => {
    const limit = readLimit(context.req.query('limit'), 10_000, 10_000)
    const { branches } = world.project(context.req.param('project'))
    const all = [...branches.values()]
    const from = Math.max(0, Number(context.req.query('cursor') ?? 0) || 0)
    const page = all.slice(from, from + limit)
    const next = from + page.length < all.length ? { next: String(from + page.length) } : {}
    return context.json({
      branches: page.map(presentBranch),
      annotations: {},
      pagination: { ...next, sort_by: 'updated_at', sort_order: 'DESC' },
    })
  })
  api.post('/projects/:project/branches', async (context) => {
    const { branch, endpoints } = await readBody(context, branchBody)
    const made = createBranch(world, context.req.param('project'), branch, endpoints)
    const { project } = world.project(context.req.param('project'))
    return context.json(
      {
        branch: presentBranch(made.branch),
        endpoints: made.computes.map((compute) => presentCompute(compute, project)),
        operations: made.operations.map(presentOperation),
        roles: [],
        databases: [],
      },
      201,
    )
  })
  api.get('/projects/:project/branches/:branch', (context) => {
    const branch = world.project(context.req.param('project')).branches.get(context.req.param('branch'))
    if (branch === undefined) throw new Refusal(404, 'branch not found')
    return context.json({ branch: presentBranch(branch) })
  })
  api.get('/projects/:project/branches/:branch/endpoints', (context) => {
    const { project, branches, computes } = world.project(context.req.param('project'))
    const id = context.req.param('branch')
    if (!branches.has(id)) throw new Refusal(404, 'branch not found')
    const own = [...computes.values()].filter(({ branchId }) => branchId === id)
    return context.json({ endpoints: own.map((compute) => presentCompute(compute, project)) })
  })

  api.get('/projects/:project/endpoints', (context) => {
    const { project, computes } = world.project(context.req.param('project'))
    return context.json({ endpoints: Array.from(computes.values(), (compute) => presentCompute(compute, project)) })
  })
  api.post('/projects/:project/endpoints', async (context) => {
    const { endpoint } = await readBody(context, createBody)
    return answer(context, createCompute(world, context.req.param('project'), endpoint), 201)
  })
  api.get('/projects/:project/endpoints/:compute', (context) => {
    const { project, compute } = context.req.param()
    return context.json({ endpoint: presentCompute(world.compute(project, compute), world.project(project).project) })
  })
  api.patch('/projects/:project/endpoints/:compute', async (context) => {
    const { endpoint } = await readBody(context, updateBody)
    const { project, compute } = context.req.param()
    return answer(context, updateCompute(world, project, compute, endpoint))
  })
  api.delete('/projects/:project/endpoints/:compute', (context) => {
    const { project, compute } = context.req.param()
    const deleted = deleteCompute(world, project, compute)
    return deleted === undefined ? context.body(null, 204) : answer(context, deleted)
  })
  for (const [name, command] of Object.entries({
    start: startCompute,
    suspend: suspendCompute,
    restart: restartCompute,
  })) {
    api.post(`/projects/:project/endpoints/:compute/${name}`, (context) => {
      const { project = '', compute = '' } = context.req.param() as Record<string, string>
      return answer(context, command(world, project, compute))
    })
  }

  api.get('/projects/:project/operations', (context) => {
    const limit = readLimit(context.req.query('limit'), 1_000)
    const page = operationPage(world.project(context.req.param('project')), limit, context.req.query('cursor'))
    return context.json({ operations: page.operations.map(presentOperation), pagination: { cursor: page.cursor } })
  })
  api.get('/projects/:project/operations/:operation', (context) => {
    const { project, operation } = context.req.param()
    const found = world.project(project).operationById.get(operation)
    if (found === undefined) throw new Refusal(404, 'operation not found')
    return context.json({ operation: presentOperation(found) })
  })
  return app
}

const refuse = (context: Context, error: unknown): Response => {
  const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal server error')
  const requestId = context.res.headers.get('x-neon-ret-request-id') ?? randomUUID()
  return context.json({ request_id: requestId, code: refusal.code, message: refusal.message }, refusal.status as 400)
}

const isAuthorized = (header: string | undefined, apiKey: string): boolean => {
  const given = Buffer.from(header ?? '')
  const wanted = Buffer.from(`Bearer ${apiKey}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

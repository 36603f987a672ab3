import type { Context, Hono } from 'hono'
import type { Computes } from '../computes/computes.ts'
import {
  type ComputeAnswer,
  createCompute,
  deleteCompute,
  restartCompute,
  startCompute,
  suspendCompute,
  updateCompute,
} from '../world/compute-commands.ts'
import { ApiError, createBody, updateBody } from '../world/requests.ts'
import { computesOf } from '../world/tables.ts'
import type { World } from '../world/world.ts'
import { listed, suspendsOnDelete, withoutIgnored } from './faults.ts'
import { presentCompute, presentOperation } from './present.ts'
import { readBody } from './request.ts'

const TRANSITIONS = { start: startCompute, suspend: suspendCompute, restart: restartCompute } as const

export const computeRoutes = (api: Hono, world: World, computes: Computes): void => {
  const answer = (context: Context, { compute, operations }: ComputeAnswer, status: 200 | 201 = 200): Response =>
    context.json(
      {
        endpoint: presentCompute(compute, world.project(compute.projectId).project),
        operations: operations.map(presentOperation),
      },
      status,
    )

  api.get('/projects/:project/endpoints', (context) => {
    const { project, computes } = listed(context, world, world.project(context.req.param('project')))
    return context.json({ endpoints: Array.from(computes.values(), (compute) => presentCompute(compute, project)) })
  })
  api.get('/projects/:project/branches/:branch/endpoints', (context) => {
    const tables = listed(context, world, world.project(context.req.param('project')))
    const id = context.req.param('branch')
    if (!tables.branches.has(id)) throw new ApiError(404, 'branch not found')
    return context.json({ endpoints: computesOf(tables, id).map((compute) => presentCompute(compute, tables.project)) })
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
    return answer(context, updateCompute(world, project, compute, withoutIgnored(context, endpoint)))
  })
  api.delete('/projects/:project/endpoints/:compute', async (context) => {
    const { project, compute } = context.req.param()
    const deleted = deleteCompute(world, project, compute, suspendsOnDelete(context))
    if (deleted === undefined) return context.body(null, 204)
    // Without an operation to wait for, the client expects that the compute has stopped.
    if (deleted.operations.length === 0) await computes.forget(compute)
    return answer(context, deleted)
  })
  for (const [name, command] of Object.entries(TRANSITIONS)) {
    api.on('POST', `/projects/:project/endpoints/:compute/${name}`, (context) =>
      answer(context, command(world, context.req.param('project') ?? '', context.req.param('compute') ?? '')),
    )
  }
}

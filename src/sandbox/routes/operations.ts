import type { Hono } from 'hono'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'
import { operationPage } from './paging.ts'
import { presentOperation } from './present.ts'
import { operationsQuery, readQuery } from './query.ts'
import { listed } from './stale-reads.ts'

export const operationRoutes = (api: Hono, world: World): void => {
  api.get('/projects/:project/operations', (context) => {
    const { operations, cursor } = operationPage(
      listed(context, world, context.req.param('project')),
      readQuery(context, operationsQuery),
    )
    return context.json({ operations: operations.map(presentOperation), pagination: { cursor } })
  })
  api.get('/projects/:project/operations/:operation', (context) => {
    const { project, operation } = context.req.param()
    const found = world.project(project).operationById.get(operation)
    if (found === undefined) throw new Refusal(404, 'operation not found')
    return context.json({ operation: presentOperation(found) })
  })
}

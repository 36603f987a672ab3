import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Computes } from '../computes/computes.ts'
import { findBranch } from '../world/branch-commands.ts'
import { catalogOf } from '../world/catalog.ts'
import {
  createDatabase,
  type DatabaseAnswer,
  deleteDatabase,
  findDatabase,
  updateDatabase,
} from '../world/catalog-commands.ts'
import { sqlName } from '../world/project-request.ts'
import type { World } from '../world/world.ts'
import { readBody } from './body.ts'
import { presentDatabase, presentOperation } from './present.ts'
import { refreshBefore } from './roles.ts'

const newDatabase = z.object({ database: z.object({ name: sqlName, owner_name: z.string() }) })
const changedDatabase = z.object({
  database: z.object({ name: sqlName.optional(), owner_name: z.string().optional() }),
})

export const databaseRoutes = (api: Hono, world: World, computes: Computes): void => {
  const answer = (context: Context, { database, operations }: DatabaseAnswer, status: 200 | 201): Response =>
    context.json(
      {
        database: presentDatabase(database, context.req.param('branch') ?? ''),
        operations: operations.map(presentOperation),
      },
      status,
    )

  const DATABASES = '/projects/:project/branches/:branch/databases'
  refreshBefore(api, DATABASES, world, computes)
  api.get(DATABASES, async (context) => {
    const { project, branch } = context.req.param()
    const { databases } = catalogOf(findBranch(world, project, branch))
    return context.json({ databases: databases.map((database) => presentDatabase(database, branch)) })
  })
  api.post(DATABASES, async (context) => {
    const { database } = await readBody(context, newDatabase)
    const at = context.req.param()
    return answer(context, createDatabase(world, at, database), 201)
  })
  api.get(`${DATABASES}/:database`, async (context) => {
    const { database, ...at } = context.req.param()
    return context.json({ database: presentDatabase(findDatabase(world, at, database), at.branch) })
  })
  api.patch(`${DATABASES}/:database`, async (context) => {
    const { database: asked } = await readBody(context, changedDatabase)
    const { database, ...at } = context.req.param()
    return answer(context, updateDatabase(world, at, database, asked), 200)
  })
  api.delete(`${DATABASES}/:database`, async (context) => {
    const { database, ...at } = context.req.param()
    const deleted = deleteDatabase(world, at, database)
    return deleted === undefined ? context.body(null, 204) : answer(context, deleted, 200)
  })
}

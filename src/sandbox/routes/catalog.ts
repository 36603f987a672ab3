/** Roles, databases and connection strings of branches. */
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Computes } from '../computes/computes.ts'
import { catalogOf, connectionTo, defaultLogin, hostOf, poolerHostOf, refreshCatalog } from '../world/catalog.ts'
import {
  createDatabase,
  createRole,
  type DatabaseAnswer,
  deleteDatabase,
  deleteRole,
  findDatabase,
  findRole,
  passwordOf,
  type RoleAnswer,
  resetPassword,
  updateDatabase,
} from '../world/catalog-commands.ts'
import type { BranchRecord, ComputeRecord, ProjectRecord } from '../world/records.ts'
import { ApiError, sqlName } from '../world/requests.ts'
import { defaultBranch, primaryOf } from '../world/tables.ts'
import type { World } from '../world/world.ts'
import { presentDatabase, presentOperation, presentRole } from './present.ts'
import { flag, readBody, readQuery } from './request.ts'

const ROLES = '/projects/:project/branches/:branch/roles'
const DATABASES = '/projects/:project/branches/:branch/databases'

const newRole = z.object({ role: z.object({ name: sqlName, no_login: z.boolean().optional() }) })
const newDatabase = z.object({ database: z.object({ name: sqlName, owner_name: z.string() }) })
const changedDatabase = z.object({ database: newDatabase.shape.database.partial() })
const uriQuery = z.object({
  branch_id: z.string().optional(),
  endpoint_id: z.string().optional(),
  database_name: z.string(),
  role_name: z.string(),
  pooled: flag.default(false),
})

export const catalogRoutes = (api: Hono, world: World, computes: Computes): void => {
  for (const path of [ROLES, DATABASES]) {
    api.use(`${path}/*`, async (context, next) => {
      await refreshCatalog(world, computes, context.req.param('branch') ?? '')
      await next()
    })
  }
  roleRoutes(api, world)
  databaseRoutes(api, world)
  api.get('/projects/:project/connection_uri', async (context) => {
    const id = context.req.param('project')
    const requested = readQuery(context, uriQuery)
    const compute = chooseCompute(world, id, requested)
    const at = { project: id, branch: compute.branchId }
    await refreshCatalog(world, computes, compute.branchId)
    const role = findRole(world, at, requested.role_name)
    const { name: database } = findDatabase(world, at, requested.database_name)
    const login = { user: role.name, password: passwordOf(role), database }
    const { uri, pooledUri } = await connectionTo(compute, world.project(id).project, computes, login)
    return context.json({ uri: requested.pooled ? pooledUri : uri })
  })
}

const roleRoutes = (api: Hono, world: World): void => {
  const answer = (context: Context, { role, operations }: RoleAnswer, status: 200 | 201, isNew: boolean): Response =>
    context.json(
      {
        role: presentRole(role, context.req.param('branch') ?? '', isNew),
        operations: operations.map(presentOperation),
      },
      status,
    )

  api.get(ROLES, (context) => {
    const { project, branch } = context.req.param()
    const { roles } = catalogOf(world.branch(project, branch))
    return context.json({ roles: roles.map((role) => presentRole(role, branch)) })
  })
  api.post(ROLES, async (context) => {
    const { role } = await readBody(context, newRole)
    return answer(context, createRole(world, context.req.param(), role.name, role.no_login !== true), 201, true)
  })
  api.get(`${ROLES}/:role`, (context) => {
    const { role, ...at } = context.req.param()
    return context.json({ role: presentRole(findRole(world, at, role), at.branch) })
  })
  api.delete(`${ROLES}/:role`, (context) => {
    const { role, ...at } = context.req.param()
    const deleted = deleteRole(world, at, role)
    return deleted === undefined ? context.body(null, 204) : answer(context, deleted, 200, false)
  })
  api.get(`${ROLES}/:role/reveal_password`, (context) => {
    const { role, ...at } = context.req.param()
    return context.json({ password: passwordOf(findRole(world, at, role)) })
  })
  api.post(`${ROLES}/:role/reset_password`, (context) => {
    const { role, ...at } = context.req.param()
    return answer(context, resetPassword(world, at, role), 200, true)
  })
}

const databaseRoutes = (api: Hono, world: World): void => {
  const answer = (context: Context, { database, operations }: DatabaseAnswer, status: 200 | 201): Response =>
    context.json(
      {
        database: presentDatabase(database, context.req.param('branch') ?? ''),
        operations: operations.map(presentOperation),
      },
      status,
    )

  api.get(DATABASES, (context) => {
    const { project, branch } = context.req.param()
    const { databases } = catalogOf(world.branch(project, branch))
    return context.json({ databases: databases.map((database) => presentDatabase(database, branch)) })
  })
  api.post(DATABASES, async (context) => {
    const { database } = await readBody(context, newDatabase)
    return answer(context, createDatabase(world, context.req.param(), database), 201)
  })
  api.get(`${DATABASES}/:database`, (context) => {
    const { database, ...at } = context.req.param()
    return context.json({ database: presentDatabase(findDatabase(world, at, database), at.branch) })
  })
  api.patch(`${DATABASES}/:database`, async (context) => {
    const { database: requested } = await readBody(context, changedDatabase)
    const { database, ...at } = context.req.param()
    return answer(context, updateDatabase(world, at, database, requested), 200)
  })
  api.delete(`${DATABASES}/:database`, (context) => {
    const { database, ...at } = context.req.param()
    const deleted = deleteDatabase(world, at, database)
    return deleted === undefined ? context.body(null, 204) : answer(context, deleted, 200)
  })
}

/** The requested compute. Defaults to the primary of the given branch or of the default branch (public OpenAPI). */
const chooseCompute = (
  world: World,
  id: string,
  { branch_id, endpoint_id }: z.output<typeof uriQuery>,
): ComputeRecord => {
  const tables = world.project(id)
  if (endpoint_id !== undefined) {
    const named = world.compute(id, endpoint_id)
    if (branch_id === undefined || named.branchId === branch_id) return named
    throw new ApiError(400, `endpoint_id: ${endpoint_id} is not a compute of the branch ${branch_id}`)
  }
  const branch = world.branch(id, branch_id ?? defaultBranch(tables.branches)?.id ?? '')
  const primary = primaryOf(tables, branch.id)
  if (primary === undefined) throw new ApiError(404, `the branch ${branch.name} has no read_write endpoint`)
  return primary
}

/**
 * The roles, databases and connection strings in the response to a request that creates a branch.
 *
 * There is a connection string only if the branch has a compute, exactly one role and exactly one database (public
 * OpenAPI).
 */
export const catalogAnswer = async (
  branch: BranchRecord,
  compute: ComputeRecord | undefined,
  project: ProjectRecord,
  computes: Computes,
) => {
  const { roles, databases } = catalogOf(branch)
  const login = roles.length === 1 && databases.length === 1 ? defaultLogin(branch) : undefined
  return {
    roles: roles.map((role) => presentRole(role, branch.id, true)),
    databases: databases.map((database) => presentDatabase(database, branch.id)),
    connection_uris:
      compute === undefined || login === undefined
        ? []
        : [
            {
              connection_uri: (await connectionTo(compute, project, computes, login)).uri,
              connection_parameters: {
                database: login.database,
                password: login.password,
                role: login.user,
                host: hostOf(compute, project),
                pooler_host: poolerHostOf(compute, project),
              },
            },
          ],
  }
}

/** Roles, databases, connection strings and schemas of branches. */

import { createTwoFilesPatch } from 'diff'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import {
  ADMIN_SHUTDOWN,
  type Computes,
  ConnectionError,
  FEATURE_NOT_SUPPORTED,
  POOLER_MISSING,
} from '../computes/computes.ts'
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
      await refreshCatalog(world, computes, context.req.param('branch') ?? '', context.req.method !== 'GET')
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
    if (requested.pooled && pooledUri === undefined) {
      throw new ApiError(422, `${POOLER_MISSING}: install it, or set pooled to false`, 'POOLER_NOT_INSTALLED')
    }
    return context.json({ uri: requested.pooled ? pooledUri : uri })
  })
}

/** @param isNew whether to show the password of the role. Without an answer, there was nothing to delete. */
const answer = (
  context: Context,
  made: RoleAnswer | DatabaseAnswer | undefined,
  status: 200 | 201,
  isNew = false,
): Response => {
  if (made === undefined) return context.body(null, 204)
  const branch = context.req.param('branch') ?? ''
  const operations = made.operations.map(presentOperation)
  const shown =
    'role' in made
      ? { role: presentRole(made.role, branch, isNew), operations }
      : { database: presentDatabase(made.database, branch), operations }
  return context.json(shown, status)
}

const roleRoutes = (api: Hono, world: World): void => {
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
    return answer(context, deleteRole(world, at, role), 200)
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
    return answer(context, deleteDatabase(world, at, database), 200)
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

// The schema of a branch as SQL, and the differences between the schemas of two branches.

const NOT_HERE = 'NOT_SERVED_BY_SANDBOX'
const past = z.undefined({ error: 'is not supported by the sandbox, which shows the current schema only' }).optional()

const schemaQuery = z.object({
  db_name: z.string(),
  lsn: past,
  timestamp: past,
  format: z.literal('sql', { error: 'must be `sql`: the sandbox has no other format' }).optional(),
})
const compareQuery = z.object({
  db_name: z.string(),
  base_branch_id: z.string().optional(),
  lsn: past,
  timestamp: past,
  base_lsn: past,
  base_timestamp: past,
})

export const schemaRoutes = (api: Hono, world: World, computes: Computes): void => {
  const dump = async (context: Context, branch: BranchRecord, database: string): Promise<string> => {
    const { project } = context.req.param() as { readonly project: string }
    await refreshCatalog(world, computes, branch.id)
    const at = { project, branch: branch.id }
    // Log in as the owner of the database, so that code in the database runs only with the owner's privileges.
    const { owner: user } = findDatabase(world, at, database)
    const login = { user, password: passwordOf(findRole(world, at, user)), database }
    const compute = primaryOf(world.project(project), branch.id)
    if (compute === undefined) throw new ApiError(422, `the branch ${branch.name} has no read_write endpoint`)
    const text = await orApiError(computes.dumpSchema?.(compute.id, login))
    if (text !== undefined) return text
    throw new ApiError(501, 'the sandbox simulates this compute, so its databases have no schema', NOT_HERE)
  }

  api.get('/projects/:project/branches/:branch/schema', async (context) => {
    const { db_name } = readQuery(context, schemaQuery)
    const { project, branch } = context.req.param()
    return context.json({ sql: await dump(context, world.branch(project, branch), db_name) })
  })
  api.get('/projects/:project/branches/:branch/compare_schema', async (context) => {
    const { db_name, base_branch_id } = readQuery(context, compareQuery)
    const { project, branch: id } = context.req.param()
    const branch = world.branch(project, id)
    const baseId = base_branch_id ?? branch.parentId
    if (baseId === undefined) throw new ApiError(400, 'base_branch_id: is required for a branch without a parent')
    const base = world.branch(project, baseId)
    const before = await dump(context, base, db_name)
    const after = await dump(context, branch, db_name)
    return context.json({
      diff: before === after ? '' : createTwoFilesPatch(db_name, db_name, before, after, base.name, branch.name),
    })
  })
}

const orApiError = async (dumping: Promise<string> | undefined): Promise<string | undefined> => {
  try {
    return await dumping
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw new ApiError(422, firstLine(error))
    if (error.sqlState === FEATURE_NOT_SUPPORTED) throw new ApiError(501, error.message, NOT_HERE)
    throw new ApiError(error.sqlState === ADMIN_SHUTDOWN ? 423 : 422, error.message, error.sqlState)
  }
}

/** The first line that pg_dump printed. The other lines only repeat the command. */
const firstLine = (error: unknown): string => {
  const printed = String(error instanceof Error && 'stderr' in error ? error.stderr : error)
  return printed.split('\n')[0] ?? 'pg_dump failed'
}

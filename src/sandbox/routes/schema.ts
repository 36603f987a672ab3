/** The schema of a branch as SQL, and the differences between the schemas of two branches. */
import { createTwoFilesPatch } from 'diff'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { type Computes, ConnectionError, FEATURE_NOT_SUPPORTED } from '../computes/computes.ts'
import { refreshCatalog } from '../world/catalog.ts'
import { findDatabase, findRole, passwordOf } from '../world/catalog-commands.ts'
import type { BranchRecord } from '../world/records.ts'
import { ApiError } from '../world/requests.ts'
import { primaryOf } from '../world/tables.ts'
import type { World } from '../world/world.ts'
import { readQuery } from './request.ts'

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
    const text = await orApiError(computes.dumpSchema(compute.id, login))
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
    throw new ApiError(422, error.message, error.sqlState)
  }
}

/** The first line that pg_dump printed. The other lines only repeat the command. */
const firstLine = (error: unknown): string => {
  const printed = String(error instanceof Error && 'stderr' in error ? error.stderr : error)
  return printed.split('\n')[0] ?? 'pg_dump failed'
}

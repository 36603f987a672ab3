import type { Hono } from 'hono'
import { z } from 'zod'
import type { Computes } from '../computes/computes.ts'
import { findBranch } from '../world/branch-commands.ts'
import { findDatabase, findRole } from '../world/catalog-commands.ts'
import { connectionTo } from '../world/connection.ts'
import type { ComputeRecord } from '../world/records.ts'
import { Refusal } from '../world/refusal.ts'
import { defaultBranch, primaryOf } from '../world/tables.ts'
import { refreshCatalog } from '../world/update-catalog.ts'
import type { World } from '../world/world.ts'
import { flag, readQuery } from './query.ts'

const query = z.object({
  branch_id: z.string().optional(),
  endpoint_id: z.string().optional(),
  database_name: z.string(),
  role_name: z.string(),
  pooled: flag.default(false),
})

export const connectionUriRoute = (api: Hono, world: World, computes: Computes): void => {
  api.get('/projects/:project/connection_uri', async (context) => {
    const id = context.req.param('project')
    const asked = readQuery(context, query)
    const compute = chooseCompute(world, id, asked)
    const at = { project: id, branch: compute.branchId }
    await refreshCatalog(world, computes, compute.branchId)
    const { name: user, password } = findRole(world, at, asked.role_name)
    const { name: database } = findDatabase(world, at, asked.database_name)
    if (password === undefined) {
      throw new Refusal(412, `the password of ${user} is not stored: reset it to get one that is`)
    }
    const { project } = world.project(id)
    const { uri, pooledUri } = await connectionTo(compute, project, computes, { user, password, database })
    return context.json({ uri: asked.pooled ? pooledUri : uri })
  })
}

/** Defaults to the primary of the given branch, or of the default branch (public OpenAPI). */
const chooseCompute = (world: World, id: string, { branch_id, endpoint_id }: z.output<typeof query>): ComputeRecord => {
  const tables = world.project(id)
  if (endpoint_id !== undefined) {
    const named = world.compute(id, endpoint_id)
    if (branch_id === undefined || named.branchId === branch_id) return named
    throw new Refusal(400, `endpoint_id: ${endpoint_id} is not a compute of the branch ${branch_id}`)
  }
  const branch = findBranch(world, id, branch_id ?? defaultBranch(tables.branches)?.id ?? '')
  const primary = primaryOf(tables, branch.id)
  if (primary === undefined) throw new Refusal(404, `the branch ${branch.name} has no read_write endpoint`)
  return primary
}

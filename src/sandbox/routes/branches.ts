import type { Hono } from 'hono'
import { createBranch, deleteBranch } from '../world/branch-commands.ts'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'
import { branchBody, readBody } from './body.ts'
import { branchPage } from './paging.ts'
import { presentBranch, presentCompute, presentOperation } from './present.ts'

export const branchRoutes = (api: Hono, world: World): void => {
  api.get('/projects/:project/branches', (context) => {
    const { branches, pagination } = branchPage(world.project(context.req.param('project')), context.req.query())
    return context.json({ branches: branches.map(presentBranch), annotations: {}, pagination })
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
    return context.json({ branch: presentBranch(branch), annotation: {} })
  })
  api.delete('/projects/:project/branches/:branch', (context) => {
    const { project, branch } = context.req.param()
    const deleted = deleteBranch(world, project, branch)
    if (deleted === undefined) return context.body(null, 204)
    return context.json({
      branch: presentBranch(deleted.branch),
      operations: deleted.operations.map(presentOperation),
    })
  })
}

import type { Hono } from 'hono'
import type { Computes } from '../computes/computes.ts'
import { createBranch, deleteBranch, findBranch, setDefaultBranch, updateBranch } from '../world/branch-commands.ts'
import type { World } from '../world/world.ts'
import { branchBody, branchUpdateBody, readBody } from './body.ts'
import { catalogAnswer } from './catalog-answer.ts'
import { branchPage } from './paging.ts'
import { presentBranch, presentCompute, presentOperation } from './present.ts'

export const branchRoutes = (api: Hono, world: World, computes: Computes): void => {
  api.get('/projects/:project/branches', (context) => {
    const { branches, pagination } = branchPage(world.project(context.req.param('project')), context.req.query())
    return context.json({ branches: branches.map(presentBranch), annotations: {}, pagination })
  })
  api.get('/projects/:project/branches/count', (context) => {
    const { branches } = world.project(context.req.param('project'))
    const wanted = context.req.query('search') ?? ''
    return context.json({ count: [...branches.values()].filter(({ name }) => name.includes(wanted)).length })
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
        ...(await catalogAnswer(made.branch, made.computes[0], project, computes)),
      },
      201,
    )
  })
  api.get('/projects/:project/branches/:branch', (context) => {
    const { project, branch } = context.req.param()
    const found = presentBranch(findBranch(world, project, branch))
    return context.json({ branch: found, annotation: { object: { type: 'console/branch', id: found.id }, value: {} } })
  })
  api.patch('/projects/:project/branches/:branch', async (context) => {
    const { branch: asked } = await readBody(context, branchUpdateBody)
    const { project, branch } = context.req.param()
    return context.json({ branch: presentBranch(updateBranch(world, project, branch, asked)), operations: [] })
  })
  api.post('/projects/:project/branches/:branch/set_as_default', (context) => {
    const { project, branch } = context.req.param()
    return context.json({ branch: presentBranch(setDefaultBranch(world, project, branch)), operations: [] })
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

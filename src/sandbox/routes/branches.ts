import type { Hono } from 'hono'
import type { Computes } from '../computes/computes.ts'
import { createBranch, deleteBranch, restoreBranch, setDefaultBranch, updateBranch } from '../world/branch-commands.ts'
import type { BranchRecord } from '../world/records.ts'
import { branchBody, branchUpdateBody, restoreRequest } from '../world/requests.ts'
import type { World } from '../world/world.ts'
import { catalogAnswer } from './catalog.ts'
import { branchPage } from './paging.ts'
import { presentAnnotation, presentBranch, presentCompute, presentOperation } from './present.ts'
import { branchesQuery, countQuery, deletionQuery, readBody, readQuery } from './request.ts'

export const branchRoutes = (api: Hono, world: World, computes: Computes): void => {
  const present = (branch: BranchRecord) => presentBranch(branch, world)

  api.get('/projects/:project/branches', (context) => {
    const { branches, pagination } = branchPage(
      world.project(context.req.param('project')),
      readQuery(context, branchesQuery),
    )
    const annotated = branches.filter(({ annotation }) => annotation !== undefined)
    const annotations = Object.fromEntries(annotated.map((branch) => [branch.id, presentAnnotation(branch)]))
    return context.json({ branches: branches.map(present), annotations, pagination })
  })
  api.get('/projects/:project/branches/count', (context) => {
    const { branches } = world.project(context.req.param('project'))
    const { search } = readQuery(context, countQuery)
    return context.json({ count: [...branches.values()].filter(({ name }) => name.includes(search)).length })
  })
  api.post('/projects/:project/branches', async (context) => {
    const { branch, endpoints, annotation_value: annotation } = await readBody(context, branchBody)
    const made = createBranch(world, context.req.param('project'), branch, endpoints, annotation)
    const { project } = world.project(context.req.param('project'))
    return context.json(
      {
        branch: present(made.branch),
        endpoints: made.computes.map((compute) => presentCompute(compute, project)),
        operations: made.operations.map(presentOperation),
        ...(await catalogAnswer(made.branch, made.computes[0], project, computes)),
      },
      201,
    )
  })
  api.get('/projects/:project/branches/:branch', (context) => {
    const { project, branch } = context.req.param()
    const found = world.branch(project, branch)
    return context.json({ branch: present(found), annotation: presentAnnotation(found) })
  })
  api.patch('/projects/:project/branches/:branch', async (context) => {
    const { branch: requested } = await readBody(context, branchUpdateBody)
    const { project, branch } = context.req.param()
    return context.json({ branch: present(updateBranch(world, project, branch, requested)), operations: [] })
  })
  api.post('/projects/:project/branches/:branch/set_as_default', (context) => {
    const { project, branch } = context.req.param()
    return context.json({ branch: present(setDefaultBranch(world, project, branch)), operations: [] })
  })
  api.post('/projects/:project/branches/:branch/restore', async (context) => {
    const request = await readBody(context, restoreRequest)
    const { project, branch } = context.req.param()
    const restored = restoreBranch(world, project, branch, request)
    return context.json({ branch: present(restored.branch), operations: restored.operations.map(presentOperation) })
  })
  api.delete('/projects/:project/branches/:branch', (context) => {
    const { project, branch } = context.req.param()
    readQuery(context, deletionQuery)
    const deleted = deleteBranch(world, project, branch)
    if (deleted === undefined) return context.body(null, 204)
    return context.json({
      branch: present(deleted.branch),
      operations: deleted.operations.map(presentOperation),
    })
  })
}

import type { Hono } from 'hono'
import type { Computes } from '../computes/computes.ts'
import { DEFAULT_LIBRARIES } from '../world/compute-commands.ts'
import {
  createProject,
  deleteProject,
  isRecoverable,
  recoverProject,
  updateProject,
} from '../world/project-commands.ts'
import { ApiError, newProjectBody, projectBody } from '../world/requests.ts'
import type { World } from '../world/world.ts'
import { catalogAnswer } from './catalog.ts'
import { listed } from './faults.ts'
import { checkAccount, identityOf, organizationOf, ownerOf } from './identity.ts'
import { NO_PROJECT, operationPage, projectPage } from './paging.ts'
import {
  presentBranch,
  presentCompute,
  presentListedProject,
  presentOperation,
  presentOwner,
  presentProject,
} from './present.ts'
import { operationsQuery, projectsQuery, readBody, readQuery, sharedQuery } from './request.ts'

/** The libraries that the API lists as available for `shared_preload_libraries`. */
const LIBRARIES: readonly (readonly [string, string])[] = [
  ['auto_explain', 'Logs the plans of slow statements'],
  ['pg_cron', 'Runs statements on a schedule'],
  ['pg_stat_statements', 'Tracks how often statements run and how long they take'],
  ['timescaledb', 'Adds tables for time-series data'],
]

export const projectRoutes = (api: Hono, world: World, computes: Computes): void => {
  api.get('/projects', (context) => {
    const identity = identityOf(context)
    const query = readQuery(context, projectsQuery)
    const orgId = organizationOf(identity, query.org_id, world)
    const only = identity.of === 'project' ? identity.projectId : undefined
    const { projects, cursor } = projectPage(
      world.tables,
      query,
      (project) =>
        (query.recoverable ? isRecoverable(project) : project.deletedAt === undefined) &&
        (orgId === undefined || project.orgId === orgId) &&
        (only === undefined || project.id === only),
    )
    return context.json({
      projects: projects.map((project) => presentListedProject(project, world)),
      pagination: { cursor },
      applications: {},
      integrations: {},
    })
  })
  // The sandbox has only one user, so nothing is shared.
  api.get('/projects/shared', (context) => {
    const { cursor } = readQuery(context, sharedQuery)
    return context.json({ projects: [], pagination: { cursor: cursor || NO_PROJECT } })
  })
  api.post('/projects', async (context) => {
    const identity = identityOf(context)
    checkAccount(identity)
    const { project: requested } = await readBody(context, newProjectBody)
    const orgId = ownerOf(identity, requested.org_id, world)
    const made = createProject(world, requested, orgId, computes.versions)
    return context.json(
      {
        project: presentProject(made.project, world),
        branch: presentBranch(made.branch, world),
        endpoints: [presentCompute(made.compute, made.project)],
        operations: made.operations.map(presentOperation),
        ...(await catalogAnswer(made.branch, made.compute, made.project, computes)),
      },
      201,
    )
  })
  api.get('/projects/:project', (context) => {
    const { project } = world.project(context.req.param('project'))
    return context.json({ project: { ...presentProject(project, world), ...presentOwner(project) } })
  })
  api.patch('/projects/:project', async (context) => {
    const { project } = await readBody(context, projectBody)
    const updated = updateProject(world, context.req.param('project'), project)
    return context.json({
      project: presentProject(updated.project, world),
      operations: updated.operations.map(presentOperation),
    })
  })
  api.delete('/projects/:project', (context) => {
    checkAccount(identityOf(context))
    return context.json({ project: presentProject(deleteProject(world, context.req.param('project')), world) })
  })
  api.post('/projects/:project/recover', (context) => {
    checkAccount(identityOf(context))
    const { project, branches } = recoverProject(world, context.req.param('project'))
    return context.json({
      project: presentProject(project, world),
      branches: branches.map((branch) => presentBranch(branch, world)),
    })
  })
  api.get('/projects/:project/operations', (context) => {
    const { operations, cursor } = operationPage(
      listed(context, world, world.anyProject(context.req.param('project'))),
      readQuery(context, operationsQuery),
    )
    return context.json({ operations: operations.map(presentOperation), pagination: { cursor } })
  })
  api.get('/projects/:project/operations/:operation', (context) => {
    const { project, operation } = context.req.param()
    const found = world.anyProject(project).operationById.get(operation)
    if (found === undefined) throw new ApiError(404, 'operation not found')
    return context.json({ operation: presentOperation(found) })
  })
  api.get('/projects/:project/available_preload_libraries', (context) => {
    world.project(context.req.param('project'))
    return context.json({
      libraries: LIBRARIES.map(([library_name, description]) => ({
        library_name,
        description,
        is_default: DEFAULT_LIBRARIES.includes(library_name),
        is_experimental: false,
        version: '1.0',
      })),
    })
  })
}

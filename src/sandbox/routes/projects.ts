import type { Hono } from 'hono'
import type { World } from '../world/world.ts'
import { projectPage } from './paging.ts'
import { presentProject } from './present.ts'

export const projectRoutes = (api: Hono, world: World): void => {
  api.get('/projects', (context) => {
    const { projects, cursor } = projectPage(world.tables, context.req.query())
    return context.json({
      projects: projects.map(presentProject),
      pagination: { cursor },
      applications: {},
      integrations: {},
    })
  })
  api.get('/projects/:project', (context) =>
    context.json({ project: presentProject(world.project(context.req.param('project')).project) }),
  )
}

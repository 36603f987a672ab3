import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Computes } from '../computes/computes.ts'
import { findBranch } from '../world/branch-commands.ts'
import { catalogOf } from '../world/catalog.ts'
import { createRole, deleteRole, findRole, type RoleAnswer, resetPassword } from '../world/catalog-commands.ts'
import { sqlName } from '../world/project-request.ts'
import { Refusal } from '../world/refusal.ts'
import { refreshCatalog } from '../world/update-catalog.ts'
import type { World } from '../world/world.ts'
import { readBody } from './body.ts'
import { presentOperation, presentRole } from './present.ts'

const newRole = z.object({ role: z.object({ name: sqlName, no_login: z.boolean().optional() }) })

export const refreshBefore = (api: Hono, path: string, world: World, computes: Computes): void => {
  api.use(`${path}/*`, async (context, next) => {
    await refreshCatalog(world, computes, context.req.param('branch') ?? '')
    await next()
  })
}

export const roleRoutes = (api: Hono, world: World, computes: Computes): void => {
  const answer = (context: Context, { role, operations }: RoleAnswer, status: 200 | 201, isNew: boolean): Response =>
    context.json(
      {
        role: presentRole(role, context.req.param('branch') ?? '', isNew),
        operations: operations.map(presentOperation),
      },
      status,
    )

  const ROLES = '/projects/:project/branches/:branch/roles'
  refreshBefore(api, ROLES, world, computes)
  api.get(ROLES, async (context) => {
    const { project, branch } = context.req.param()
    const { roles } = catalogOf(findBranch(world, project, branch))
    return context.json({ roles: roles.map((role) => presentRole(role, branch)) })
  })
  api.post(ROLES, async (context) => {
    const { role } = await readBody(context, newRole)
    const at = context.req.param()
    return answer(context, createRole(world, at, role.name, role.no_login !== true), 201, true)
  })
  api.get(`${ROLES}/:role`, async (context) => {
    const { role, ...at } = context.req.param()
    return context.json({ role: presentRole(findRole(world, at, role), at.branch) })
  })
  api.delete(`${ROLES}/:role`, async (context) => {
    const { role, ...at } = context.req.param()
    const deleted = deleteRole(world, at, role)
    return deleted === undefined ? context.body(null, 204) : answer(context, deleted, 200, false)
  })
  api.get(`${ROLES}/:role/reveal_password`, async (context) => {
    const { role, ...at } = context.req.param()
    const { password } = findRole(world, at, role)
    if (password === undefined) {
      throw new Refusal(412, `the password of ${role} is not stored: reset it to get one that is`)
    }
    return context.json({ password })
  })
  api.post(`${ROLES}/:role/reset_password`, async (context) => {
    const { role, ...at } = context.req.param()
    return answer(context, resetPassword(world, at, role), 200, true)
  })
}

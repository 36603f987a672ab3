/**
 * Features of the service that no branch of the sandbox has. The service answers 404 for a branch without them, and its
 * clients ask before they go on; whatever would enable them is not served.
 */
import type { Hono } from 'hono'
import { findBranch } from '../world/branch-commands.ts'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'

const FEATURES = { auth: 'Neon Auth', 'data-api/:database': 'the Data API' } as const

export const featureRoutes = (api: Hono, world: World): void => {
  for (const [path, name] of Object.entries(FEATURES)) {
    api.on('GET', `/projects/:project/branches/:branch/${path}`, (context) => {
      findBranch(world, context.req.param('project') ?? '', context.req.param('branch') ?? '')
      throw new Refusal(404, `${name} is not enabled for this branch; it is not available in the sandbox`)
    })
  }
}

/** Who asks, and what they may ask for (docs of the service, "API keys"). */
import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { digestOf } from '../world/key-commands.ts'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'
import type { KeyUse } from './key-use.ts'

export type Identity =
  /** The sandbox's own key: a personal one that needs no organization to be named. */
  | { readonly of: 'owner' }
  | { readonly of: 'personal' }
  | { readonly of: 'organization'; readonly orgId: string }
  | { readonly of: 'project'; readonly projectId: string }

/** @throws {Refusal} 401 if the key is missing, wrong or revoked. */
export const identify = (world: World, apiKey: string, use: KeyUse): MiddlewareHandler => {
  const own = Buffer.from(digestOf(apiKey))
  return async (context, next) => {
    const given = digestOf((context.req.header('authorization') ?? '').replace(/^Bearer /, ''))
    const identity = timingSafeEqual(Buffer.from(given), own) ? { of: 'owner' as const } : identityOf(world, given)
    if (identity === undefined) throw new Refusal(401, 'supplied credentials do not pass authentication')
    use.note(given, world.clock.now())
    context.set('identity', identity)
    await next()
  }
}

const identityOf = (world: World, keyDigest: string): Identity | undefined => {
  const key = world.tables.keys.get(keyDigest)
  if (key === undefined || key.isRevoked) return undefined
  if (key.of === 'organization') return { of: 'organization', orgId: key.orgId ?? '' }
  if (key.of === 'project') return { of: 'project', projectId: key.projectId ?? '' }
  return { of: 'personal' }
}

export const whoAsks = (context: Context): Identity => context.get('identity')

/** @throws {Refusal} 403 outside a project-scoped key's project, 404 outside an organization's projects. */
export const checkProject = (identity: Identity, projectId: string, world: World): void => {
  if (identity.of === 'project' && identity.projectId !== projectId) {
    throw new Refusal(403, 'the API key is scoped to another project')
  }
  if (identity.of === 'organization' && world.tables.projects.get(projectId)?.project.orgId !== identity.orgId) {
    throw new Refusal(404, 'project not found')
  }
}

/** @throws {Refusal} 404: routes about users do not exist for the keys of organizations. */
export const checkUser = (identity: Identity): void => {
  if (identity.of === 'organization' || identity.of === 'project') {
    throw new Refusal(404, 'not allowed for organization API keys')
  }
}

/** @throws {Refusal} 403: a project-scoped key can neither make projects nor delete its own. */
export const checkAccount = (identity: Identity): void => {
  if (identity.of === 'project') throw new Refusal(403, 'not allowed for project-scoped API keys')
}

/** @throws {Refusal} 403 for keys of another organization or of a project, 404 if there is no such organization. */
export const checkOrganization = (identity: Identity, orgId: string, world: World): void => {
  checkAccount(identity)
  if (identity.of === 'organization' && identity.orgId !== orgId) {
    throw new Refusal(403, 'the API key is of another organization')
  }
  if (!organizationIds(world).includes(orgId)) throw new Refusal(404, 'organization not found')
}

/**
 * The organization whose projects are meant; `undefined`: those of every one.
 *
 * @throws {Refusal} 400 if a personal key must name one and does not, 403 if an organization's key names another,
 *   404 if there is no such organization.
 */
export const organizationOf = (identity: Identity, asked: string | undefined, world: World): string | undefined => {
  switch (identity.of) {
    case 'organization':
      if (asked !== undefined && asked !== identity.orgId)
        throw new Refusal(403, 'the API key is of another organization')
      return identity.orgId
    case 'personal':
      if (asked === undefined && organizationIds(world).length > 0) throw new Refusal(400, 'org_id is required')
      return existing(asked, world)
    default:
      return existing(asked, world)
  }
}

/**
 * The organization that a new project belongs to; `undefined`: to the user.
 *
 * @throws {Refusal} 403 if an organization's key names another, 404 if there is no such organization.
 */
export const homeOf = (identity: Identity, asked: string | undefined, world: World): string | undefined =>
  identity.of === 'organization' ? organizationOf(identity, asked, world) : existing(asked, world)

const existing = (asked: string | undefined, world: World): string | undefined => {
  if (asked === undefined || organizationIds(world).includes(asked)) return asked
  throw new Refusal(404, `organization not found: ${asked}`)
}

/** Those that a project or a key belongs to, sorted. */
export const organizationIds = ({ tables }: World): readonly string[] => {
  const ids = new Set<string>()
  for (const { project } of tables.projects.values()) if (project.orgId !== undefined) ids.add(project.orgId)
  for (const { orgId } of tables.keys.values()) if (orgId !== undefined) ids.add(orgId)
  return [...ids].sort()
}

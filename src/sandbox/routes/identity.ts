/** Identifies the caller and checks its permissions (docs of the service, "API keys"). */
import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { digestOf } from '../world/key-commands.ts'
import { ApiError } from '../world/requests.ts'
import type { World } from '../world/world.ts'

export type Identity =
  /** The sandbox's own key. Unlike with a personal key, requests never have to name an organization. */
  | { readonly of: 'owner' }
  | { readonly of: 'personal' }
  | { readonly of: 'organization'; readonly orgId: string }
  | { readonly of: 'project'; readonly projectId: string }

/** @throws {ApiError} 401 if the key is missing, wrong or revoked. */
export const identify = (world: World, apiKey: string, keyUse: Map<string, number>): MiddlewareHandler => {
  const own = Buffer.from(digestOf(apiKey))
  return async (context, next) => {
    const given = digestOf(/^Bearer (.+)$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? '')
    const identity = timingSafeEqual(Buffer.from(given), own) ? { of: 'owner' as const } : identityOfKey(world, given)
    if (identity === undefined) throw new ApiError(401, 'supplied credentials do not pass authentication')
    keyUse.set(given, world.clock.now())
    context.set('identity', identity)
    await next()
  }
}

const identityOfKey = (world: World, keyDigest: string): Identity | undefined => {
  const key = world.tables.keys.get(keyDigest)
  if (key === undefined || key.isRevoked) return undefined
  if (key.of === 'organization') return { of: 'organization', orgId: key.orgId ?? '' }
  if (key.of === 'project') return { of: 'project', projectId: key.projectId ?? '' }
  return { of: 'personal' }
}

export const identityOf = (context: Context): Identity => context.get('identity')

/**
 * @throws {ApiError} 403 if the key is scoped to another project, 404 if the project does not belong to the key's
 *   organization.
 */
export const checkProject = (identity: Identity, projectId: string, world: World): void => {
  if (identity.of === 'project' && identity.projectId !== projectId) {
    throw new ApiError(403, 'the API key is scoped to another project')
  }
  if (identity.of === 'organization' && world.tables.projects.get(projectId)?.project.orgId !== identity.orgId) {
    throw new ApiError(404, 'project not found')
  }
}

/** @throws {ApiError} 404 for keys of organizations and projects, which cannot use the routes for users. */
export const checkUser = (identity: Identity): void => {
  if (identity.of === 'organization' || identity.of === 'project') {
    throw new ApiError(404, 'not allowed for organization API keys')
  }
}

/** @throws {ApiError} 403 for a project-scoped key, which can neither create projects nor delete its own. */
export const checkAccount = (identity: Identity): void => {
  if (identity.of === 'project') throw new ApiError(403, 'not allowed for project-scoped API keys')
}

/**
 * @throws {ApiError} 403 if the key belongs to a project or another organization, 404 if the organization is unknown.
 */
export const checkOrganization = (identity: Identity, orgId: string, world: World): void => {
  checkAccount(identity)
  if (identity.of === 'organization' && identity.orgId !== orgId) {
    throw new ApiError(403, 'the API key belongs to another organization')
  }
  if (!organizationIds(world).includes(orgId)) throw new ApiError(404, 'organization not found')
}

/**
 * The organization whose projects are listed, or `undefined` if all projects are listed.
 *
 * @throws {ApiError} 400 if a personal key must name an organization but does not; otherwise as {@link ownerOf}.
 */
export const organizationOf = (identity: Identity, requested: string | undefined, world: World): string | undefined => {
  if (identity.of === 'personal' && requested === undefined && organizationIds(world).length > 0) {
    throw new ApiError(400, 'org_id is required')
  }
  return ownerOf(identity, requested, world)
}

/**
 * The organization that will own a new project, or `undefined` if the user will own it.
 *
 * @throws {ApiError} 403 if the key belongs to another organization, 404 if there is no such organization.
 */
export const ownerOf = (identity: Identity, requested: string | undefined, world: World): string | undefined => {
  if (identity.of === 'organization') {
    if ((requested ?? identity.orgId) === identity.orgId) return identity.orgId
    throw new ApiError(403, 'the API key belongs to another organization')
  }
  if (requested === undefined || organizationIds(world).includes(requested)) return requested
  throw new ApiError(404, `organization not found: ${requested}`)
}

/** All organizations that own a project or a key, in sorted order. */
export const organizationIds = ({ tables }: World): readonly string[] => {
  const ids = new Set<string>()
  for (const { project } of tables.projects.values()) if (project.orgId !== undefined) ids.add(project.orgId)
  for (const { orgId } of tables.keys.values()) if (orgId !== undefined) ids.add(orgId)
  return [...ids].sort()
}

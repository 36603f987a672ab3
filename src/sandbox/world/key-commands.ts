/** Commands on API keys (public OpenAPI). A key is shown only when it is created, and only its digest is stored. */
import { createHash, randomBytes } from 'node:crypto'
import type { KeyRecord } from './records.ts'
import { ApiError } from './requests.ts'
import type { World } from './world.ts'

/** The organization with this id, which also owns the keys that are scoped to its projects. Without an id, the user. */
export type KeyOwner = { readonly orgId: string | undefined }

export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** The key's id in the API, an integer that a double can represent exactly. */
export const numberOf = ({ id }: KeyRecord): number => Number.parseInt(id.slice(0, 12), 16)

/** @throws {ApiError} 404 if the project does not belong to the organization. */
export const createKey = (
  world: World,
  { orgId }: KeyOwner,
  name: string,
  projectId: string | undefined,
): { readonly key: string; readonly record: KeyRecord } => {
  if (projectId !== undefined && world.project(projectId).project.orgId !== orgId) {
    throw new ApiError(404, 'project not found')
  }
  const key = `napi_${randomBytes(32).toString('hex')}`
  const record: KeyRecord = {
    kind: 'key',
    id: digestOf(key),
    of: projectId !== undefined ? 'project' : orgId !== undefined ? 'organization' : 'personal',
    orgId,
    projectId,
    name,
    createdAt: world.clock.now(),
    isRevoked: false,
  }
  world.storeKey(record)
  return { key, record }
}

export const listKeys = ({ tables }: World, owner: KeyOwner): readonly KeyRecord[] =>
  [...tables.keys.values()].filter((key) => !key.isRevoked && isOwned(key, owner, tables.projects))

/** @throws {ApiError} 404 if the owner has no such key, or if the key is already revoked. */
export const revokeKey = (world: World, owner: KeyOwner, number: string): KeyRecord => {
  const key = listKeys(world, owner).find((candidate) => String(numberOf(candidate)) === number)
  if (key === undefined) throw new ApiError(404, 'API key not found')
  const revoked = { ...key, isRevoked: true }
  world.storeKey(revoked)
  return revoked
}

const isOwned = (key: KeyRecord, { orgId }: KeyOwner, projects: World['tables']['projects']): boolean => {
  if (orgId === undefined) return key.of === 'personal'
  // In a seed, a project-scoped key names only its project, not the organization.
  const home = key.orgId ?? projects.get(key.projectId ?? '')?.project.orgId
  return key.of !== 'personal' && home === orgId
}

/** API keys: made, listed and revoked (public OpenAPI). Their text is shown once, and kept only as its digest. */
import { createHash, randomBytes } from 'node:crypto'
import type { KeyRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import type { World } from './world.ts'

/** Whose keys are meant: the user's own, or an organization's with those scoped to its projects. */
export type KeyOwner = { readonly orgId: string | undefined }

export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** Its id in the API: a whole number that a double holds exactly. */
export const numberOf = ({ id }: KeyRecord): number => Number.parseInt(id.slice(0, 12), 16)

/** @throws {Refusal} 404 if the project is not one of the organization's. */
export const createKey = (
  world: World,
  { orgId }: KeyOwner,
  name: string,
  projectId: string | undefined,
): { readonly key: string; readonly record: KeyRecord } => {
  if (projectId !== undefined && world.project(projectId).project.orgId !== orgId) {
    throw new Refusal(404, 'project not found')
  }
  const key = `napi_${randomBytes(32).toString('hex')}`
  const record: KeyRecord = {
    kind: 'key',
    id: digestOf(key),
    of: projectId !== undefined ? 'project' : orgId !== undefined ? 'organization' : 'personal',
    ...(orgId === undefined ? {} : { orgId }),
    ...(projectId === undefined ? {} : { projectId }),
    name,
    createdAt: world.clock.now(),
    isRevoked: false,
  }
  world.keepKey(record)
  return { key, record }
}

export const listKeys = ({ tables }: World, owner: KeyOwner): readonly KeyRecord[] =>
  [...tables.keys.values()].filter((key) => !key.isRevoked && isOwned(key, owner, tables.projects))

/** @throws {Refusal} 404 if the owner has no such key, or it is revoked already. */
export const revokeKey = (world: World, owner: KeyOwner, number: string): KeyRecord => {
  const key = listKeys(world, owner).find((candidate) => String(numberOf(candidate)) === number)
  if (key === undefined) throw new Refusal(404, 'API key not found')
  const revoked = { ...key, isRevoked: true }
  world.keepKey(revoked)
  return revoked
}

const isOwned = (key: KeyRecord, { orgId }: KeyOwner, projects: World['tables']['projects']): boolean => {
  if (orgId === undefined) return key.of === 'personal'
  // A seed names the project of such a key and not its organization.
  const home = key.orgId ?? projects.get(key.projectId ?? '')?.project.orgId
  return key.of !== 'personal' && home === orgId
}

/** The roles and databases of a branch, and connection strings for them. */
import { randomBytes, randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Computes, ConnectionError, type LiveCatalog, type Login } from '../computes/computes.ts'
import type { BranchRecord, ComputeRecord, DatabaseRecord, ProjectRecord, RoleRecord } from './records.ts'
import { ApiError, DEFAULT_DATABASE, defaultRole } from './requests.ts'
import type { World } from './world.ts'

export interface Catalog {
  readonly roles: readonly RoleRecord[]
  readonly databases: readonly DatabaseRecord[]
}

/** Contains only letters, digits and `_`, which need no escaping in a connection string. */
export const newPassword = (): string => {
  const text = randomBytes(32).toString('base64').replaceAll(/[+/=]/g, '')
  return `npg_${text.slice(0, 24)}`
}

export const newRole = (name: string, now: number, canLogin = true): RoleRecord => ({
  name,
  canLogin,
  password: canLogin ? newPassword() : undefined,
  createdAt: now,
  updatedAt: now,
})

/** A role and a database that it owns. Their default names are the same as on the service (public OpenAPI). */
export const newCatalog = (
  now: number,
  databaseName = DEFAULT_DATABASE,
  roleName = defaultRole(databaseName),
): Catalog => ({
  roles: [newRole(roleName, now)],
  databases: [{ id: newDatabaseId(), name: databaseName, owner: roleName, createdAt: now, updatedAt: now }],
})

export const catalogOf = ({ roles = [], databases = [] }: Pick<BranchRecord, 'roles' | 'databases'>): Catalog => ({
  roles,
  databases,
})

/** Ids are random, because a sequence could use the id of a deleted database again. */
export const newDatabaseId = (): number => randomInt(1, 2 ** 31)

/**
 * Reads the roles and databases from Postgres, where SQL may have changed them, and updates the branch's record. Does
 * nothing if the record contains changes that Postgres has not executed yet. If the record changes during the read, the
 * result is discarded, because it would undo that change.
 *
 * If the compute is stopping or restarting and does not respond in time, the record is left as it is.
 *
 * @throws {ApiError} 423 in that case if the request `writes`, because the record may be out of date.
 */
export const refreshCatalog = async (
  world: World,
  computes: Pick<Computes, 'readCatalog'>,
  branchId: string,
  writes = false,
): Promise<void> => {
  const before = world.tables.branch(branchId)
  if (before === undefined || before.changes !== undefined) return
  let found: LiveCatalog | undefined
  try {
    found = await computes.readCatalog?.(branchId)
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    if (writes) throw new ApiError(423, `the read_write endpoint is not accepting connections: ${error.message}`)
  }
  const now = world.tables.branch(branchId)
  const isUnchanged = now?.roles === before.roles && now?.databases === before.databases
  if (found !== undefined && isUnchanged) updateCatalog(world, branchId, found)
}

/** Does nothing while requested changes are pending, because `found` does not include them yet. */
export const updateCatalog = (world: World, branchId: string, found: LiveCatalog): void => {
  const branch = world.tables.branch(branchId)
  // During a restore, Postgres still has the roles and databases of the old data.
  if (branch === undefined || branch.changes !== undefined || branch.state === 'resetting') return
  const before = catalogOf(branch)
  const after = mergeCatalog(before, found, world.clock.now())
  if (isDeepStrictEqual(before, after)) return
  world.commit(branch.projectId, [{ ...branch, ...after }])
}

const mergeCatalog = (before: Catalog, found: LiveCatalog, now: number): Catalog => {
  const roles = found.roles.map((role): RoleRecord => {
    const known = before.roles.find(({ name }) => name === role.name)
    if (known === undefined) return { name: role.name, canLogin: role.canLogin, createdAt: now, updatedAt: now }
    const isPassword = known.password === undefined || role.hasPassword(known.password)
    if (isPassword && known.canLogin === role.canLogin) return known
    const password = isPassword ? known.password : undefined
    return { ...known, password, canLogin: role.canLogin, updatedAt: now }
  })
  const databases = found.databases.map(({ name, owner }): DatabaseRecord => {
    const known = before.databases.find((database) => database.name === name)
    if (known?.owner === owner) return known
    return { id: known?.id ?? newDatabaseId(), name, owner, createdAt: known?.createdAt ?? now, updatedAt: now }
  })
  // Keep the order of the record, because clients use the first role and the first database by default.
  return { roles: inOrder(roles, before.roles), databases: inOrder(databases, before.databases) }
}

const inOrder = <T extends { readonly name: string }>(items: readonly T[], like: readonly T[]): readonly T[] => {
  const place = new Map(like.map(({ name }, index) => [name, index]))
  return [...items].sort((a, b) => (place.get(a.name) ?? place.size) - (place.get(b.name) ?? place.size))
}

interface Connection {
  readonly uri: string
  /** Absent if the compute is real and PgBouncer is not installed. */
  readonly pooledUri?: string
}

export const platformOf = ({ regionId }: ProjectRecord): string => /^azure(?=-)/.exec(regionId)?.[0] ?? 'aws'

/** The host name of the service's proxy in the region of the project. */
export const proxyHost = (project: ProjectRecord): string =>
  `${project.regionId.replace(/^(aws|azure)-/, '')}.${platformOf(project)}.neon.tech`

export const hostOf = ({ id }: Pick<ComputeRecord, 'id'>, project: ProjectRecord): string =>
  `${id}.${proxyHost(project)}`

export const poolerHostOf = ({ id }: Pick<ComputeRecord, 'id'>, project: ProjectRecord): string =>
  `${id}-pooler.${proxyHost(project)}`

/** A login for the first database whose owner has a known password, or `undefined` if there is no such database. */
export const defaultLogin = (branch: BranchRecord | undefined): Login | undefined => {
  const { roles, databases } = catalogOf(branch ?? {})
  for (const { name: database, owner } of databases) {
    const password = roles.find(({ name, canLogin }) => name === owner && canLogin)?.password
    if (password !== undefined) return { user: owner, password, database }
  }
  return undefined
}

/** Connection strings of real computes lead to this machine. For simulated computes, they look like the service's. */
export const connectionTo = async (
  compute: ComputeRecord,
  project: ProjectRecord,
  computes: Computes,
  login: Login,
): Promise<Connection> => {
  const address = await computes.address?.(compute.id)
  if (address === undefined) {
    return {
      uri: uriOf(login, hostOf(compute, project), '?sslmode=require'),
      pooledUri: uriOf(login, poolerHostOf(compute, project), '?sslmode=require'),
    }
  }
  return {
    uri: uriOf(login, `${address.host}:${address.port}`),
    ...(address.hasPooler
      ? { pooledUri: uriOf(login, `${address.host}:${address.sharedPort}`, `?options=endpoint%3D${compute.id}-pooler`) }
      : {}),
  }
}

const uriOf = ({ user, password, database }: Login, host: string, query = ''): string =>
  `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}/${encodeURIComponent(database)}${query}`

/** Commands on the roles and databases of a branch (public OpenAPI). */
import type { CatalogChange } from '../computes/computes.ts'
import { type Catalog, catalogOf, newDatabaseId, newPassword, newRole } from './catalog.ts'
import { applyConfig, pendingAfter } from './compute-commands.ts'
import type { BranchRecord, DatabaseRecord, OperationRecord, RoleRecord } from './records.ts'
import { ApiError } from './requests.ts'
import { primaryOf } from './tables.ts'
import type { World } from './world.ts'

export interface BranchPath {
  readonly project: string
  readonly branch: string
}

export interface RoleAnswer {
  readonly role: RoleRecord
  readonly operations: readonly OperationRecord[]
}

export interface DatabaseAnswer {
  readonly database: DatabaseRecord
  readonly operations: readonly OperationRecord[]
}

export const createRole = (world: World, at: BranchPath, name: string, canLogin: boolean): RoleAnswer => {
  const { roles } = changeable(world, at)
  checkFree(roles, name, 'role')
  const role = newRole(name, world.clock.now(), canLogin)
  return { role, operations: change(world, at, { roles: [...roles, role] }, [{ kind: 'put-role', role }]) }
}

/** The new password takes effect when the operations finish (public OpenAPI). */
export const resetPassword = (world: World, at: BranchPath, name: string): RoleAnswer => {
  const before = findRole(world, at, name)
  const { roles } = changeable(world, at)
  if (!before.canLogin) throw new ApiError(422, `role ${name} cannot log in, so it has no password`)
  const role: RoleRecord = { ...before, password: newPassword(), updatedAt: world.clock.now() }
  const changed = roles.map((other) => (other === before ? role : other))
  return { role, operations: change(world, at, { roles: changed }, [{ kind: 'put-role', role }]) }
}

/** Returns `undefined` if there is no such role. This is not an error, because deleting is idempotent. */
export const deleteRole = (world: World, at: BranchPath, name: string): RoleAnswer | undefined => {
  const role = catalogAt(world, at).roles.find((known) => known.name === name)
  if (role === undefined) return undefined
  const { roles, databases } = changeable(world, at)
  const owned = databases.find(({ owner }) => owner === name)
  if (owned !== undefined) {
    throw new ApiError(
      422,
      `role ${name} owns the database ${owned.name}: delete the database or give it another owner first`,
    )
  }
  const kept = roles.filter((other) => other !== role)
  return { role, operations: change(world, at, { roles: kept }, [{ kind: 'drop-role', name }]) }
}

export const createDatabase = (
  world: World,
  at: BranchPath,
  { name, owner_name: owner }: { readonly name: string; readonly owner_name: string },
): DatabaseAnswer => {
  findRole(world, at, owner)
  const { databases } = changeable(world, at)
  checkFree(databases, name, 'database')
  const now = world.clock.now()
  const database = { id: newDatabaseId(), name, owner, createdAt: now, updatedAt: now }
  const all = [...databases, database]
  return { database, operations: change(world, at, { databases: all }, [{ kind: 'put-database', name, owner }]) }
}

export const updateDatabase = (
  world: World,
  at: BranchPath,
  before: string,
  requested: { readonly name?: string | undefined; readonly owner_name?: string | undefined },
): DatabaseAnswer => {
  const known = findDatabase(world, at, before)
  if (requested.owner_name !== undefined) findRole(world, at, requested.owner_name)
  const { databases } = changeable(world, at)
  const { name = known.name, owner_name: owner = known.owner } = requested
  if (name !== known.name) checkFree(databases, name, 'database')
  const database: DatabaseRecord = { ...known, name, owner, updatedAt: world.clock.now() }
  const all = databases.map((other) => (other === known ? database : other))
  const changes: CatalogChange[] = []
  if (name !== known.name) changes.push({ kind: 'rename-database', name: known.name, to: name })
  if (owner !== known.owner) changes.push({ kind: 'put-database', name, owner })
  return { database, operations: change(world, at, { databases: all }, changes) }
}

/** Returns `undefined` if there is no such database. This is not an error, because deleting is idempotent. */
export const deleteDatabase = (world: World, at: BranchPath, name: string): DatabaseAnswer | undefined => {
  const database = catalogAt(world, at).databases.find((known) => known.name === name)
  if (database === undefined) return undefined
  const kept = changeable(world, at).databases.filter((other) => other !== database)
  return { database, operations: change(world, at, { databases: kept }, [{ kind: 'drop-database', name }]) }
}

const catalogAt = (world: World, { project, branch }: BranchPath): Catalog => catalogOf(world.branch(project, branch))

/** @throws {ApiError} 404. */
export const findRole = (world: World, at: BranchPath, name: string): RoleRecord =>
  find(catalogAt(world, at).roles, name, 'role')

/** @throws {ApiError} 404. */
export const findDatabase = (world: World, at: BranchPath, name: string): DatabaseRecord =>
  find(catalogAt(world, at).databases, name, 'database')

/** @throws {ApiError} 412 if the password was set with SQL, because the sandbox then does not know it. */
export const passwordOf = ({ name, password }: RoleRecord): string => {
  if (password !== undefined) return password
  throw new ApiError(412, `the password of ${name} is not stored: reset it to get a new one`)
}

const find = <T extends { readonly name: string }>(all: readonly T[], name: string, what: string): T => {
  const found = all.find((known) => known.name === name)
  if (found === undefined) throw new ApiError(404, `${what} not found: ${name}`)
  return found
}

/** @throws {ApiError} 404 or 423. */
const changeable = (world: World, at: BranchPath): Catalog => {
  const catalog = catalogAt(world, at)
  world.checkUnlocked(at.project)
  return catalog
}

const checkFree = (all: readonly { readonly name: string }[], name: string, what: string): void => {
  if (all.some((known) => known.name === name)) {
    throw new ApiError(409, `${what} already exists; ${what}_name:"${name}"`)
  }
}

/** Changes the branch's record, and starts the operations that apply the changes to its primary. */
const change = (
  world: World,
  { project, branch: id }: BranchPath,
  catalog: Partial<Catalog>,
  changes: readonly CatalogChange[],
): readonly OperationRecord[] => {
  if (changes.length === 0) return []
  const before = world.branch(project, id)
  const now = world.clock.now()
  const branch: BranchRecord = {
    ...before,
    ...catalog,
    changes: [...(before.changes ?? []), ...changes],
    updatedAt: now,
  }
  const primary = primaryOf(world.project(project), id)
  if (primary === undefined) return world.commit(project, [branch])
  const operations = applyConfig(primary, branch)
  const configured = operations.length === 0 ? [] : [{ ...primary, ...pendingAfter(operations), updatedAt: now }]
  return world.commit(project, [branch, ...configured], operations)
}

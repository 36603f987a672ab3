/** Commands on the roles and databases of a branch (public OpenAPI). */
import type { CatalogChange } from '../computes/computes.ts'
import { findBranch } from './branch-commands.ts'
import { type Catalog, catalogOf, newDatabaseId, newPassword, newRole } from './catalog.ts'
import { type NewOperation, operationOn, unarchive } from './new-operation.ts'
import type { BranchRecord, ComputeRecord, DatabaseRecord, OperationRecord, RoleRecord } from './records.ts'
import { Refusal } from './refusal.ts'
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
  const { roles, databases } = changeable(world, at)
  if (roles.some((role) => role.name === name)) throw new Refusal(409, `role already exists; role_name:"${name}"`)
  const role = newRole(name, world.clock.now(), canLogin)
  const operations = keep(world, at, { roles: [...roles, role], databases }, [{ kind: 'put-role', role }])
  return { role, operations }
}

/** The new password takes effect when the operations finish (public OpenAPI). */
export const resetPassword = (world: World, at: BranchPath, name: string): RoleAnswer => {
  const before = findRole(world, at, name)
  const { roles, databases } = changeable(world, at)
  if (!before.canLogin) throw new Refusal(422, `role ${name} cannot log in, so it has no password`)
  const role: RoleRecord = { ...before, password: newPassword(), updatedAt: world.clock.now() }
  const operations = keep(world, at, { roles: roles.map((other) => (other.name === name ? role : other)), databases }, [
    { kind: 'put-role', role },
  ])
  return { role, operations }
}

/** Returns `undefined` if there is no such role: deleting is idempotent. */
export const deleteRole = (world: World, at: BranchPath, name: string): RoleAnswer | undefined => {
  const role = catalogOf(findBranch(world, at.project, at.branch)).roles.find((known) => known.name === name)
  if (role === undefined) return undefined
  const { roles, databases } = changeable(world, at)
  const owned = databases.find(({ owner }) => owner === name)
  if (owned !== undefined) {
    throw new Refusal(422, `role ${name} owns the database ${owned.name}: delete it or give it another owner first`)
  }
  const kept = { roles: roles.filter((other) => other !== role), databases }
  return { role, operations: keep(world, at, kept, [{ kind: 'drop-role', name }]) }
}

export const createDatabase = (
  world: World,
  at: BranchPath,
  { name, owner_name: owner }: { readonly name: string; readonly owner_name: string },
): DatabaseAnswer => {
  findRole(world, at, owner)
  const { roles, databases } = changeable(world, at)
  checkFreeName(databases, name)
  const now = world.clock.now()
  const database = { id: newDatabaseId(), name, owner, createdAt: now, updatedAt: now }
  const kept = { roles, databases: [...databases, database] }
  return { database, operations: keep(world, at, kept, [{ kind: 'put-database', name, owner }]) }
}

export const updateDatabase = (
  world: World,
  at: BranchPath,
  before: string,
  asked: { readonly name?: string | undefined; readonly owner_name?: string | undefined },
): DatabaseAnswer => {
  const known = findDatabase(world, at, before)
  if (asked.owner_name !== undefined) findRole(world, at, asked.owner_name)
  const { roles, databases } = changeable(world, at)
  const { name = known.name, owner_name: owner = known.owner } = asked
  if (name !== known.name) checkFreeName(databases, name)
  const database: DatabaseRecord = { ...known, name, owner, updatedAt: world.clock.now() }
  const kept = { roles, databases: databases.map((other) => (other === known ? database : other)) }
  const renamed: readonly CatalogChange[] =
    name === known.name ? [] : [{ kind: 'rename-database', name: known.name, to: name }]
  const moved: readonly CatalogChange[] = owner === known.owner ? [] : [{ kind: 'put-database', name, owner }]
  return { database, operations: keep(world, at, kept, [...renamed, ...moved]) }
}

/** Returns `undefined` if there is no such database: deleting is idempotent. */
export const deleteDatabase = (world: World, at: BranchPath, name: string): DatabaseAnswer | undefined => {
  const known = catalogOf(findBranch(world, at.project, at.branch)).databases.find((other) => other.name === name)
  if (known === undefined) return undefined
  const { roles, databases } = changeable(world, at)
  const kept = { roles, databases: databases.filter((other) => other !== known) }
  return { database: known, operations: keep(world, at, kept, [{ kind: 'drop-database', name }]) }
}

/** @throws {Refusal} 404. */
export const findRole = (world: World, { project, branch }: BranchPath, name: string): RoleRecord => {
  const role = catalogOf(findBranch(world, project, branch)).roles.find((known) => known.name === name)
  if (role === undefined) throw new Refusal(404, `role not found: ${name}`)
  return role
}

/** @throws {Refusal} 404. */
export const findDatabase = (world: World, { project, branch }: BranchPath, name: string): DatabaseRecord => {
  const database = catalogOf(findBranch(world, project, branch)).databases.find((known) => known.name === name)
  if (database === undefined) throw new Refusal(404, `database not found: ${name}`)
  return database
}

/** @throws {Refusal} 404 or 423. */
const changeable = (world: World, { project, branch }: BranchPath): Catalog => {
  const catalog = catalogOf(findBranch(world, project, branch))
  world.checkUnlocked(project)
  return catalog
}

const checkFreeName = (databases: readonly DatabaseRecord[], name: string): void => {
  if (databases.some((known) => known.name === name)) {
    throw new Refusal(409, `database already exists; database_name:"${name}"`)
  }
}

const keep = (
  world: World,
  { project, branch: id }: BranchPath,
  catalog: Catalog,
  changes: readonly CatalogChange[],
): readonly OperationRecord[] => {
  if (changes.length === 0) return []
  const before = findBranch(world, project, id)
  const now = world.clock.now()
  const branch: BranchRecord = {
    ...before,
    ...catalog,
    changes: [...(before.changes ?? []), ...changes],
    updatedAt: now,
  }
  const primary = primaryOf(world.project(project), id)
  if (primary === undefined) return world.commit(project, [branch])
  const operations = configure(branch, primary)
  const last = operations.at(-1)?.action
  if (last === undefined) return world.commit(project, [branch])
  const pendingState = last === 'suspend_compute' ? 'idle' : 'active'
  return world.commit(project, [branch, { ...primary, pendingState, updatedAt: now }], operations)
}

/**
 * An idle compute is started for the change and suspended again (public OpenAPI). A disabled one applies it when it is
 * next started.
 */
const configure = (branch: BranchRecord, primary: ComputeRecord): readonly NewOperation[] => {
  const apply = operationOn(primary, 'apply_config')
  if (primary.state !== 'idle') return [apply]
  return primary.disabled ? [] : [...unarchive(branch), apply, operationOn(primary, 'suspend_compute')]
}

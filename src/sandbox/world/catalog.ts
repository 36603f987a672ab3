/** The roles and databases of a branch. */
import { randomBytes, randomInt } from 'node:crypto'
import type { BranchRecord, DatabaseRecord, RoleRecord } from './records.ts'

export interface Catalog {
  readonly roles: readonly RoleRecord[]
  readonly databases: readonly DatabaseRecord[]
}

/** Letters and digits only: needs no escaping in a connection string. */
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

/** One role and a database that it owns. The default names are those of the service (public OpenAPI). */
export const newCatalog = (now: number, databaseName = 'neondb', roleName = `${databaseName}_owner`): Catalog => ({
  roles: [newRole(roleName, now)],
  databases: [{ id: newDatabaseId(), name: databaseName, owner: roleName, createdAt: now, updatedAt: now }],
})

export const catalogOf = ({ roles = [], databases = [] }: Pick<BranchRecord, 'roles' | 'databases'>): Catalog => ({
  roles,
  databases,
})

/** Random rather than sequential, so that an id is not reused after its database was deleted. */
export const newDatabaseId = (): number => randomInt(1, 2 ** 31)

/** The roles and databases of a branch. */
import { randomBytes, randomInt } from 'node:crypto'
import type { DatabaseRecord, RoleRecord } from './records.ts'

export interface Catalog {
  readonly roles: readonly RoleRecord[]
  readonly databases: readonly DatabaseRecord[]
}

/** Names for a new root branch when the request gives none (public OpenAPI). */
const DATABASE_NAME = 'neondb'
const ownerNameOf = (database: string): string => `${database}_owner`

/** Letters and digits only: needs no escaping in a connection string. */
export const newPassword = (): string => {
  const text = randomBytes(32).toString('base64').replaceAll(/[+/=]/g, '')
  return `npg_${text.slice(0, 24)}`
}

export const newRole = (name: string, now: number, canLogin = true): RoleRecord => ({
  name,
  canLogin,
  ...(canLogin ? { password: newPassword() } : {}),
  createdAt: now,
  updatedAt: now,
})

/** One role and a database that it owns. */
export const newCatalog = (
  now: number,
  databaseName: string = DATABASE_NAME,
  roleName: string = ownerNameOf(databaseName),
): Catalog => ({
  roles: [newRole(roleName, now)],
  databases: [{ id: newDatabaseId(), name: databaseName, owner: roleName, createdAt: now, updatedAt: now }],
})

export const catalogOf = ({ roles = [], databases = [] }: Partial<Catalog>): Catalog => ({ roles, databases })

/** Random rather than sequential, so that an id is not reused after its database was deleted. */
export const newDatabaseId = (): number => randomInt(1, 2 ** 31)

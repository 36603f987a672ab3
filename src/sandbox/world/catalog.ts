/** The roles and databases of a branch: as they are kept, and what can change about them. */
import { randomBytes, randomInt } from 'node:crypto'

export interface RoleRecord {
  readonly name: string
  /** Absent of one that cannot log in, and of one whose password only its owner knows: made or changed by SQL. */
  readonly password?: string
  readonly canLogin: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

export interface DatabaseRecord {
  readonly id: number
  readonly name: string
  /** A role of the branch. */
  readonly owner: string
  readonly createdAt: number
  readonly updatedAt: number
}

export interface Catalog {
  readonly roles: readonly RoleRecord[]
  readonly databases: readonly DatabaseRecord[]
}

/** Of a new root branch where the request does not name them (public OpenAPI). */
const DATABASE_NAME = 'neondb'
const ownerNameOf = (database: string): string => `${database}_owner`

/** Letters and digits only, so that it needs no escaping in a connection string. */
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

/** One role, and a database that it owns. */
export const newCatalog = (
  now: number,
  databaseName: string = DATABASE_NAME,
  roleName: string = ownerNameOf(databaseName),
): Catalog => ({
  roles: [newRole(roleName, now)],
  databases: [{ id: newDatabaseId(), name: databaseName, owner: roleName, createdAt: now, updatedAt: now }],
})

export const catalogOf = ({ roles = [], databases = [] }: Partial<Catalog>): Catalog => ({ roles, databases })

/** Of no database before it: a client that knew one which was deleted must see that this is another. */
export const newDatabaseId = (): number => randomInt(1, 2 ** 31)

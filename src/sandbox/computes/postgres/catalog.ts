/** Creates, changes and reads the roles and databases of a server, as the superuser. */
import pg from 'pg'
import type { BranchCatalog, CatalogChange, LiveCatalog } from '../computes.ts'
import { isSecretOf } from '../proxy/scram.ts'
import { SUPERVISOR } from './home.ts'
import type { PostgresServer } from './server.ts'
import { type Query, withSession } from './session.ts'

const { escapeIdentifier: name, escapeLiteral: text } = pg

/** A role that cannot log in. Roles that are created through the API are its members and inherit its privileges. */
const SUPERUSER_LIKE = 'neon_superuser'

/** Roles whose members can run programs or access any file (PostgreSQL documentation, 22.5). */
const ESCAPE_ROLES = ['pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files']

/**
 * Statements that make a new cluster safe for clients. They are for single-user mode, so each is on one line. Up to
 * version 15, a role with CREATEROLE can grant any role except superusers. Therefore, the roles that give access to the
 * machine are removed from the catalog, which means that no one can grant them. Superusers do not need these roles.
 */
export const safeguards = (major: number): readonly string[] => {
  const grantable = major >= 16 ? ' WITH ADMIN OPTION' : ''
  return [
    `DELETE FROM pg_catalog.pg_auth_members WHERE roleid IN (${oids}) OR member IN (${oids})`,
    `DELETE FROM pg_catalog.pg_authid WHERE oid IN (${oids})`,
    `CREATE ROLE ${SUPERUSER_LIKE} NOLOGIN CREATEDB CREATEROLE BYPASSRLS`,
    `GRANT pg_read_all_data, pg_write_all_data, pg_monitor, pg_signal_backend TO ${SUPERUSER_LIKE}${grantable}`,
  ]
}
const oids = `SELECT oid FROM pg_catalog.pg_authid WHERE rolname IN (${ESCAPE_ROLES.map((role) => `'${role}'`).join(', ')})`

/** Statements for single-user mode that create roles and databases in a new cluster. */
export const provisioning = ({ roles, databases }: BranchCatalog, mayReplicate: boolean): readonly string[] => [
  ...roles.flatMap((role) => putRole('CREATE', role, mayReplicate)),
  ...databases.map(createDatabase),
]

/**
 * Executes the changes in order. A change has the same result if it is executed again. If roles may replicate, the
 * existing roles that the API created are allowed to as well: those are the direct members of {@link SUPERUSER_LIKE}.
 */
export const executeChanges = async (
  server: PostgresServer,
  changes: readonly CatalogChange[],
  mayReplicate: boolean,
): Promise<void> => {
  if (changes.length === 0 && !mayReplicate) return
  await withSession(server, async (query) => {
    for (const one of changes) await execute(one, query, server, mayReplicate)
    for (const { rolname } of mayReplicate ? await query(NOT_REPLICATING, [SUPERUSER_LIKE]) : []) {
      await query(`ALTER ROLE ${name(String(rolname))} REPLICATION`)
    }
  })
}

const END_SESSIONS = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1'

const NOT_REPLICATING = `
  SELECT rolname FROM pg_roles JOIN pg_auth_members ON member = pg_roles.oid
  WHERE roleid = (SELECT oid FROM pg_roles WHERE rolname = $1) AND rolcanlogin AND NOT rolreplication`

const execute = async (
  one: CatalogChange,
  query: Query,
  server: PostgresServer,
  mayReplicate: boolean,
): Promise<void> => {
  switch (one.kind) {
    case 'put-role': {
      const verb = (await hasRole(query, one.role.name)) ? 'ALTER' : 'CREATE'
      for (const statement of putRole(verb, one.role, mayReplicate)) await query(statement)
      // A new password closes the role's connections (public OpenAPI).
      await query(END_SESSIONS, [one.role.name])
      return
    }
    case 'drop-role':
      if (await hasRole(query, one.name)) await dropRole(one.name, query, server)
      return
    case 'put-database': {
      const alter = `ALTER DATABASE ${name(one.name)} OWNER TO ${name(one.owner)}`
      await query((await hasDatabase(query, one.name)) ? alter : createDatabase(one))
      return
    }
    case 'rename-database':
      if (!(await hasDatabase(query, one.name))) return
      await query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
        [one.name],
      )
      await query(`ALTER DATABASE ${name(one.name)} RENAME TO ${name(one.to)}`)
      return
    case 'drop-database':
      await query(`DROP DATABASE IF EXISTS ${name(one.name)} WITH (FORCE)`)
  }
}

const putRole = (
  verb: 'CREATE' | 'ALTER',
  role: BranchCatalog['roles'][number],
  mayReplicate: boolean,
): readonly string[] => {
  const attributes = [
    role.canLogin ? 'LOGIN CREATEDB CREATEROLE BYPASSRLS' : 'NOLOGIN',
    mayReplicate && role.canLogin ? 'REPLICATION' : 'NOREPLICATION',
    ...(role.password === undefined ? [] : [`PASSWORD ${text(role.password)}`]),
  ]
  return [
    `${verb} ROLE ${name(role.name)} ${attributes.join(' ')}`,
    ...(role.canLogin ? [`GRANT ${SUPERUSER_LIKE} TO ${name(role.name)}`] : []),
  ]
}

const createDatabase = ({ name: database, owner }: { readonly name: string; readonly owner: string }): string =>
  `CREATE DATABASE ${name(database)} OWNER ${name(owner)}`

/** Reassigns the role's objects to the owner of their database, and revokes its grants. */
const dropRole = async (role: string, query: Query, server: PostgresServer): Promise<void> => {
  await query(END_SESSIONS, [role])
  const databases = await query(`
    SELECT datname, pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datallowconn AND NOT datistemplate`)
  for (const { datname, owner } of databases) {
    await withSession(
      server,
      async (inside) => {
        await inside(`REASSIGN OWNED BY ${name(role)} TO ${name(String(owner))}`)
        await inside(`DROP OWNED BY ${name(role)}`)
      },
      String(datname),
    )
  }
  await query(`DROP ROLE ${name(role)}`)
}

const hasRole = async (query: Query, role: string): Promise<boolean> =>
  (await query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role])).length > 0

const hasDatabase = async (query: Query, database: string): Promise<boolean> =>
  (await query('SELECT 1 FROM pg_database WHERE datname = $1', [database])).length > 0

/** Reads the roles and databases, except for those that Postgres itself and the sandbox created. */
export const readCatalog = (server: PostgresServer): Promise<LiveCatalog> =>
  withSession(server, async (query) => {
    const roles = await query(
      `SELECT rolname, rolcanlogin, rolpassword FROM pg_authid
       WHERE rolname !~ '^pg_' AND rolname NOT IN ($1, $2) ORDER BY oid`,
      [SUPERVISOR, SUPERUSER_LIKE],
    )
    const databases = await query(
      `SELECT datname, pg_get_userbyid(datdba) AS owner FROM pg_database
       WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY oid`,
    )
    return {
      roles: roles.map(({ rolname, rolcanlogin, rolpassword }) => ({
        name: String(rolname),
        canLogin: rolcanlogin === true,
        hasPassword: (given) => typeof rolpassword === 'string' && isSecretOf(rolpassword, given),
      })),
      databases: databases.map(({ datname, owner }) => ({ name: String(datname), owner: String(owner) })),
    }
  })

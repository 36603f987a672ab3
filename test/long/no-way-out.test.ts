/** Client roles cannot get a shell, access files or become superuser, on any installed version of Postgres: by default, the newest. */
import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isMachineSetting } from '../../src/sandbox/computes/computes.ts'
import { findBinaries } from '../../src/sandbox/computes/postgres/binaries.ts'
import { makeSocketFolder } from '../../src/sandbox/computes/postgres/home.ts'
import type { ReachableCompute, Sandbox } from '../../src/sandbox/index.ts'
import { clientAt, openReal } from '../e2e/real-computes.ts'

const found = await findBinaries(undefined, makeSocketFolder())

/** Text settings that were reviewed and have no effect outside the database. */
const OF_THE_DATABASE = new Set(
  `client_encoding cluster_name createrole_self_grant DateStyle default_table_access_method default_tablespace
  default_text_search_config lc_messages lc_monetary lc_numeric lc_time log_connections log_line_prefix log_timezone
  primary_slot_name recovery_target recovery_target_lsn recovery_target_name recovery_target_time
  recovery_target_timeline recovery_target_xid search_path ssl_ciphers ssl_tls13_ciphers ssl_ecdh_curve ssl_groups
  synchronized_standby_slots synchronous_standby_names temp_tablespaces TimeZone
  timezone_abbreviations`.split(/\s+/),
)

describe.each(
  found.map(({ version, postgres }) => ({
    version,
    postgres,
    bin: dirname(postgres),
  })),
)('Postgres $version', ({ bin, postgres, version }) => {
  let sandbox: Sandbox
  let compute: ReachableCompute
  beforeAll(async () => {
    sandbox = await openReal({
      computes: { kind: 'postgres', bin },
      seed: {
        projects: [
          {
            id: 'shop',
            branches: [
              {
                name: 'main',
                computes: [
                  { id: 'ep-main', scaleToZero: 'never' },
                  { id: 'ep-replica', type: 'read_only', scaleToZero: 'never' },
                ],
              },
            ],
          },
        ],
      },
    })
    const main = (await sandbox.control.computes()).find(({ id }) => id === 'ep-main')
    if (main === undefined) throw new Error('no compute')
    compute = main
  })
  afterAll(() => sandbox.close())

  const run = async (...statements: readonly string[]): Promise<string> => {
    const client = await clientAt(compute.uri ?? '')
    try {
      for (const statement of statements) await client.query(statement)
      return 'done'
    } catch (error) {
      return error instanceof pg.DatabaseError ? `${error.code} ${error.message}` : String(error)
    } finally {
      await client.close()
    }
  }

  test('a client can create roles, databases and schemas, access all data, and install trusted extensions', async () => {
    expect(
      await run(
        'CREATE ROLE app LOGIN PASSWORD $$secret$$',
        'CREATE DATABASE other',
        'CREATE SCHEMA s',
        'CREATE TABLE s.t (n int)',
        'GRANT USAGE ON SCHEMA s TO app',
        'SELECT * FROM pg_stat_activity',
      ),
    ).toBe('done')
    const client = await clientAt(compute.uri ?? '')
    const [row] = await client.query(`SELECT rolsuper, pg_has_role('neon_superuser', 'member') AS member
      FROM pg_roles WHERE rolname = current_user`)
    await client.close()
    expect(row).toEqual({ rolsuper: false, member: true })
  })

  // promise: role-shell
  test.each([
    ['running a program', `COPY (SELECT 1) TO PROGRAM 'id'`],
    [
      'running a program after granting itself the role',
      `GRANT pg_execute_server_program TO CURRENT_USER`,
      `COPY (SELECT 1) TO PROGRAM 'id'`,
    ],
    ['creating a role that can run programs', `CREATE ROLE out1 IN ROLE pg_execute_server_program LOGIN`],
    ['reading a file', 'CREATE TEMP TABLE f (line text)', `COPY f FROM '/etc/passwd'`],
    ['reading a file after a grant', `GRANT pg_read_server_files TO CURRENT_USER`],
    ['writing a file', `COPY (SELECT 1) TO '/tmp/espalier-written'`],
    ['writing a file after a grant', `GRANT pg_write_server_files TO CURRENT_USER`],
    ['calling pg_read_file', `SELECT pg_read_file('postgresql.conf')`],
    ['exporting a large object', `SELECT lo_export(1, '/tmp/espalier-written')`],
    [
      'creating a C function',
      `CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'getpid'`,
    ],
    ['creating an internal function', `CREATE FUNCTION f() RETURNS int LANGUAGE internal AS 'pg_backend_pid'`],
    ['installing an untrusted language', 'CREATE EXTENSION plpython3u'],
    ['loading a library', `LOAD '/lib/x86_64-linux-gnu/libc.so.6'`],
    ['creating an event trigger', 'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION pg_catalog.version()'],
    ['ALTER SYSTEM', `ALTER SYSTEM SET archive_command = 'id'`],
    ['writing to the catalog', `UPDATE pg_authid SET rolsuper = true WHERE rolname = current_user`],
    ['creating a superuser', 'CREATE ROLE root SUPERUSER'],
    ['membership in the superuser role', 'GRANT supervisor TO CURRENT_USER'],
    ["setting the superuser's password", `ALTER ROLE supervisor PASSWORD 'x'`],
    ['SET ROLE to the superuser', 'SET ROLE supervisor'],
    ['recreating a removed role', 'CREATE ROLE pg_execute_server_program'],
  ])('a client is denied %s', async (_what, ...statements) => {
    expect(await run(...statements)).toMatch(/^(42501|42704|42939|0A000|58P01|22023) /)
  })

  test('a seeded project shows its Postgres version', async () => {
    const answer = await fetch(`${sandbox.apiUrl}/projects/shop`, {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
    })
    expect(await answer.json()).toMatchObject({ project: { pg_version: Number.parseInt(version, 10) } })
  })

  // promise: shell-on-postgres
  test('the API rejects settings that run a program, load a library or open a file', () => {
    const lines = execFileSync(postgres, ['--describe-config'], { encoding: 'utf8' }).trim().split('\n')
    const texts = lines.map((line) => line.split('\t')).filter(([, , , type]) => type === 'STRING')
    expect(texts.length).toBeGreaterThan(40)
    const taken = texts.map(([name = '']) => name).filter((name) => !isMachineSetting(name))
    expect(taken.filter((name) => !OF_THE_DATABASE.has(name))).toEqual([])
  })

  // promise: role-shell
  test('the superuser cannot log in through the proxy with any password', async () => {
    const uri = new URL(compute.uri ?? '')
    uri.username = 'supervisor'
    await expect(clientAt(uri.href)).rejects.toMatchObject({ code: '28000' })
  })

  // promise: role-shell
  test('no setting that a client can read contains a password', async () => {
    const replica = (await sandbox.control.computes()).find(({ id }) => id === 'ep-replica')
    const client = await clientAt(replica?.uri ?? '')
    const rows = await client.query(`SELECT setting FROM pg_settings WHERE name = 'primary_conninfo'`)
    await client.close()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toMatch(/password=/)
  })

  test('a client cannot copy the cluster through replication', async () => {
    const uri = `${compute.uri}?replication=true`
    await expect(clientAt(uri)).rejects.toMatchObject({ code: '28000' })
  })
})

test('the tests ran at least against Postgres 17', () => {
  expect(found.map(({ major }) => major)).toContain(17)
})

/** The API's roles and databases match those in Postgres, whether the API or SQL created them. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { findBinaries, findPgDump } from '../../src/sandbox/computes/postgres/binaries.ts'
import { makeSocketFolder } from '../../src/sandbox/computes/postgres/home.ts'
import { findPgBouncer } from '../../src/sandbox/computes/postgres/pooler.ts'
import { clientAt, openPatient, type Patient } from '../e2e/real-computes.ts'

const all = await findBinaries(undefined, makeSocketFolder())
const dumpers = await Promise.all(all.map(({ major }) => findPgDump(major, all)))
const dumping = all.find((_, index) => dumpers[index] !== undefined)?.major

const stateDir = mkdtempSync(join(tmpdir(), 'espalier-catalog-'))
let opened: Patient
/** Most tests use the same project, because creating one takes longer than the test. They use different names. */
let shop: Project
beforeAll(async () => {
  opened = await open()
  shop = await newProject()
})
afterAll(async () => {
  await opened.sandbox.close()
  rmSync(stateDir, { recursive: true, force: true })
})
/** With all installed versions of Postgres. */
const open = () => openPatient({ stateDir, background: false, computes: { kind: 'postgres' } })

/** Waits for the operations of a request, like any API client. */
const send = async (method: string, path: string, body?: object) => {
  const { status, body: said } = await opened.call(method, `/projects${path}`, body)
  for (const { id, project_id } of method === 'GET' ? [] : (said?.operations ?? [])) {
    for (let isDone = false; !isDone; ) {
      const next = opened.change()
      isDone = (await send('GET', `/${project_id}/operations/${id}`)).operation.status === 'finished'
      if (!isDone) await next
    }
  }
  return { status, ...said }
}

const sendOnce = (path: string, method = 'GET'): Promise<Response> => {
  const { apiUrl, apiKey } = opened.sandbox
  return fetch(`${apiUrl}/projects${path}`, { method, headers: { authorization: `Bearer ${apiKey}` } })
}

type Project = Awaited<ReturnType<typeof newProject>>
const newProject = async (wanted: object = {}) => {
  const { project, branch, endpoints } = await send('POST', '', { project: wanted })
  return {
    call: (method: string, path: string, body?: object) => send(method, `/${project.id}${path}`, body),
    id: project.id as string,
    main: branch.id as string,
    compute: endpoints[0].id as string,
  }
}
/** Creates a branch of the default branch, with a compute. */
const newBranch = async ({ call }: Project, type = 'read_write') => {
  const { branch, endpoints } = await call('POST', '/branches', { endpoints: [{ type }] })
  return { branch: branch.id as string, compute: endpoints[0].id as string }
}
const uriOf = async (role: string, database: string, { call, main }: Project = shop, branch = main): Promise<string> =>
  (await call('GET', `/connection_uri?branch_id=${branch}&role_name=${role}&database_name=${database}`)).uri
const query = async (uri: string, ...statements: readonly string[]) => {
  const client = await clientAt(uri)
  try {
    let rows: readonly Record<string, unknown>[] = []
    for (const statement of statements) rows = await client.query(statement)
    return rows
  } finally {
    await client.close()
  }
}
const newRole = (name: string, branch = shop.main) => shop.call('POST', `/branches/${branch}/roles`, { role: { name } })
const namesOf = async (what: 'roles' | 'databases'): Promise<readonly string[]> =>
  (await shop.call('GET', `/branches/${shop.main}/${what}`))[what].map(({ name }: { name: string }) => name)

test('after a sandbox restart, data that a connection begins to use can be copied, roles can be created before the first connection, and the data of deleted replicas is removed', async () => {
  await query(await uriOf('neondb_owner', 'neondb'), 'CREATE TABLE restarted AS SELECT 1 AS n')
  const { branch } = await newBranch(shop)
  await opened.sandbox.close()
  const replicas = join(stateDir, 'postgres/replicas')
  mkdirSync(join(replicas, 'ep-deleted'))
  opened = await open()
  const uri = await uriOf('neondb_owner', 'neondb')
  const [rows, copy] = await Promise.all([query(uri, 'TABLE restarted'), newBranch(shop)])
  expect(await query(await uriOf('neondb_owner', 'neondb', shop, copy.branch), 'TABLE restarted')).toEqual(rows)
  await newRole('after_restart', branch)
  expect(await query(await uriOf('after_restart', 'neondb', shop, branch), 'TABLE restarted')).toEqual(rows)
  expect(readdirSync(replicas)).toEqual([])
})

test('a new role can log in to its database and owns it', async () => {
  const [role, encoded] = ['sally "quoted"', encodeURIComponent('sally "quoted"')]
  await newRole(role)
  await shop.call('POST', `/branches/${shop.main}/databases`, { database: { name: "it's", owner_name: role } })
  expect(
    await query(
      await uriOf(encoded, encodeURIComponent("it's")),
      'CREATE TABLE t (n int)',
      `SELECT current_user AS role, pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = current_database()`,
    ),
  ).toEqual([{ role, owner: role }])
  await shop.call('PATCH', `/branches/${shop.main}/databases/it's`, { database: { name: 'renamed' } })
  expect(await query(await uriOf(encoded, 'renamed'), 'TABLE t')).toEqual([])
})

test('a password reset closes open connections; then the new password works and the old one is rejected', async () => {
  await newRole('reset')
  const before = await uriOf('reset', 'neondb')
  const open = await clientAt(before)
  await shop.call('POST', `/branches/${shop.main}/roles/reset/reset_password`)
  await open.dropped
  expect(open.endedWith).toBe('57P01')
  await expect(clientAt(before)).rejects.toMatchObject({ code: '28P01' })
  expect(await query(await uriOf('reset', 'neondb'), 'SELECT 1 AS n')).toEqual([{ n: 1 }])
})

test.runIf(findPgBouncer() !== undefined)(
  'each role can log in through the pooler, even after a password reset (skipped without PgBouncer)',
  async () => {
    const pooled = () => uriOf('pooled', 'neondb&pooled=true')
    await newRole('pooled')
    const first = await pooled()
    expect(await query(first, 'SELECT current_user AS role')).toEqual([{ role: 'pooled' }])
    await shop.call('POST', `/branches/${shop.main}/roles/pooled/reset_password`)
    expect(await query(await pooled(), 'SELECT current_user AS role')).toEqual([{ role: 'pooled' }])
    await expect(clientAt(first)).rejects.toThrow('SASL authentication failed')
  },
)

test('deleting a role reassigns its objects to the database owner', async () => {
  await newRole('deleted')
  const owner = await uriOf('neondb_owner', 'neondb')
  await query(owner, 'GRANT CREATE ON SCHEMA public TO deleted')
  await query(await uriOf('deleted', 'neondb'), 'CREATE TABLE kept AS SELECT 42 AS n')
  expect((await shop.call('DELETE', `/branches/${shop.main}/roles/deleted`)).status).toBe(200)
  expect(
    await query(
      owner,
      `SELECT tableowner, (SELECT n FROM kept) AS n, (SELECT count(*)::int FROM pg_roles WHERE rolname = 'deleted') AS left
       FROM pg_tables WHERE tablename = 'kept'`,
    ),
  ).toEqual([{ tableowner: 'neondb_owner', n: 42, left: 0 }])
})

test('roles and databases created by SQL are listed, also while the compute is suspended, when more can be created', async () => {
  const uri = await uriOf('neondb_owner', 'neondb')
  await query(uri, `CREATE ROLE by_sql LOGIN PASSWORD 'own-secret'`, 'CREATE DATABASE by_sql OWNER neondb_owner')
  await shop.call('POST', `/endpoints/${shop.compute}/suspend`)
  expect(await namesOf('roles')).toContain('by_sql')
  expect(await namesOf('databases')).toContain('by_sql')
  await newRole('while_suspended')
  expect((await shop.call('GET', `/endpoints/${shop.compute}`)).endpoint.current_state).toBe('idle')
  expect(await query(await uriOf('while_suspended', 'by_sql'), 'SELECT 1 AS n')).toEqual([{ n: 1 }])
  await query(uri, 'DROP ROLE by_sql', 'DROP DATABASE by_sql')
  expect(await namesOf('roles')).not.toContain('by_sql')
  expect(await namesOf('databases')).not.toContain('by_sql')
})

test('a password that was set with SQL cannot be revealed', async () => {
  const reveal = async (role: string) =>
    (await shop.call('GET', `/branches/${shop.main}/roles/${role}/reveal_password`)).status
  await newRole('own_password')
  expect(await reveal('own_password')).toBe(200)
  const create = `CREATE ROLE new_password LOGIN PASSWORD 'own-secret'`
  await query(await uriOf('own_password', 'neondb'), create, `ALTER ROLE own_password PASSWORD 'other-secret'`)
  expect([await reveal('own_password'), await reveal('new_password')]).toEqual([412, 412])
})

test('while the compute restarts, is resized, is suspended and is deleted, reads succeed and writes succeed or are locked', async () => {
  const { branch, compute } = await newBranch(shop)
  const statuses = new Set<string>()
  const catalog = `/branches/${branch}`
  const uri = `/connection_uri?branch_id=${branch}&role_name=neondb_owner&database_name=neondb`
  let isOver = false
  const poll = async (method: string, path: string) => {
    while (!isOver) {
      const next = opened.change()
      const { status } = await sendOnce(`/${shop.id}${path}`, method)
      await next
      statuses.add(`${method} ${status}`)
    }
  }
  const paths = [
    `${catalog}/roles`,
    `${catalog}/databases/neondb`,
    `${catalog}/roles/neondb_owner/reveal_password`,
    uri,
  ]
  const polls = [...paths.map((path) => poll('GET', path)), poll('DELETE', `${catalog}/databases/none`)]
  await shop.call('POST', `/endpoints/${compute}/restart`)
  const sized = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }
  await shop.call('PATCH', `/endpoints/${compute}`, { endpoint: sized })
  await shop.call('POST', `/endpoints/${compute}/suspend`)
  await shop.call('POST', `/endpoints/${compute}/start`)
  await shop.call('DELETE', `/endpoints/${compute}`)
  isOver = true
  await Promise.all(polls)
  // Without its compute, the branch has no connection string.
  expect([...statuses].filter((status) => !/^(GET (200|404)|DELETE (204|423))$/.test(status))).toEqual([])
})

test('while Postgres does not respond, reads return the last known roles and writes return 423', async () => {
  const { call, id, main, compute } = await newProject()
  await query(await uriOf('neondb_owner', 'neondb', { call, id, main, compute }), 'SELECT 1')
  const pid = Number(
    readFileSync(join(stateDir, 'postgres', 'branches', main, 'postmaster.pid'), 'utf8').split('\n')[0],
  )
  process.kill(pid, 'SIGSTOP')
  onTestFinished(() => void process.kill(pid, 'SIGCONT'))
  const path = `/${id}/branches/${main}/roles`
  const [read, write] = await Promise.all([sendOnce(path), sendOnce(`${path}/neondb_owner`, 'DELETE')])
  expect(await read.json()).toMatchObject({ roles: [{ name: 'neondb_owner' }] })
  expect(write.status).toBe(423)
})

test('a branch inherits roles, databases and passwords from its parent, and later changes stay separate', async () => {
  await newRole('parent')
  await shop.call('POST', `/branches/${shop.main}/databases`, { database: { name: 'shop', owner_name: 'parent' } })
  await query(await uriOf('parent', 'shop'), 'CREATE TABLE t AS SELECT 1 AS n')
  const { branch } = await newBranch(shop)
  const copy = await uriOf('parent', 'shop', shop, branch)
  expect(await query(copy, 'TABLE t')).toEqual([{ n: 1 }])
  await shop.call('DELETE', `/branches/${branch}/databases/shop`)
  await shop.call('DELETE', `/branches/${branch}/roles/parent`)
  await expect(clientAt(copy)).rejects.toMatchObject({ code: '28P01' })
  expect(await query(await uriOf('parent', 'shop'), 'TABLE t')).toEqual([{ n: 1 }])
})

test("a replica that starts before its primary has the branch's roles", async () => {
  const { compute } = await newBranch(shop, 'read_only')
  const replica = (await opened.sandbox.control.computes()).find(({ id }) => id === compute)
  expect(await query(replica?.uri ?? '', 'SELECT pg_is_in_recovery() AS replica')).toEqual([{ replica: true }])
})

test('existing and new roles can replicate once logical replication is enabled', async () => {
  const own = await newProject()
  await query(await uriOf('neondb_owner', 'neondb', own), 'CREATE ROLE by_sql LOGIN')
  await own.call('PATCH', '', { project: { settings: { enable_logical_replication: true } } })
  await own.call('POST', `/branches/${own.main}/roles`, { role: { name: 'replicator' } })
  for (const role of ['neondb_owner', 'replicator']) {
    const create = `SELECT slot_name FROM pg_create_logical_replication_slot('s_${role}', 'pgoutput')`
    expect(await query(await uriOf(role, 'neondb', own), create)).toEqual([{ slot_name: `s_${role}` }])
  }
  const others = `SELECT rolname FROM pg_roles WHERE rolcanlogin AND NOT rolreplication`
  expect(await query(await uriOf('neondb_owner', 'neondb', own), others)).toEqual([{ rolname: 'by_sql' }])
})

test.runIf(findPgBouncer() === undefined)('without PgBouncer, no pooled connection string is returned', async () => {
  const path = `/connection_uri?branch_id=${shop.main}&role_name=neondb_owner&database_name=neondb&pooled=true`
  expect(await shop.call('GET', path)).toMatchObject({ status: 422, message: expect.stringContaining('PgBouncer') })
})

test('without pg_dump, the schema is refused, with the packages that contain it', async () => {
  vi.stubEnv('PG_DUMP', '/nowhere/pg_dump')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await shop.call('GET', `/branches/${shop.main}/schema?db_name=neondb`)).toMatchObject({
    status: 501,
    message: expect.stringMatching(/pg_dump 17 or newer.*postgresql-client-17.*PG_DUMP/),
  })
})

describe.skipIf(dumping === undefined)('with pg_dump (skipped without it)', () => {
  let old: Project
  let uri: string
  beforeAll(async () => {
    old = await newProject({ pg_version: dumping })
    uri = await uriOf('neondb_owner', 'neondb', old)
  })

  // promise: database-name
  test("the schema endpoints return pg_dump's output and the differences between two branches", async () => {
    expect(await query(uri, `SELECT current_setting('server_version_num')::int / 10000 AS major`)).toEqual([
      { major: dumping },
    ])
    const { branch } = await newBranch(old)
    await query(await uriOf('neondb_owner', 'neondb', old, branch), 'CREATE TABLE books (title text NOT NULL)')
    const { sql } = await old.call('GET', `/branches/${branch}/schema?db_name=neondb`)
    expect(sql).toContain('CREATE TABLE public.books')
    expect(sql).not.toMatch(/^\\/m)
    const { diff } = await old.call('GET', `/branches/${branch}/compare_schema?db_name=neondb`)
    expect(diff).toMatch(new RegExp(`^--- neondb\tmain\n\\+\\+\\+ neondb\t${branch}$`, 'm'))
    expect(diff).toContain('+CREATE TABLE public.books')
    const same = `/branches/${old.main}/compare_schema?db_name=neondb&base_branch_id=${old.main}`
    expect((await old.call('GET', same)).diff).toBe('')
    expect((await old.call('GET', `/branches/${old.main}/schema?db_name=none`)).status).toBe(404)
    // A database name, not a connection string.
    const odd = { name: 'host=192.0.2.1 dbname=x', owner_name: 'neondb_owner' }
    await old.call('POST', `/branches/${old.main}/databases`, { database: odd })
    const ofOdd = `/branches/${old.main}/schema?db_name=${encodeURIComponent(odd.name)}`
    await expect.poll(async () => (await old.call('GET', ofOdd)).sql).toContain('PostgreSQL database dump')
  })

  test('a schema that a stopping compute cuts off is reported as 423', async () => {
    const client = await clientAt(uri)
    await client.query('CREATE TABLE locked (n int)')
    await client.query('BEGIN; LOCK TABLE locked')
    const schema = sendOnce(`/${old.id}/branches/${old.main}/schema?db_name=neondb`)
    await expect.poll(() => query(uri, 'SELECT 1 FROM pg_locks WHERE NOT granted')).toHaveLength(1)
    await old.call('POST', `/endpoints/${old.compute}/suspend`)
    expect((await schema).status).toBe(423)
    await client.close()
  })
})

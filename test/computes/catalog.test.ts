/** The API's roles and databases match those in Postgres, whether the API or SQL created them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { findBinaries, findPgDump } from '../../src/sandbox/computes/postgres/binaries.ts'
import { makeSocketFolder } from '../../src/sandbox/computes/postgres/home.ts'
import { findPgBouncer } from '../../src/sandbox/computes/postgres/pooler.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { clientAt, openReal } from '../e2e/real-computes.ts'

const stateDir = mkdtempSync(join(tmpdir(), 'espalier-catalog-'))
let sandbox: Sandbox
let project: string
let main: string
let compute: string
beforeAll(async () => {
  sandbox = await openReal({ stateDir })
})
afterAll(async () => {
  await sandbox.close()
  rmSync(stateDir, { recursive: true, force: true })
})
/** Each test has its own project on a shared sandbox, because creating the first data takes longer than all tests. */
beforeEach(async () => {
  const made = await make(sandbox)
  project = made.project.id
  main = made.branch.id
  compute = made.endpoints[0].id
  for (const { id } of made.operations) await finished(id, sandbox)
})

const make = async (on: Sandbox, asked: object = {}) => {
  const answer = await fetch(`${on.apiUrl}/projects`, {
    method: 'POST',
    headers: { authorization: `Bearer ${on.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project: asked }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a response body can have any shape.
  return (await answer.json()) as any
}
const finished = (id: string, on: Sandbox) =>
  expect
    .poll(async () => (await call('GET', `/operations/${id}`, undefined, on)).operation.status, { interval: 20 })
    .toBe('finished')

/** Retries while the project is locked, and waits for operations, like any API client. */
const call = async (method: string, path: string, body?: object, on = sandbox) => {
  for (;;) {
    const answer = await fetch(`${on.apiUrl}/projects/${project}${path}`, {
      method,
      headers: { authorization: `Bearer ${on.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status === 423) {
      await setTimeout(10)
      continue
    }
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: a response body can have any shape.
    const said: any = text === '' ? {} : JSON.parse(text)
    for (const { id } of said.operations ?? []) {
      if (method === 'GET') break
      await finished(id, on)
    }
    return { status: answer.status, ...said }
  }
}
const uriOf = async (role: string, database: string, branch = main): Promise<string> =>
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
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)

test('after a sandbox restart, a role can be created before the first connection and can read existing tables', async () => {
  await query(await uriOf('neondb_owner', 'neondb'), 'CREATE TABLE t (n int)')
  await sandbox.close()
  sandbox = await openReal({ stateDir })
  await call('POST', `/branches/${main}/roles`, { role: { name: 'sally' } })
  expect(await query(await uriOf('sally', 'neondb'), 'TABLE t')).toEqual([])
})

test('a new role can log in to its database and owns it', async () => {
  await call('POST', `/branches/${main}/roles`, { role: { name: 'sally "quoted"' } })
  await call('POST', `/branches/${main}/databases`, { database: { name: "it's", owner_name: 'sally "quoted"' } })
  const uri = await uriOf(encodeURIComponent('sally "quoted"'), encodeURIComponent("it's"))
  expect(
    await query(
      uri,
      'CREATE TABLE t (n int)',
      `SELECT current_user AS role, pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = current_database()`,
    ),
  ).toEqual([{ role: 'sally "quoted"', owner: 'sally "quoted"' }])
  await call('PATCH', `/branches/${main}/databases/it's`, { database: { name: 'renamed' } })
  expect(await query(await uriOf(encodeURIComponent('sally "quoted"'), 'renamed'), 'TABLE t')).toEqual([])
})

test('a password reset closes open connections; then the new password works and the old one is rejected', async () => {
  const before = await uriOf('neondb_owner', 'neondb')
  const open = await clientAt(before)
  await call('POST', `/branches/${main}/roles/neondb_owner/reset_password`)
  await open.dropped
  expect(open.endedWith).toBe('57P01')
  await expect(clientAt(before)).rejects.toMatchObject({ code: '28P01' })
  expect(await query(await uriOf('neondb_owner', 'neondb'), 'SELECT 1 AS n')).toEqual([{ n: 1 }])
})

test.runIf(findPgBouncer() !== undefined)(
  'each role can log in through the pooler, even after a password reset (skipped without PgBouncer)',
  async () => {
    const pooled = async () =>
      (await call('GET', `/connection_uri?branch_id=${main}&role_name=sally&database_name=neondb&pooled=true`)).uri
    await call('POST', `/branches/${main}/roles`, { role: { name: 'sally' } })
    const first = await pooled()
    expect(await query(first, 'SELECT current_user AS role')).toEqual([{ role: 'sally' }])
    await call('POST', `/branches/${main}/roles/sally/reset_password`)
    expect(await query(await pooled(), 'SELECT current_user AS role')).toEqual([{ role: 'sally' }])
    await expect(clientAt(first)).rejects.toThrow('SASL authentication failed')
  },
)

test('deleting a role reassigns its objects to the database owner', async () => {
  await call('POST', `/branches/${main}/roles`, { role: { name: 'sally' } })
  await query(await uriOf('neondb_owner', 'neondb'), 'GRANT CREATE ON SCHEMA public TO sally')
  await query(await uriOf('sally', 'neondb'), 'CREATE TABLE kept AS SELECT 42 AS n')
  expect((await call('DELETE', `/branches/${main}/roles/sally`)).status).toBe(200)
  expect(
    await query(
      await uriOf('neondb_owner', 'neondb'),
      `SELECT tableowner, (SELECT n FROM kept) AS n, (SELECT count(*)::int FROM pg_roles WHERE rolname = 'sally') AS sallies
       FROM pg_tables WHERE tablename = 'kept'`,
    ),
  ).toEqual([{ tableowner: 'neondb_owner', n: 42, sallies: 0 }])
})

test('roles and databases created by SQL are listed, and a password changed by SQL cannot be revealed', async () => {
  const uri = await uriOf('neondb_owner', 'neondb')
  await query(uri, `CREATE ROLE by_sql LOGIN PASSWORD 'own-secret'`, 'CREATE DATABASE by_sql OWNER neondb_owner')
  expect(namesOf((await call('GET', `/branches/${main}/roles`)).roles)).toEqual(['neondb_owner', 'by_sql'])
  expect(namesOf((await call('GET', `/branches/${main}/databases`)).databases)).toEqual(['neondb', 'by_sql'])
  expect((await call('GET', `/branches/${main}/roles/by_sql/reveal_password`)).status).toBe(412)
  await query(uri, `ALTER ROLE neondb_owner PASSWORD 'other-secret'`)
  expect((await call('GET', `/branches/${main}/roles/neondb_owner/reveal_password`)).status).toBe(412)
  await query(uri.replace(/npg_\w+/, 'other-secret'), 'DROP ROLE by_sql', 'DROP DATABASE by_sql')
  expect(namesOf((await call('GET', `/branches/${main}/roles`)).roles)).toEqual(['neondb_owner'])
})

test('databases created by SQL are still listed while the compute is suspended, and a role created then can log in once the compute starts', async () => {
  await query(await uriOf('neondb_owner', 'neondb'), 'CREATE DATABASE by_sql')
  await call('POST', `/endpoints/${compute}/suspend`)
  expect(namesOf((await call('GET', `/branches/${main}/databases`)).databases)).toEqual(['neondb', 'by_sql'])
  await call('POST', `/branches/${main}/roles`, { role: { name: 'sally' } })
  expect((await call('GET', `/endpoints/${compute}`)).endpoint.current_state).toBe('idle')
  expect(await query(await uriOf('sally', 'by_sql'), 'SELECT 1 AS n')).toEqual([{ n: 1 }])
})

test('while the compute restarts, is resized, is suspended and is deleted, reads succeed and writes succeed or are locked', async () => {
  const statuses = new Set<string>()
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${sandbox.apiUrl}/projects/${project}${path}`, {
      method,
      headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    statuses.add(`${method} ${answer.status}`)
  }
  const catalog = `/branches/${main}`
  const uri = `/connection_uri?branch_id=${main}&role_name=neondb_owner&database_name=neondb`
  let isOver = false
  const poll = async (...request: readonly [string, string, object?]) => {
    while (!isOver) await send(...request)
  }
  const polls = [
    ...[`${catalog}/roles`, `${catalog}/databases/neondb`, `${catalog}/roles/neondb_owner/reveal_password`, uri].map(
      (path) => poll('GET', path),
    ),
    poll('DELETE', `${catalog}/databases/none`),
  ]
  for (const size of [1, 2]) {
    const sized = { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size }
    await call('POST', `/endpoints/${compute}/restart`)
    await call('PATCH', `/endpoints/${compute}`, { endpoint: sized })
    await call('POST', `/endpoints/${compute}/suspend`)
    await call('POST', `/endpoints/${compute}/start`)
  }
  await call('DELETE', `/endpoints/${compute}`)
  isOver = true
  await Promise.all(polls)
  // Without its compute, the branch has no connection string.
  expect([...statuses].filter((status) => !/^(GET (200|404)|DELETE (204|423))$/.test(status))).toEqual([])
})

test('a branch inherits roles, databases and passwords from its parent, and later changes stay separate', async () => {
  await call('POST', `/branches/${main}/roles`, { role: { name: 'sally' } })
  await call('POST', `/branches/${main}/databases`, { database: { name: 'shop', owner_name: 'sally' } })
  await query(await uriOf('sally', 'shop'), 'CREATE TABLE t AS SELECT 1 AS n')
  const { branch } = await call('POST', '/branches', { branch: { name: 'dev' }, endpoints: [{ type: 'read_write' }] })
  const copy = await uriOf('sally', 'shop', branch.id)
  expect(await query(copy, 'TABLE t')).toEqual([{ n: 1 }])
  await call('DELETE', `/branches/${branch.id}/databases/shop`)
  await call('DELETE', `/branches/${branch.id}/roles/sally`)
  await expect(clientAt(copy)).rejects.toMatchObject({ code: '28P01' })
  expect(await query(await uriOf('sally', 'shop'), 'TABLE t')).toEqual([{ n: 1 }])
})

test("a replica that starts before its primary has the branch's roles", async () => {
  const { branch } = await call('POST', '/branches', { branch: { name: 'fresh' }, endpoints: [{ type: 'read_only' }] })
  const replica = (await sandbox.control.computes()).find(({ branchId }) => branchId === branch.id)
  expect(await query(replica?.uri ?? '', 'SELECT pg_is_in_recovery() AS replica')).toEqual([{ replica: true }])
})

test('existing and new roles can replicate once logical replication is enabled', async () => {
  await query(await uriOf('neondb_owner', 'neondb'), 'CREATE ROLE by_sql LOGIN')
  await call('PATCH', '', { project: { settings: { enable_logical_replication: true } } })
  await call('POST', `/branches/${main}/roles`, { role: { name: 'replicator' } })
  for (const role of ['neondb_owner', 'replicator']) {
    const create = `SELECT slot_name FROM pg_create_logical_replication_slot('s_${role}', 'pgoutput')`
    expect(await query(await uriOf(role, 'neondb'), create)).toEqual([{ slot_name: `s_${role}` }])
  }
  const others = `SELECT rolname FROM pg_roles WHERE rolcanlogin AND NOT rolreplication`
  expect(await query(await uriOf('neondb_owner', 'neondb'), others)).toEqual([{ rolname: 'by_sql' }])
})

test.runIf(findPgBouncer() === undefined)('without PgBouncer, no pooled connection string is returned', async () => {
  const path = `/connection_uri?branch_id=${main}&role_name=neondb_owner&database_name=neondb&pooled=true`
  expect(await call('GET', path)).toMatchObject({ status: 422, message: expect.stringContaining('PgBouncer') })
})

test('without pg_dump, the schema is refused, with the packages that contain it', async () => {
  vi.stubEnv('PG_DUMP', '/nowhere/pg_dump')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await call('GET', `/branches/${main}/schema?db_name=neondb`)).toMatchObject({
    status: 501,
    message: expect.stringMatching(/pg_dump 17 or newer.*postgresql-client-17.*PG_DUMP/),
  })
})

const all = await findBinaries(undefined, makeSocketFolder())
const dumpers = await Promise.all(all.map(({ major }) => findPgDump(major, all)))
const dumping = all.find((_, index) => dumpers[index] !== undefined)
describe.skipIf(dumping === undefined)('with every installed Postgres (skipped without pg_dump)', () => {
  let own: Sandbox
  beforeAll(async () => {
    own = await openReal({ computes: { kind: 'postgres' } })
  })
  afterAll(() => own.close())

  test('each project runs the requested version', async () => {
    for (const { major } of all) {
      const made = await make(own, { pg_version: major })
      const [row] = await query(made.connection_uris[0].connection_uri, 'SHOW server_version_num')
      expect(Math.floor(Number(row?.server_version_num) / 10_000)).toBe(major)
    }
  })

  // promise: database-name
  test("the schema endpoints return pg_dump's output and the differences between two branches", async () => {
    const made = await make(own, { pg_version: dumping?.major })
    project = made.project.id
    const { id } = made.branch
    const { branch } = await call(
      'POST',
      '/branches',
      { branch: { name: 'dev' }, endpoints: [{ type: 'read_write' }] },
      own,
    )
    const dev = (await own.control.computes()).find(({ branchId }) => branchId === branch.id)
    await query(dev?.uri ?? '', 'CREATE TABLE books (title text NOT NULL)')
    const { sql } = await call('GET', `/branches/${branch.id}/schema?db_name=neondb`, undefined, own)
    expect(sql).toContain('CREATE TABLE public.books')
    expect(sql).not.toMatch(/^\\/m)
    const { diff } = await call('GET', `/branches/${branch.id}/compare_schema?db_name=neondb`, undefined, own)
    expect(diff).toMatch(/^--- neondb\tmain\n\+\+\+ neondb\tdev$/m)
    expect(diff).toContain('+CREATE TABLE public.books')
    const same = `/branches/${id}/compare_schema?db_name=neondb&base_branch_id=${id}`
    expect((await call('GET', same, undefined, own)).diff).toBe('')
    expect((await call('GET', `/branches/${id}/schema?db_name=none`, undefined, own)).status).toBe(404)
    // A database name, not a connection string.
    const odd = { name: 'host=192.0.2.1 dbname=x', owner_name: 'neondb_owner' }
    await call('POST', `/branches/${id}/databases`, { database: odd }, own)
    const ofOdd = `/branches/${id}/schema?db_name=${encodeURIComponent(odd.name)}`
    await expect.poll(async () => (await call('GET', ofOdd, undefined, own)).sql).toContain('PostgreSQL database dump')
  })

  test('a schema that a stopping compute cuts off is reported as 423', async () => {
    const made = await make(own, { pg_version: dumping?.major })
    project = made.project.id
    const { connection_uri: uri } = made.connection_uris[0]
    const client = await clientAt(uri)
    await client.query('CREATE TABLE t (n int)')
    await client.query('BEGIN; LOCK TABLE t')
    const schema = fetch(`${own.apiUrl}/projects/${project}/branches/${made.branch.id}/schema?db_name=neondb`, {
      headers: { authorization: `Bearer ${own.apiKey}` },
    })
    const waiting = 'SELECT 1 FROM pg_locks WHERE NOT granted'
    await expect.poll(() => query(uri, waiting)).toHaveLength(1)
    await call('POST', `/endpoints/${made.endpoints[0].id}/suspend`, undefined, own)
    expect((await schema).status).toBe(423)
    await client.close()
  })
})

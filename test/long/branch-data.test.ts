/** Real data after a restore, in schema-only branches, and after a project is deleted or recovered. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { clientOf, openPatient, type Patient, serversIn } from '../e2e/real-computes.ts'

/** The tests share a sandbox, because starting one takes longer than most tests. Each has a project of its own. */
let sandbox: Sandbox
let call: Patient['call']
beforeAll(async () => {
  ;({ sandbox, call } = await openPatient({ background: false }))
})
afterAll(() => sandbox.close())

const open = async () => {
  const run = async (computeId: string, ...statements: readonly string[]) => {
    const client = await clientOf(sandbox, computeId)
    let rows: readonly Record<string, unknown>[] = []
    for (const sql of statements) rows = await client.query(sql)
    await client.close()
    return rows
  }
  const { project, branch, endpoints } = (await call('POST', '/projects', { project: { branch: { name: 'main' } } }))
    .body
  return { call, run, project: `/projects/${project.id}`, main: branch.id, primary: endpoints[0].id }
}
const newPrimary = { type: 'read_write' }

test("restoring a branch copies its source's data, moves the old data to the backup, and keeps the host names", async () => {
  const { call, run, project, main, primary } = await open()
  const dev = (
    await call('POST', `${project}/branches`, {
      branch: { name: 'dev', parent_id: main },
      endpoints: [newPrimary, { type: 'read_only' }],
    })
  ).body
  const devId = dev.branch.id
  const [devPrimary, devReplica] = [dev.endpoints[0].id, dev.endpoints[1].id]
  await run(devPrimary, `CREATE TABLE origin AS SELECT 'dev' AS name`)
  await run(primary, `CREATE TABLE origin AS SELECT 'main' AS name`)
  const onReplica = async () => (await run(devReplica, 'SELECT name FROM origin').catch(() => []))[0]?.name
  await expect.poll(onReplica).toBe('dev')
  const connected = await clientOf(sandbox, devPrimary)

  const restored = await call('POST', `${project}/branches/${devId}/restore`, {
    source_branch_id: main,
    preserve_under_name: 'dev_old',
  })
  expect(restored.status).toBe(200)
  await connected.dropped
  expect(connected.endedWith).toBe('57P01')
  expect(await run(devPrimary, 'SELECT name FROM origin')).toEqual([{ name: 'main' }])
  await expect.poll(onReplica).toBe('main')

  const { endpoint } = (
    await call('POST', `${project}/endpoints`, {
      endpoint: { branch_id: restored.body.branch.parent_id, ...newPrimary },
    })
  ).body
  expect(await run(endpoint.id, 'SELECT name FROM origin')).toEqual([{ name: 'dev' }])

  await run(primary, `UPDATE origin SET name = 'main again'`)
  await call('POST', `${project}/branches/${devId}/restore`, { source_branch_id: main })
  expect(await run(devPrimary, 'SELECT name FROM origin')).toEqual([{ name: 'main again' }])
  const { branches } = (await call('GET', `${project}/branches`)).body
  expect(branches.map(({ name }: { name: string }) => name).sort()).toEqual(['dev', 'dev_old', 'main'])
})

test('a small replica follows its primary after the primary has grown', async () => {
  const { call, run, project, main, primary } = await open()
  const { endpoint } = (
    await call('POST', `${project}/endpoints`, {
      endpoint: { branch_id: main, type: 'read_only', autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 },
    })
  ).body
  const before = await clientOf(sandbox, endpoint.id)
  const size = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 }
  await call('PATCH', `${project}/endpoints/${primary}`, { endpoint: size })
  await run(primary, 'CREATE TABLE later AS SELECT 1 AS n')
  await before.dropped
  const onReplica = () => run(endpoint.id, 'SELECT * FROM later').catch(() => [])
  // Less than the scale-to-zero time, because a restart would help too.
  await expect.poll(onReplica, { timeout: 60_000 }).toEqual([{ n: 1 }])
  expect(await run(endpoint.id, 'SHOW max_connections')).toEqual([{ max_connections: '1678' }])
})

test('a schema-only branch has all tables and views but no rows', async () => {
  const { call, run, project, main, primary } = await open()
  await run(
    primary,
    'CREATE TABLE kind (id serial PRIMARY KEY, name text)',
    'CREATE TABLE item (id int GENERATED ALWAYS AS IDENTITY, kind_id int REFERENCES kind)',
    'CREATE TABLE part (n int) PARTITION BY RANGE (n)',
    'CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100)',
    'CREATE SCHEMA "odd ""one"',
    'CREATE TABLE "odd ""one"."T a" (secret text)',
    'CREATE SEQUENCE counter START 5',
    `INSERT INTO kind (name) SELECT 'secret-' || n FROM generate_series(1, 500) n`,
    'INSERT INTO item (kind_id) SELECT id FROM kind',
    'INSERT INTO part SELECT generate_series(1, 50)',
    `INSERT INTO "odd ""one"."T a" VALUES ('hidden')`,
    `SELECT nextval('counter'), nextval('counter')`,
    'CREATE MATERIALIZED VIEW names AS SELECT name FROM kind',
    `CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no truncation'; END $$`,
    'CREATE TRIGGER guard BEFORE TRUNCATE ON kind EXECUTE FUNCTION never()',
    'CREATE TRIGGER "always %s" BEFORE TRUNCATE ON kind EXECUTE FUNCTION never()',
    'ALTER TABLE kind ENABLE ALWAYS TRIGGER "always %s"',
    `SELECT lo_from_bytea(0, 'secret')`,
    'ANALYZE',
  )
  const made = await call('POST', `${project}/branches`, {
    branch: { name: 'bare', parent_id: main, init_source: 'schema-only' },
    endpoints: [newPrimary],
  })
  const { id } = made.body.endpoints[0]
  for (const table of ['kind', 'item', 'part', '"odd ""one"."T a"']) {
    expect(await run(id, `SELECT count(*)::int AS n FROM ${table}`), table).toEqual([{ n: 0 }])
  }
  await expect(run(id, 'SELECT * FROM names')).rejects.toMatchObject({ code: '55000' })
  expect(await run(id, `SELECT nextval('counter')::int AS n`)).toEqual([{ n: 5 }])
  expect(await run(id, `INSERT INTO kind (name) VALUES ('first') RETURNING id`)).toEqual([{ id: 1 }])
  expect(await run(id, 'SELECT count(*)::int AS n FROM pg_largeobject_metadata')).toEqual([{ n: 0 }])
  expect(await run(id, `SELECT count(*)::int AS n FROM pg_stats WHERE tablename = 'kind'`)).toEqual([{ n: 0 }])
  await expect(run(id, 'TRUNCATE kind CASCADE')).rejects.toThrow('no truncation')
  expect(await run(primary, 'SELECT count(*)::int AS n FROM kind')).toEqual([{ n: 500 }])
})

// promise: superuser-code
test("creating a schema-only branch does not run a client's functions as the superuser", async () => {
  const { call, run, project, main, primary } = await open()
  const tag = 'espalier-trigger-ran'
  await run(
    primary,
    `CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE '${tag} as %', current_user; END $$`,
    // The sandbox's own PL/pgSQL must resolve names in the catalog only.
    `ALTER DATABASE neondb SET search_path = public, pg_catalog`,
    `ALTER DATABASE neondb SET role = 'neondb_owner'`,
    'CREATE EXTENSION citext',
    'CREATE TABLE root (a int PRIMARY KEY)',
    'CREATE TABLE replica (a int)',
    'CREATE TABLE member (a int REFERENCES root)',
    'CREATE TABLE always (a int)',
    'INSERT INTO root VALUES (1)',
    ...['replica', 'member', 'always'].map((table) => `INSERT INTO ${table} VALUES (1)`),
    ...['replica', 'member', 'always'].flatMap((table) => [
      `CREATE TRIGGER "t r" BEFORE TRUNCATE ON ${table} EXECUTE FUNCTION evil()`,
      `ALTER TABLE ${table} ENABLE ${table === 'replica' ? 'REPLICA' : 'ALWAYS'} TRIGGER "t r"`,
    ]),
    'ALTER EXTENSION citext ADD TABLE member',
  )
  const made = await call('POST', `${project}/branches`, {
    branch: { name: 'bare', parent_id: main, init_source: 'schema-only' },
    endpoints: [newPrimary],
  })
  const { id } = made.body.endpoints[0]
  const enabled = `SELECT tgenabled::text AS how FROM pg_trigger WHERE tgname = 't r' ORDER BY 1`
  expect(await run(id, enabled)).toEqual([{ how: 'A' }, { how: 'A' }, { how: 'R' }])
  expect(await run(id, 'SELECT * FROM root NATURAL FULL JOIN replica NATURAL FULL JOIN always')).toEqual([])
  // Triggers are enabled again, including those of foreign keys.
  await expect(run(id, 'TRUNCATE root CASCADE')).rejects.toThrow(tag)
  await expect(run(id, 'INSERT INTO member VALUES (1)')).rejects.toMatchObject({ code: '23503' })
})

test('with real computes, a request for a past point in time is rejected rather than ignored', async () => {
  const { call, project, main } = await open()
  const refused = { status: 422, body: { code: 'HISTORY_NOT_KEPT', message: expect.stringContaining('real computes') } }
  const then = new Date(Date.now() - 1_000).toISOString()
  expect(await call('POST', `${project}/branches`, { branch: { parent_timestamp: then } })).toMatchObject(refused)
  expect(await call('POST', `${project}/branches`, { branch: { parent_lsn: '0/1DE2850' } })).toMatchObject(refused)
  const own = { source_branch_id: main, source_timestamp: then, preserve_under_name: 'before' }
  expect(await call('POST', `${project}/branches/${main}/restore`, own)).toMatchObject(refused)
  expect((await call('GET', `${project}/branches`)).body.branches).toHaveLength(1)
})

test('a recovered project still has its data', async () => {
  const { call, run, project, primary } = await open()
  await run(primary, 'CREATE TABLE kept AS SELECT 1 AS n')
  expect((await call('DELETE', project)).status).toBe(200)
  expect((await call('POST', `${project}/recover`)).status).toBe(200)
  expect(await run(primary, 'SELECT n FROM kept')).toEqual([{ n: 1 }])
})

test('a restore that the deletion of the project interrupts is completed when the project is recovered', async () => {
  const { call, run, project, primary } = await open()
  const dev = (await call('POST', `${project}/branches`, { endpoints: [newPrimary] })).body
  await run(dev.endpoints[0].id, 'SELECT 1')
  await run(primary, `CREATE TABLE origin AS SELECT 'main' AS name`)
  const request = { source_branch_id: dev.branch.parent_id }
  const { operations } = (await call('POST', `${project}/branches/${dev.branch.id}/restore`, request)).body
  expect(operations).toMatchObject([{ status: 'running' }, { action: 'create_branch', status: 'scheduling' }, {}])
  await call('DELETE', project)
  expect((await call('POST', `${project}/recover`)).status).toBe(200)
  expect(await run(dev.endpoints[0].id, 'SELECT name FROM origin')).toEqual([{ name: 'main' }])
})

test('a project that is deleted while its computes start and a branch is copied leaves no process and, after a week, no data', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'espalier-deleted-'))
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }))
  const { sandbox: own, call } = await openPatient({ stateDir, background: false })
  onTestFinished(() => own.close())
  const path = `/projects/${(await call('POST', '/projects', { project: {} })).body.project.id}`
  const dev = { endpoints: [newPrimary, { type: 'read_only' }] }
  expect((await call('POST', `${path}/branches`, dev)).status).toBe(201)
  expect((await call('DELETE', path)).status).toBe(200)
  await own.clock.advance(8 * 86_400_000)
  const branches = () => readdirSync(join(stateDir, 'postgres', 'branches'))
  await expect.poll(() => [...branches(), ...serversIn(stateDir)]).toEqual([])
  // Closing waits for all work that is still in progress.
  await own.close()
  expect(branches()).toEqual([])
})

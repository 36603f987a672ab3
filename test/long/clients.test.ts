/** Client connections to real computes: starting, logins, errors, limits, and how connections end. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPgBouncer } from '../../src/sandbox/computes/postgres/pooler.ts'
import type { ReachableCompute, Sandbox } from '../../src/sandbox/index.ts'
import { clientAt, clientOf, openPatient, type Patient, POSTGRES_BIN } from '../e2e/real-computes.ts'

const P = '/projects/shop'
let sandbox: Sandbox
let send: Patient['call']
beforeAll(async () => {
  ;({ sandbox, call: send } = await openPatient({
    computes: { kind: 'postgres', bin: POSTGRES_BIN, tempDiskScale: 0.0005 },
    seed: {
      projects: [
        {
          id: 'shop',
          branches: [
            {
              id: 'br-main',
              name: 'main',
              default: true,
              computes: [
                { id: 'ep-main', size: 0.25, scaleToZero: '5m' },
                { id: 'ep-replica', type: 'read_only', name: 'reporting', size: 0.5, state: 'idle' },
              ],
            },
            { name: 'sleepy', computes: [{ id: 'ep-sleepy', size: 0.25, state: 'idle' }] },
            { name: 'off', computes: [{ id: 'ep-off', size: 0.25, disabled: true }] },
            { name: 'odd', computes: [{ id: 'ep-odd', size: { min: 0.25, max: 8 }, scaleToZero: 'never' }] },
          ],
        },
      ],
    },
  }))
})
afterAll(() => sandbox.close())

const call = async (method: string, path: string, body?: object) => (await send(method, `${P}${path}`, body)).body
const computeOf = async (id: string): Promise<ReachableCompute> => {
  const found = (await sandbox.control.computes()).find((compute) => compute.id === id)
  if (found === undefined) throw new Error(`no ${id}`)
  return found
}
const uriOf = async (id: string): Promise<string> => (await computeOf(id)).uri ?? ''
const shared = async (id: string): Promise<string> => {
  const { uri = '', address } = await computeOf(id)
  return uri.replace(`:${address?.port}/`, `:${address?.sharedPort}/`)
}
/** SQLSTATE and message of the error. */
const refusal = async (uri: string, extra: pg.ClientConfig = {}): Promise<unknown> =>
  clientAt(uri, extra).then(
    async (client) => {
      await client.close()
      return 'connected'
    },
    (error) => [error.code, error.message],
  )
const operationsOn = async (id: string): Promise<readonly string[]> =>
  (await call('GET', '/operations')).operations
    .filter((operation: { endpoint_id: string }) => operation.endpoint_id === id)
    .map(({ action }: { action: string }) => action)
/** Handles a rejection from the start, so that it never counts as unhandled. */
const failureOf = (query: Promise<unknown>): Promise<unknown> =>
  query.then(
    () => 'it succeeded',
    (error: unknown) => error,
  )
const settled = (id: string) =>
  expect.poll(async () => (await call('GET', `/endpoints/${id}`)).endpoint.pending_state).toBeUndefined()

// control-api (postgres): runs-postgres
test('ten concurrent connections to an idle compute start it once', async () => {
  const clients = await Promise.all(Array.from({ length: 10 }, () => clientOf(sandbox, 'ep-sleepy')))
  expect(await Promise.all(clients.map((client) => client.query('SELECT 1 AS one')))).toEqual(
    Array.from({ length: 10 }, () => [{ one: 1 }]),
  )
  expect(await operationsOn('ep-sleepy')).toEqual(['start_compute'])
  expect((await computeOf('ep-sleepy')).connections).toBe(10)
  await Promise.all(clients.map((client) => client.close()))
})

// control-api (postgres): max-connections, max-connections-of-range, temporary-disk
test.each([
  ['the size table', 'ep-main', '104', 20],
  ['the documented formula, with autoscaling: min(8, 8 × 0.25) CU', 'ep-odd', '839', 120],
])('max_connections follows %s, and the temporary disk the maximum', async (_source, id, connections, gib) => {
  const client = await clientOf(sandbox, id)
  expect(await client.query('SHOW max_connections')).toEqual([{ max_connections: connections }])
  const temp_file_limit = `${Math.floor(gib * 1024 * 1024 * 0.0005)}kB`
  expect(await client.query('SHOW temp_file_limit')).toEqual([{ temp_file_limit }])
  await client.close()
})

test('on the shared port, a client selects the compute through options or the TLS server name', async () => {
  const uri = await shared('ep-main')
  for (const [suffix, extra] of [
    ['?options=endpoint%3Dep-main', {}],
    ['?options=endpoint%3Dep-main%20-c%20statement_timeout%3D7s', {}],
    ['', { ssl: { rejectUnauthorized: false, servername: 'ep-main.eu-central-1.aws.neon.tech' } }],
  ] as const) {
    const client = await clientAt(`${uri}${suffix}`, extra)
    expect(await client.query('SHOW cluster_name')).toEqual([{ cluster_name: 'ep-main' }])
    const [row] = await client.query('SHOW statement_timeout')
    expect(row?.statement_timeout).toBe(suffix.includes('statement_timeout') ? '7s' : '0')
    await client.close()
  }
})

test('a connection that names no compute, an unknown compute or a disabled compute is rejected with 08004', async () => {
  const uri = await shared('ep-main')
  expect(await refusal(uri)).toEqual(['08004', expect.stringContaining('Endpoint ID is not specified')])
  expect(await refusal(`${uri}?options=endpoint%3Dep-nobody`)).toEqual(['08004', expect.stringContaining('ep-nobody')])
  expect(await refusal(`${uri}?options=endpoint%3Dep-off`)).toEqual(['08004', expect.stringContaining('disabled')])
})

test('a connection over the limit is rejected with 53300, but any number of requests can still read the roles', async () => {
  const clients = []
  try {
    for (let index = 0; index < 97; index += 1) clients.push(await clientOf(sandbox, 'ep-main'))
    const { uri = '', branchId } = await computeOf('ep-main')
    expect(await refusal(uri)).toEqual(['53300', expect.any(String)])
    const reads = await Promise.all(Array.from({ length: 20 }, () => call('GET', `/branches/${branchId}/roles`)))
    expect(reads.every(({ roles }) => roles?.length > 0)).toBe(true)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
})

// control-api (postgres): disk-full
test('a query that fills the temporary disk fails with 53100, and its session survives', async () => {
  const client = await clientOf(sandbox, 'ep-main')
  await client.query(`SET work_mem = '64kB'`)
  const sort = client.query(
    'SELECT count(*) FROM (SELECT a FROM generate_series(1, 3000000) AS a ORDER BY a DESC) AS b',
  )
  await expect(sort).rejects.toMatchObject({
    code: '53100',
    message: expect.stringContaining('No space left on device'),
  })
  expect(await client.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  await client.close()
})

test('all sessions of a compute share its temporary disk', async () => {
  const clients = [await clientOf(sandbox, 'ep-main'), await clientOf(sandbox, 'ep-main')]
  const fill = 'SELECT count(*), pg_sleep(20) FROM (SELECT a FROM generate_series(1, 500000) AS a ORDER BY a DESC) AS b'
  const filling = clients.map(async (client) => {
    await client.query(`SET work_mem = '64kB'`)
    return client.query(fill)
  })
  const outcomes = await Promise.allSettled(filling)
  expect(outcomes).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ code: '53100', message: expect.stringContaining('No space left on device') }),
  })
  for (const client of clients) await client.close()
})

test('a client can cancel a query through the proxy', async () => {
  const { uri = '' } = await computeOf('ep-main')
  const client = new pg.Client({ connectionString: uri })
  await client.connect()
  const other = new pg.Client({ connectionString: uri })
  const sleep = failureOf(client.query('SELECT pg_sleep(20)'))
  // Only a running query can be cancelled.
  const watcher = await clientOf(sandbox, 'ep-main')
  const running = `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(20)'`
  await expect.poll(() => watcher.query(running)).toHaveLength(1)
  await watcher.close()
  // Like Ctrl-C in psql: another connection with the process id and secret.
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const { connection } = other as unknown as {
    connection: {
      connect(port: number, host: string): void
      on(event: string, act: () => void): void
      cancel(pid: number, key: number): void
    }
  }
  connection.on('connect', () => connection.cancel(processID, secretKey))
  connection.connect(Number(new URL(uri).port), '127.0.0.1')
  expect(await sleep).toMatchObject({ code: '57014' })
  await client.end()
})

test("a replica shows its primary's writes and is read-only", async () => {
  const primary = await clientOf(sandbox, 'ep-main')
  await primary.query('CREATE TABLE seen AS SELECT 1 AS n')
  const replica = await clientOf(sandbox, 'ep-replica')
  const count = async () => (await replica.query('SELECT count(*)::int AS n FROM seen').catch(() => []))[0]?.n
  await expect.poll(count).toBe(1)
  await primary.query('INSERT INTO seen SELECT 2')
  await expect.poll(count).toBe(2)
  await expect(replica.query('INSERT INTO seen SELECT 3')).rejects.toMatchObject({ code: '25006' })
  await Promise.all([primary.close(), replica.close()])
})

test("a branch starts with its parent's data, and later changes stay separate", async () => {
  const parent = await clientOf(sandbox, 'ep-main')
  await parent.query('CREATE TABLE inherited AS SELECT generate_series(1, 100) AS n')
  const { endpoints } = await call('POST', '/branches', {
    branch: { name: 'child', parent_id: 'br-main' },
    endpoints: [{ type: 'read_write', autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 }],
  })
  const child = await clientOf(sandbox, endpoints[0].id)
  expect(await child.query('SELECT count(*)::int AS n FROM inherited')).toEqual([{ n: 100 }])
  await child.query('DROP TABLE inherited')
  expect(await parent.query('SELECT count(*)::int AS n FROM inherited')).toEqual([{ n: 100 }])
  await Promise.all([parent.close(), child.close()])
})

test.each(['restart', 'suspend'])('%s ends open connections with 57P01', async (command) => {
  const client = await clientOf(sandbox, 'ep-sleepy')
  await settled('ep-sleepy')
  await call('POST', `/endpoints/ep-sleepy/${command}`)
  await client.dropped
  expect(client.endedWith).toBe('57P01')
  await settled('ep-sleepy')
})

test('a long-running query prevents scale to zero, but an idle connection does not', async () => {
  const shown = async () => (await call('GET', '/endpoints/ep-main')).endpoint
  const client = await clientOf(sandbox, 'ep-main')
  await settled('ep-main')
  const { last_active } = await shown()
  const long = failureOf(client.query('SELECT pg_sleep(30)'))
  await sandbox.clock.advance(310_000)
  // The activity check found the compute busy, so it counts as active until then.
  await expect.poll(async () => (await shown()).last_active).not.toBe(last_active)
  expect((await shown()).current_state).toBe('active')
  expect(client.endedWith).toBeUndefined()
  const canceller = await clientOf(sandbox, 'ep-main')
  await canceller.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)'`)
  expect(await long).toMatchObject({ code: '57014' })
  const sleeps = async () => {
    // A check that ran before the queries had ended counts them as activity.
    await sandbox.clock.advance(310_000)
    return (await shown()).current_state
  }
  await expect.poll(sleeps).toBe('idle')
  await client.dropped
  expect(client.endedWith).toBe('57P01')
  await settled('ep-main')
  expect(await shown()).toMatchObject({ current_state: 'idle', suspended_at: expect.any(String) })
  await canceller.close()
})

test('if a compute cannot start, the API and the client both receive the reason', async () => {
  const { endpoint } = await call('POST', '/endpoints', {
    endpoint: { branch_id: 'br-main', type: 'read_only', settings: { pg_settings: { work_mem: 'much' } } },
  })
  const { uri = '' } = await computeOf(endpoint.id)
  expect(await refusal(uri)).toEqual(['57P03', expect.stringContaining('work_mem')])
  const [failed] = (await call('GET', '/operations')).operations
  expect(failed).toMatchObject({ action: 'start_compute', status: 'failed', failures_count: 3 })
  expect(failed.error).toContain('work_mem')
})

const hasPgBouncer = findPgBouncer() !== undefined
test.runIf(hasPgBouncer)(
  'a pooled connection goes through PgBouncer in transaction mode (skipped without PgBouncer)',
  async () => {
    const uri = `${await shared('ep-main')}?options=endpoint%3Dep-main-pooler`
    const [first, second] = [await clientAt(uri), await clientAt(uri)]
    const pid = async (client: typeof first) => (await client.query('SELECT pg_backend_pid() AS pid'))[0]?.pid
    // Both clients share a server connection.
    expect(await pid(first)).toBe(await pid(second))
    await Promise.all([first.close(), second.close()])
  },
)

test.runIf(!hasPgBouncer)('a pooled connection is rejected with a hint if PgBouncer is not installed', async () => {
  const uri = `${await shared('ep-main')}?options=endpoint%3Dep-main-pooler`
  expect(await refusal(uri)).toEqual(['08004', expect.stringContaining('PgBouncer')])
})

test('loading a dump of the sandbox restarts the computes on their existing data', async () => {
  const client = await clientOf(sandbox, 'ep-odd')
  await client.query('CREATE TABLE before_load AS SELECT 1 AS n')
  await settled('ep-odd')
  sandbox.control.load(sandbox.control.dump())
  await client.dropped
  expect(client.endedWith).toBe('57P01')
  const again = await clientOf(sandbox, 'ep-odd')
  expect(await again.query('SELECT n FROM before_load')).toEqual([{ n: 1 }])
  await again.close()
})

// Logins, also with channel binding to the proxy's certificate, as the service's own command-line tool requests it.

const bound = { ssl: { rejectUnauthorized: false }, enableChannelBinding: true }

test('clients can log in with and without channel binding', async () => {
  for (const extra of [bound, { ssl: { rejectUnauthorized: false } }, {}]) {
    const client = await clientAt(await uriOf('ep-main'), extra)
    expect(await client.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
    await client.close()
  }
})

test.each([
  ['a wrong password', (text: string) => text.replace(/:[^:@]+@/, ':wrong@'), '28P01'],
  ['a role that does not exist', (text: string) => text.replace(/\/\/[^:]+:/, '//nobody:'), '28P01'],
  ['a database that does not exist', (text: string) => text.replace(/\/[^/?]+(\?|$)/, '/nowhere$1'), '3D000'],
])("%s is rejected with Postgres' own error", async (_what, change, code) => {
  await expect(clientAt(change(await uriOf('ep-main')), bound)).rejects.toMatchObject({ code })
})

test('a login with channel binding accepts a password that SQL set', async () => {
  const client = await clientAt(await uriOf('ep-main'))
  await client.query(`CREATE ROLE by_sql LOGIN PASSWORD 'first'`)
  await client.query(`ALTER ROLE by_sql PASSWORD 'second'`)
  const as = async (password: string) => (await uriOf('ep-main')).replace(/\/\/[^@]+@/, `//by_sql:${password}@`)
  await expect(clientAt(await as('first'), bound)).rejects.toMatchObject({ code: '28P01' })
  await (await clientAt(await as('second'), bound)).close()
  await client.close()
})

const psql = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'psql'))
  .find(existsSync)
test.runIf(psql !== undefined)(
  'psql connects with channel_binding=require to the host name that the API returns (skipped without psql)',
  async () => {
    const { searchParams, username, password, pathname } = new URL(await uriOf('ep-main'))
    expect(searchParams.size).toBe(0)
    const { address } = await computeOf('ep-main')
    const { stdout } = await promisify(execFile)(
      psql ?? '',
      [
        `postgresql://${username}:${password}@ep-main.eu-central-1.aws.neon.tech${pathname}?sslmode=require&channel_binding=require`,
        '-Atc',
        'SELECT 42',
      ],
      { env: { PATH: process.env.PATH, PGHOSTADDR: '127.0.0.1', PGPORT: String(address?.sharedPort) } },
    )
    expect(stdout.trim()).toBe('42')
  },
)

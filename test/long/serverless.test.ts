/** The service's serverless driver against real computes. Only its endpoints are configured. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { Client, NeonDbError, neon, neonConfig, Pool } from '@neondatabase/serverless'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { openReal } from '../e2e/real-computes.ts'

let sandbox: Sandbox
let uri: string
beforeAll(async () => {
  sandbox = await openReal({
    seed: { projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ id: 'ep-main', state: 'idle' }] }] }] },
  })
  const [compute] = await sandbox.control.computes()
  uri = compute?.uri ?? ''
  const { host } = new URL(sandbox.apiUrl)
  // As documented in docs/reference/sandbox.md.
  neonConfig.webSocketConstructor = WebSocket
  neonConfig.wsProxy = `${host}/v2`
  neonConfig.fetchEndpoint = `http://${host}/sql`
  neonConfig.useSecureWebSocket = false
  neonConfig.pipelineConnect = false
})
afterAll(() => sandbox.close())

test('the HTTP driver returns typed rows and full results, and sends parameters', async () => {
  const sql = neon(uri)
  expect(await sql`SELECT ${7}::int AS n, ${'x'} AS t, null AS nothing, true AS yes, '{"a":[1]}'::jsonb AS j`).toEqual([
    { n: 7, t: 'x', nothing: null, yes: true, j: { a: [1] } },
  ])
  expect(await sql.query('SELECT 1 AS one, 2 AS two', [], { arrayMode: true, fullResults: true })).toMatchObject({
    command: 'SELECT',
    rowCount: 1,
    rows: [[1, 2]],
    fields: [{ name: 'one', dataTypeID: 23 }, { name: 'two' }],
  })
})

test('a transaction over HTTP is atomic and uses the requested isolation level', async () => {
  const sql = neon(uri)
  await sql`CREATE TABLE t (n int PRIMARY KEY)`
  await expect(sql.transaction([sql`INSERT INTO t VALUES (1)`, sql`INSERT INTO t VALUES (1)`])).rejects.toThrow(
    /duplicate/,
  )
  expect(await sql`SELECT * FROM t`).toEqual([])
  const [levels] = await sql.transaction([sql`SHOW transaction_isolation`], { isolationLevel: 'Serializable' })
  expect(levels).toEqual([{ transaction_isolation: 'serializable' }])
  const writing = sql.transaction([sql`INSERT INTO t VALUES (2)`], { readOnly: true })
  await expect(writing).rejects.toMatchObject({ code: '25006' })
})

test("the HTTP driver receives Postgres' errors, and cannot log in with a wrong password or reach another server", async () => {
  const sql = neon(uri)
  await expect(sql`SELECT 1/0`).rejects.toMatchObject({ name: 'NeonDbError', code: '22012', severity: 'ERROR' })
  await expect(sql.query('SELECT 1; SELECT 2')).rejects.toMatchObject({ code: '42601' })
  await expect(neon(uri.replace(/npg_\w+/, 'wrong'))`SELECT 1`).rejects.toMatchObject({ code: '28P01' })
  await expect(neon(uri.replace(/:\d+\//, ':1/'))`SELECT 1`).rejects.toThrow(NeonDbError)
})

/** The compute by its port, by the host name that the API returns, and by a host name that leads elsewhere. */
const addresses = () => [
  uri,
  uri.replace(/@[^/]+/, '@ep-main.eu-central-1.aws.neon.tech'),
  uri.replace(/@[^/]+/, '@ep-main.example.com:1'),
]

// promise: websocket-endpoint
test('the HTTP driver reaches the compute by its id, whatever host the connection string names', async () => {
  const shared = sandbox.control.computesDescription.split(' ').at(-1)
  const byOption = `${uri.replace(/@[^/]+/, `@127.0.0.1:${shared}`)}?options=endpoint%3Dep-main`
  for (const connectionString of [...addresses(), byOption]) {
    expect(await neon(connectionString)`SHOW cluster_name`, connectionString).toEqual([{ cluster_name: 'ep-main' }])
  }
  await expect(neon(uri.replace(/@[^/]+/, '@ep-other.example.com'))`SELECT 1`).rejects.toThrow('no compute at ep-other')
})

test('the WebSocket driver reaches the compute by its id, whatever host the connection string names', async () => {
  for (const connectionString of addresses()) {
    const client = new Client(connectionString)
    await client.connect()
    await client.query('BEGIN')
    expect((await client.query('SELECT $1::int + 1 AS n', [41])).rows).toEqual([{ n: 42 }])
    await client.query('ROLLBACK')
    await client.end()
  }
  const pool = new Pool({ connectionString: uri })
  expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
  await pool.end()
})

// promise: websocket-endpoint
test('the WebSocket endpoint rejects addresses outside the sandbox', async () => {
  const { host } = new URL(sandbox.apiUrl)
  for (const address of ['127.0.0.1:22', 'example.com:5432', 'ep-other.aws.neon.tech:5432', '']) {
    const failure = await new Promise<Error>((resolve) => {
      new WebSocket(`ws://${host}/v2?address=${address}`).once('error', resolve)
    })
    expect(failure.message).toContain('404')
  }
})

// promise: keyless-client
test('the WebSocket endpoint rejects a malformed URL, and the sandbox keeps running', async () => {
  const { host, port, hostname } = new URL(sandbox.apiUrl)
  for (const path of ['//', 'http://[', '/v2?address=%zz', '/v2?address=127.0.0.1:99999999']) {
    const socket = connect(Number(port), hostname)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    expect(String(answer), path).toMatch(/^HTTP\/1\.1 404/)
    socket.destroy()
  }
  expect((await fetch(`${sandbox.apiUrl}/openapi.json`)).status).toBe(200)
})

test('simulated computes reject SQL', async () => {
  const simulated = await startSandbox()
  onTestFinished(() => simulated.close())
  const answer = await fetch(new URL('/sql', simulated.apiUrl), {
    method: 'POST',
    headers: { 'neon-connection-string': uri, 'neon-raw-text-output': 'true' },
    body: JSON.stringify({ query: 'SELECT 1', params: [] }),
  })
  expect(answer.status).toBe(501)
})

/** Last, because it closes the sandbox of the other tests. */
test('the sandbox closes even while a WebSocket is open', async () => {
  const client = new Client(uri)
  client.on('error', () => undefined)
  await client.connect()
  await sandbox.close()
})

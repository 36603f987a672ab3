// Compares the effect on connections that a plan shows with the effect on real Postgres servers: which connections stay
// open, which are dropped, and which computes start. Exits with 1 if the effect differs from the plan.
import pg from 'pg'
import { MANIFEST, startDemoSandbox } from './demo-sandbox.mjs'

const say = (text) => process.stdout.write(`${text}\n`)

const { computes, run, uriOf, stop } = await startDemoSandbox('--computes', 'postgres', '--pg-port', '0')
try {
  say(`Computes: ${computes.join('  ')}`)
  await demo()
} finally {
  await stop()
}

async function demo() {
  const main = await connect('main')
  const staging = await connect('staging')
  say(`\nConnected to main (max_connections ${await maxConnections(main)}) and staging, like an application.`)
  await espalier('plan', MANIFEST)
  await espalier('apply', MANIFEST, '--auto-approve')

  await main.ended
  expect(
    main.sqlState === '57P01',
    'main restarted: its connection was dropped',
    `SQLSTATE ${main.sqlState}, as planned`,
  )
  const again = await connect('main')
  expect(
    (await maxConnections(again)) === '1678',
    'the same connection string works again',
    `max_connections ${await maxConnections(again)}`,
  )
  const survived = await staging.client.query('SELECT 1').then(
    () => true,
    () => false,
  )
  expect(survived, 'staging changed without a restart', 'its connection is still open')

  const sleeping = await uriOf('development')
  const began = performance.now()
  const development = await connectTo(sleeping)
  await development.client.query('SELECT 1')
  const took = Math.round(performance.now() - began)
  expect(true, 'development was resized while idle, and started for a connection', `first row after ${took} ms`)
  expect(
    (await maxConnections(development)) === '419',
    'development has its new size',
    `max_connections ${await maxConnections(development)}`,
  )
  for (const { client } of [again, staging, development]) await client.end()
}

function expect(holds, what, figure) {
  say(`${holds ? '✓' : '✗'} ${what}: ${figure}`)
  if (!holds) process.exitCode = 1
}

async function connect(ref) {
  return connectTo(await uriOf(ref))
}

async function connectTo(connectionString) {
  const client = new pg.Client({ connectionString })
  const connection = { client, sqlState: undefined }
  connection.ended = new Promise((resolve) => {
    client.on('error', (error) => {
      connection.sqlState ??= error.code
      resolve()
    })
  })
  await client.connect()
  return connection
}

async function maxConnections({ client }) {
  const { rows } = await client.query('SHOW max_connections')
  return rows[0].max_connections
}

async function espalier(...args) {
  const code = await run(...args)
  if (code !== 0) throw new Error(`espalier ${args[0]} exited with ${code}`)
}

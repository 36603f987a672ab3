// Compares the planned effect on connections with real Postgres: which connections survive, which drop, and which computes
// start. Exits with 1 if the effect differs from the plan.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = 'examples/quickstart/espalier.yaml'
const say = (text) => process.stdout.write(`${text}\n`)

const sandbox = spawn(
  process.execPath,
  [
    ...['dist/main.js', 'sandbox', 'serve', '--port', '0', '--pg-port', '0', '--computes', 'postgres'],
    ...['--seed', 'examples/quickstart/seed.yaml'],
  ],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
)
const settings = await readSettings(sandbox.stdout)
const env = { ...process.env, ESPALIER_BASE_URL: settings.API[0], ESPALIER_API_KEY: settings.Key[0] }

try {
  say(`Computes: ${settings.Computes.join('  ')}`)
  await demo()
} finally {
  sandbox.kill('SIGTERM')
  await once(sandbox, 'exit')
}

async function demo() {
  const main = await connect('main')
  const staging = await connect('staging')
  say(`\nConnected to main (max_connections ${await maxConnections(main)}) and staging, like an application.`)
  await espalier('plan', manifest)
  await espalier('apply', manifest, '--auto-approve')

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
    'with its new size',
    `max_connections ${await maxConnections(development)}`,
  )
  for (const { client } of [again, staging, development]) await client.end()
}

function expect(holds, what, figure) {
  say(`${holds ? '✓' : '✗'} ${what}: ${figure}`)
  if (!holds) process.exitCode = 1
}

/** The connection string printed by `espalier sandbox connect`. */
async function uriOf(ref) {
  const { stdout } = await run(['sandbox', 'connect', ref, '--port', new URL(settings.API[0]).port], 'pipe')
  return stdout.trim()
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

/** Prints the command as a user would type it, runs it, and ends the demo if it fails. */
async function espalier(...args) {
  say(`\n$ espalier ${args.join(' ')}\n`)
  const { code } = await run(args, 'inherit')
  if (code !== 0) throw new Error(`espalier ${args[0]} exited with ${code}`)
}

async function run(args, output) {
  const child = spawn(process.execPath, ['dist/main.js', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', output, 'inherit'],
  })
  let stdout = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  const [code] = await once(child, 'close')
  return { code, stdout }
}

async function readSettings(stream) {
  const found = {}
  for await (const line of createInterface({ input: stream })) {
    const [name, ...values] = line.split('  ')
    found[name] ??= values
    if (found.Computes) {
      stream.resume()
      return found
    }
  }
  throw new Error('the sandbox exited before it printed its address')
}

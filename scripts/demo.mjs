// Shows the basic workflow on the sandbox: plan, apply, plan again. Exits with the code of the first command that fails.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const espalier = ['dist/main.js']

const sandbox = spawn(
  process.execPath,
  [
    ...espalier,
    'sandbox',
    'serve',
    '--port',
    '0',
    '--computes',
    'simulated',
    '--seed',
    'examples/quickstart/seed.yaml',
  ],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
)
const settings = await readSettings(sandbox.stdout)

/** Prints the command as a user would type it, runs it and returns its exit code. */
async function run(...args) {
  process.stdout.write(`\n$ espalier ${args.join(' ')}\n\n`)
  const child = spawn(process.execPath, [...espalier, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ESPALIER_BASE_URL: settings.API, ESPALIER_API_KEY: settings.Key },
  })
  const [code] = await once(child, 'exit')
  return code
}

async function readSettings(stream) {
  const found = {}
  const lines = createInterface({ input: stream })
  for await (const line of lines) {
    const [name, value] = line.split(/\s+/)
    found[name] = value
    if (found.API && found.Key) {
      stream.resume()
      return found
    }
  }
  throw new Error('the sandbox exited before it printed its address')
}

const manifest = 'examples/quickstart/espalier.yaml'
try {
  process.exitCode =
    (await run('plan', manifest)) ||
    (await run('apply', manifest, '--auto-approve')) ||
    (await run('plan', manifest, '--detailed-exitcode'))
} finally {
  sandbox.kill('SIGTERM')
}

/** `espalier sandbox serve` and `connect`. Real computes run in a separate process, to check that they stop with it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { findPgBouncer } from '../../src/sandbox/computes/postgres/pooler.ts'
import { espalier, MAIN, ROOT, type RunningProcess, start, startProcess } from '../e2e/espalier.ts'
import { clientAt, POSTGRES_BIN, serversIn } from '../e2e/real-computes.ts'

const SEED = 'examples/quickstart/seed.yaml'
let state: string
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'espalier-state-'))
})

interface ServedReal extends RunningProcess {
  readonly port: string
}

const serveReal = async (...more: readonly string[]): Promise<ServedReal> => {
  const running = startProcess([
    ...['sandbox', 'serve', '--port', '0', '--pg-port', '0', '--seed', SEED, '--state', state],
    ...['--computes', 'postgres', '--pg-bin', POSTGRES_BIN ?? '', ...more],
  ])
  onTestFinished(() => void running.child.kill('SIGKILL'))
  await running.says('Computes  ')
  const port = /API {2}http:\/\/127\.0\.0\.1:(\d+)/.exec(running.sofar.stdout)?.[1] ?? ''
  return { ...running, port }
}

const connect = async ({ port }: ServedReal, ...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await espalier(['sandbox', 'connect', ...args, '--port', port])
  expect(code, stderr).toBe(0)
  return stdout.trim()
}

const servers = () => serversIn(state)

/** An API request that is retried while the project is locked. */
const ask = async ({ port }: ServedReal, method: string, path: string, body?: object) => {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/projects/quiet-river-12345678${path}`, {
      method,
      headers: { authorization: 'Bearer key-12345', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a body is whatever came over the wire.
    if (answer.status !== 423) return (await answer.json()) as any
    await setTimeout(20)
  }
}

test('data, connection strings and running operations survive SIGTERM and kill -9, no Postgres process remains, and data of another Postgres version is rejected', async () => {
  const first = await serveReal('--key', 'key-12345')
  const uri = await connect(first, 'main', '--project', 'shop')
  const client = await clientAt(uri)
  await client.query('CREATE TABLE kept AS SELECT 42 AS n')
  expect(servers()).toHaveLength(1)
  // Connected clients do not prevent it from stopping.
  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)
  await client.dropped
  expect(client.endedWith).toBe('57P01')
  expect(servers()).toEqual([])

  const second = await serveReal('--key', 'key-12345')
  expect(await connect(second, 'ep-cool-dawn-a1b2c3d4')).toBe(uri)
  const { branches } = await ask(second, 'GET', '/branches')
  const main = branches.find((branch: { name: string }) => branch.name === 'main').id
  const again = await clientAt(uri)
  expect(await again.query('INSERT INTO kept SELECT 43 RETURNING n')).toEqual([{ n: 43 }])
  await ask(second, 'POST', `/branches/${main}/roles`, { role: { name: 'sally' } })
  await ask(second, 'POST', `/branches/${main}/databases`, { database: { name: 'shop', owner_name: 'sally' } })
  second.child.kill('SIGKILL')
  await second.ended
  await again.dropped

  // Immediately, while the old Postgres may still be stopping.
  const third = await serveReal('--key', 'key-12345')
  await expect.poll(async () => (await ask(third, 'GET', '/operations')).operations[0].status).toBe('finished')
  const path = `/connection_uri?branch_id=${main}&role_name=sally&database_name=shop`
  const sally = await clientAt((await ask(third, 'GET', path)).uri)
  expect(await sally.query('SELECT current_user AS role, current_database() AS database')).toEqual([
    { role: 'sally', database: 'shop' },
  ])
  const last = await clientAt(uri)
  expect(await last.query('SELECT n FROM kept ORDER BY n')).toEqual([{ n: 42 }, { n: 43 }])
  third.child.kill('SIGKILL')
  await third.ended
  await last.dropped
  await expect.poll(servers).toEqual([])

  const data = join(state, 'postgres', 'branches')
  const [branch = ''] = await readdir(data)
  const file = join(data, branch, 'PG_VERSION')
  await writeFile(file, '12\n')
  const rejected = await espalier([
    ...['sandbox', 'serve', '--port', '0', '--pg-port', '0', '--state', state, '--pg-bin', POSTGRES_BIN ?? ''],
  ])
  expect(rejected).toMatchObject({ code: 1, stderr: expect.stringContaining('needs Postgres 12') })
  // The data does not change.
  expect(await readFile(file, 'utf8')).toBe('12\n')
})

// hint: To start one, run: espalier sandbox serve
// hint: To use real computes, run: espalier sandbox serve --computes postgres
test('sandbox connect requires a running sandbox with real computes, and psql connects with each documented command', async () => {
  const rejected = async (port: string, hint: string): Promise<void> =>
    expect(await espalier(['sandbox', 'connect', 'main', '--port', port])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(hint),
    })
  await rejected('1', 'To start one, run: espalier sandbox serve')
  const simulated = start(['sandbox', 'serve', '--port', '0', '--seed', SEED, '--computes', 'simulated'])
  onTestFinished(() => simulated.interrupt('SIGTERM'))
  await simulated.says('Computes  simulated')
  await rejected(
    /127\.0\.0\.1:(\d+)/.exec(simulated.sofar.stdout)?.[1] ?? '',
    'To use real computes, run: espalier sandbox serve --computes postgres',
  )
  const { port } = await serveReal()
  const { code, stderr } = await espalier(['sandbox', 'connect', 'mian', '--port', port])
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean main?') })
  const texts = await Promise.all(
    ['README.md', 'docs/reference/sandbox.md'].map((page) => readFile(`${ROOT}${page}`, 'utf8')),
  )
  const commands = texts.flatMap((text) => text.match(/^(?:npx )?espalier sandbox connect [^#\n]*/gm) ?? [])
  expect(commands.length).toBeGreaterThan(4)
  // Runs the program like npx: its first argument is the program's name.
  for (const [name, first] of [
    ['npx', 'shift\n'],
    ['espalier', ''],
  ]) {
    const script = `#!/bin/sh\n${first}exec "${process.execPath}" "${MAIN}" "$@" --port ${port}\n`
    await writeFile(join(state, `${name}`), script, { mode: 0o755 })
  }
  const env = { PATH: `${state}:${process.env.PATH}`, TMPDIR: process.env.TMPDIR }
  for (const command of new Set(commands)) {
    const line = command.includes('--psql')
      ? `echo 'SELECT 6 * 7' | ${command}`
      : `psql "$(${command.trim()})" -Atc 'SELECT 6 * 7'`
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { env, encoding: 'utf8' })
    if (command.includes('--pooled') && findPgBouncer() === undefined) expect(stderr).toContain('PgBouncer')
    else expect({ line, status, stdout, stderr }).toMatchObject({ status: 0, stdout: expect.stringContaining('42') })
  }
})

test('sandbox serve rejects a --pg-bin without Postgres and names the missing programs', async () => {
  const { code, stderr } = await espalier(['sandbox', 'serve', '--port', '0', '--pg-port', '0', '--pg-bin', state])
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('must contain postgres and initdb'),
  })
  expect(stderr).not.toMatch(/\n\s+at /)
})

test('the demo of real computes passes its checks and leaves nothing behind (npm run test:long)', async () => {
  const demo = spawn(process.execPath, ['scripts/demo-postgres.mjs'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  demo.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(demo, 'close')
  expect(code, said).toBe(0)
  expect(said.match(/^✓ .*$/gm)).toHaveLength(5)
  expect(said).toMatch(/first row after \d+ ms/)
})

test('sandbox serve reads faults from a file and reports the position of an invalid one', async () => {
  const file = join(state, 'faults.yaml')
  await writeFile(
    file,
    '- { on: request, path: /projects/*, effect: { kind: status, status: 503, message: out of order }, times: 0 }\n',
  )
  const serve = 'sandbox serve --port 0 --computes simulated --faults'.split(' ')
  const running = start([...serve, file, '--seed', SEED, '--key', 'key-12345'])
  onTestFinished(() => running.interrupt('SIGTERM'))
  await running.says('Computes  ')
  const url = /API {2}(\S+)/.exec(running.sofar.stdout)?.[1] ?? ''
  const answer = await fetch(`${url}/projects/quiet-river-12345678`, { headers: { authorization: 'Bearer key-12345' } })
  expect([answer.status, await answer.json()]).toMatchObject([503, { message: 'out of order' }])

  await writeFile(file, '- { on: request, effect: { kind: earthquake } }\n')
  const { code, stderr } = await espalier([...serve, file])
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`faults.yaml:1:3: [0]: must have \`on: request\``),
  })
})

import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { manualClock, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { caller, EMPTY, IDLE, operationsOf, P, PRIMARY, SEED } from './open-sandbox.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'espalier-state-'))
  return () => rm(directory, { recursive: true, force: true })
})

/** Opens the folder again. The clock continues where the previous sandbox stopped. */
const open = async (start = Date.UTC(2026, 0, 1), options: SandboxOptions = {}) => {
  const clock = manualClock(start)
  const sandbox = await startSandbox({ stateDir: directory, seed: SEED, clock, ...options })
  onTestFinished(() => sandbox.close())
  return { sandbox, clock, call: caller(sandbox) }
}

const worldOf = async ({ call }: Awaited<ReturnType<typeof open>>) =>
  Promise.all(
    ['/projects', `${P}/branches`, `${P}/endpoints`, `${P}/operations`].map(
      async (path) => (await call('GET', path)).body,
    ),
  )

test('the state and the API key are the same after a restart', async () => {
  const first = await open()
  await first.call('POST', `${P}/branches`, { branch: { name: 'kept' }, endpoints: [{ type: 'read_write' }] })
  await first.clock.advance(10_000)
  await first.call('DELETE', `${P}/endpoints/${IDLE}`)
  await first.call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { branch_id: EMPTY, name: 'moved' } })
  const world = await worldOf(first)
  await first.sandbox.close()
  const second = await open(first.clock.now(), { seed: { projects: [] } })
  expect(await worldOf(second)).toEqual(world)
  expect(second.sandbox.apiKey).toBe(first.sandbox.apiKey)
})

test('only the owner can read the key file and the state files', async () => {
  const { sandbox } = await open(undefined, { apiKey: 'chosen' })
  expect(sandbox.apiKey).toBe('chosen')
  for (const name of await readdir(directory)) {
    expect((await stat(join(directory, name))).mode & 0o077, name).toBe(0)
  }
  expect((await readFile(join(directory, 'key'), 'utf8')).trim()).toBe('chosen')
})

test('running operations continue after a restart', async () => {
  const first = await open()
  await first.call('POST', `${P}/endpoints/${PRIMARY}/restart`)
  await first.clock.advance(100)
  await first.sandbox.close()
  await first.clock.advance(60_000)
  const second = await open(first.clock.now())
  expect((await second.call('POST', `${P}/endpoints/${PRIMARY}/suspend`)).status).toBe(423)
  await second.clock.advance(0)
  expect(operationsOf(await second.call('GET', `${P}/operations`))).toEqual([
    'start_compute running',
    'suspend_compute finished',
  ])
  await second.clock.advance(5_000)
  expect((await second.call('GET', `${P}/endpoints/${PRIMARY}`)).body.endpoint.current_state).toBe('active')
})

test('a closed sandbox runs no more tasks, although its clock keeps running', async () => {
  const lines: string[] = []
  const { sandbox, call, clock } = await open(undefined, { log: (line) => lines.push(line) })
  await call('POST', `${P}/endpoints/${PRIMARY}/restart`)
  await sandbox.close()
  await sandbox.close()
  const before = lines.length
  await clock.advance(60_000)
  expect(lines).toHaveLength(before)
})

test('a scale-to-zero timeout that expired while the sandbox was stopped takes effect at the next start', async () => {
  const first = await open()
  await first.call('POST', `${P}/endpoints/${IDLE}/start`)
  await first.clock.advance(5_000)
  await first.sandbox.close()
  const second = await open(first.clock.now() + 3_600_000)
  await second.clock.advance(1_000)
  expect((await second.call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint.current_state).toBe('idle')
})

test('after a restart, a clock that was ahead of real time does not go back', async () => {
  const ahead = Date.now() + 30 * 86_400_000
  const first = await open(ahead)
  await first.call('POST', `${P}/endpoints/${IDLE}/start`)
  await first.sandbox.close()
  const sandbox = await startSandbox({ stateDir: directory, timeScale: 1_000 })
  onTestFinished(() => sandbox.close())
  expect(sandbox.clock.now()).toBeGreaterThanOrEqual(ahead)
})

test('an incomplete last line of the log is dropped and the other lines are kept', async () => {
  const first = await open()
  await first.call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { name: 'kept' } })
  await first.sandbox.close()
  await appendFile(join(directory, 'log.jsonl'), '[{"put":{"kind":"compute","id":"ep-')
  const second = await open()
  expect((await second.call('GET', `${P}/endpoints/${PRIMARY}`)).body.endpoint.name).toBe('kept')
  await second.call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { name: 'later' } })
  await second.sandbox.close()
  const third = await open()
  expect((await third.call('GET', `${P}/endpoints/${PRIMARY}`)).body.endpoint.name).toBe('later')
})

test('a log that is cut off at any byte never yields part of a transaction', async () => {
  const first = await open()
  const log = join(directory, 'log.jsonl')
  await first.call('POST', `${P}/endpoints/${PRIMARY}/restart`)
  await first.sandbox.close()
  const { size } = await stat(log)
  const whole = await readFile(log)
  for (const length of [0, 1, Math.floor(size / 2), size - 1, size]) {
    await writeFile(log, whole)
    await truncate(log, length)
    const copy = await open()
    const { body } = await copy.call('GET', `${P}/operations`)
    const { pending_state } = (await copy.call('GET', `${P}/endpoints/${PRIMARY}`)).body.endpoint
    expect([body.operations.length, pending_state]).toEqual(length === size ? [2, 'active'] : [0, undefined])
    await copy.sandbox.close()
    await rm(join(directory, 'snapshot.jsonl'))
    await startSandbox({ stateDir: directory, seed: SEED, clock: manualClock() }).then((fresh) => fresh.close())
  }
})

test('replaying a log on a snapshot that includes it changes nothing', async () => {
  const first = await open()
  await first.call('POST', `${P}/endpoints/${PRIMARY}/restart`)
  await first.clock.advance(5_000)
  await first.call('DELETE', `${P}/endpoints/${IDLE}`)
  const world = await worldOf(first)
  const log = await readFile(join(directory, 'log.jsonl'))
  await first.sandbox.close()
  const second = await open(first.clock.now())
  await second.sandbox.close()
  await writeFile(join(directory, 'log.jsonl'), log)
  expect(await worldOf(await open(first.clock.now()))).toEqual(world)
})

// hint: Delete the folder to start over from the seed.
test.each([
  'nonsense',
  '5',
  '[{"put":{"kind":"nothing"}}]',
  `[{"put":${JSON.stringify({ kind: 'branch', id: 'br-x', projectId: 'p-x', name: 'x', isDefault: false, isProtected: false, state: 'ready', createdAt: 0, updatedAt: 0 })}}]`,
])('a damaged line within the log is reported with its line number: %s', async (line) => {
  const first = await open()
  await first.sandbox.close()
  await writeFile(join(directory, 'log.jsonl'), `[]\n${line}\n`)
  await expect(open()).rejects.toMatchObject({
    code: 'E_SANDBOX_STATE',
    message: expect.stringContaining('log.jsonl:2'),
  })
  await rm(directory, { recursive: true })
  expect((await (await open()).call('GET', `${P}/endpoints/${PRIMARY}`)).status).toBe(200)
})

// hint: Choose a folder that you can write to.
test('a state folder that cannot be written is reported', async () => {
  const file = join(directory, 'file')
  await writeFile(file, '')
  await expect(open(undefined, { stateDir: join(file, 'state') })).rejects.toMatchObject({
    code: 'E_SANDBOX_STATE',
    hint: 'Choose a folder that you can write to.',
  })
  await open(undefined, { stateDir: join(directory, 'state') })
})

test('two sandboxes cannot share a folder', async () => {
  const { sandbox } = await open()
  await expect(open()).rejects.toMatchObject({ code: 'E_SANDBOX_STATE', message: expect.stringContaining(directory) })
  await sandbox.close()
  await open()
})

test('two processes cannot share a folder', async () => {
  await writeFile(join(directory, 'lock'), `${process.ppid}\n`)
  await expect(open()).rejects.toMatchObject({
    code: 'E_SANDBOX_STATE',
    message: expect.stringContaining(`process ${process.ppid}`),
    hint: expect.stringMatching(/set ESPALIER_BASE_URL and ESPALIER_API_KEY .*lock/),
  })
})

test.each(['4194305', '', 'nonsense'])(
  'a lock that contains %j, which is not a running process, is replaced',
  async (holder) => {
    await writeFile(join(directory, 'lock'), holder)
    await open()
    expect(await readFile(join(directory, 'lock'), 'utf8')).toBe(`${process.pid}\n`)
  },
)

test('an unusable state folder is reported with a hint', async () => {
  await writeFile(join(directory, 'file'), '')
  await expect(startSandbox({ stateDir: join(directory, 'file', 'state') })).rejects.toMatchObject({
    code: 'E_SANDBOX_STATE',
    hint: expect.any(String),
  })
})

test('a failed start unlocks the folder', async () => {
  const { sandbox } = await open()
  const port = Number(new URL(sandbox.apiUrl).port)
  await sandbox.close()
  const other = await startSandbox({ port })
  onTestFinished(() => other.close())
  await expect(open(undefined, { port })).rejects.toMatchObject({
    code: 'E_LISTEN',
    hint: expect.stringContaining('--port'),
  })
  await open()
})

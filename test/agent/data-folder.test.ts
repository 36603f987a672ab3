import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NEW_PROJECT_FILE, openDataFolder, type ProjectFile } from '../../src/agent/index.ts'

let folder: string
let time: number
const open = (holder: string) => openDataFolder(join(folder, 'data'), { holder, now: () => time })
const FILE: ProjectFile = {
  ...NEW_PROJECT_FILE,
  record: {
    program: '1',
    manifests: 'a',
    entries: { 'ep-1/size': { want: '2', seen: null, base: null, agreed: false } },
  },
  failures: 1,
  attempts: [{ at: 5, compute: 'ep-1', interrupts: true, deletes: false }],
  suspension: { until: 7, reason: 'load test' },
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-agent-'))
  time = 1_000_000
})
afterEach(() => rm(folder, { recursive: true }))

test('a project is read as it was written, by its owner only', async () => {
  const data = await open('a')
  expect(await data.readProject('p-1')).toBeUndefined()
  await data.writeProject('p-1', FILE)
  expect(await data.readProject('p-1')).toEqual(FILE)
  const { mode } = await stat(join(folder, 'data', 'projects', 'p-1.json'))
  expect(mode & 0o077).toBe(0)
})

test('what a crash left half written is cleared away', async () => {
  const first = await open('a')
  await first.writeProject('p-1', FILE)
  await writeFile(join(folder, 'data', 'projects', 'p-1.json.0.tmp'), '{"half')
  const again = await open('a')
  expect(await readdir(join(folder, 'data', 'projects'))).toEqual(['p-1.json'])
  expect(await again.readProject('p-1')).toEqual(FILE)
})

test.each([['{"half'], ['{}'], [JSON.stringify({ ...FILE, format: 2 })]])(
  '%s is refused, not forgotten',
  async (text) => {
    const data = await open('a')
    await writeFile(join(folder, 'data', 'projects', 'p-1.json'), text)
    await expect(data.readProject('p-1')).rejects.toMatchObject({ code: 'E_AGENT_DATA' })
  },
)

test('of two agents that start at once, one has the folder', async () => {
  const started = await Promise.allSettled(['a', 'b', 'c'].map(open))
  expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a second agent is refused until the first has not renewed for 45 s; the first then notices', async () => {
  const first = await open('a')
  time += 30_000
  await first.renew()
  time += 44_999
  await expect(open('b')).rejects.toMatchObject({
    code: 'E_AGENT_DATA',
    message: expect.stringContaining('Another agent'),
  })
  time += 1
  await open('b')
  await expect(first.renew()).rejects.toMatchObject({ code: 'E_AGENT_DATA' })
})

test('a released folder is free at once, and only its owner can release it', async () => {
  const first = await open('a')
  await first.release()
  await open('b')
  await first.release()
  await expect(open('c')).rejects.toMatchObject({ code: 'E_AGENT_DATA' })
})

test('of many agents that take over at once, one wins', async () => {
  for (let trial = 0; trial < 20; trial += 1) {
    await open(`dead-${trial}`)
    time += 45_000
    const started = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => open(`${name}-${trial}`)))
    const won = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const renewed = await Promise.allSettled(won.map((data) => data.renew()))
    expect(renewed.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    expect(won).toHaveLength(1)
    time += 45_000
  }
})

test('the folder of an agent that has ended is taken over at once', async () => {
  await open('a')
  const lock = join(folder, 'data', 'lock')
  const lease = JSON.parse(await readFile(lock, 'utf8'))
  if (lease.process === undefined) return
  await writeFile(lock, JSON.stringify({ ...lease, process: { ...lease.process, start: '1' } }))
  await open('b')
})

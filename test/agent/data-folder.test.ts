import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NEW_PROJECT_FILE, type ProjectFile, Stored } from '../../src/agent/data-folder.ts'
import { openDataFolder } from '../../src/agent/index.ts'

let folder: string
let time: number
const open = (holder: string) => openDataFolder(join(folder, 'data'), { holder, now: () => time })
const FILE: ProjectFile = {
  ...NEW_PROJECT_FILE,
  record: {
    program: '1',
    manifests: 'a',
    entries: { 'ep-1/size': { want: '2', seen: null, base: null, agreed: false } },
    computes: { 'ep-1': true },
    rules: { 'preview/*': '2026-01-01T00:00:00Z' },
  },
  failures: 1,
  attempts: [{ at: 5, compute: 'ep-1', interrupts: true, used: { maxRestarts: 1 } }],
  suspension: { until: 7, reason: 'load test' },
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-agent-'))
  time = 1_000_000
})
afterEach(() => rm(folder, { recursive: true }))

// promise: private-records
test('a project file is read back as it was written, and only its owner may read it', async () => {
  const data = await open('a')
  expect(await data.readProject('p-1')).toBeUndefined()
  await data.writeProject('p-1', FILE)
  expect(await data.readProject('p-1')).toEqual(FILE)
  const { mode } = await stat(join(folder, 'data', 'projects', 'p-1.json'))
  expect(mode & 0o077).toBe(0)
})

// hint: Use the newer version, or delete the file. The differences recorded in it then count as unrecorded.
test.each(['{"format', '{"format":99}'])(
  'a project file that contains %s is read again once it is deleted',
  async (text) => {
    const data = await open('a')
    const path = join(folder, 'data', 'projects', 'p-1.json')
    await writeFile(path, text)
    await expect(data.readProject('p-1')).rejects.toMatchObject({ hint: expect.stringContaining('or delete the file') })
    await rm(path)
    expect(await data.readProject('p-1')).toBeUndefined()
  },
)

test('opening the data folder removes files that a crash left half written', async () => {
  const first = await open('a')
  await first.writeProject('p-1', FILE)
  await writeFile(join(folder, 'data', 'projects', 'p-1.json.0.tmp'), '{"half')
  const again = await open('a')
  expect(await readdir(join(folder, 'data', 'projects'))).toEqual(['p-1.json'])
  expect(await again.readProject('p-1')).toEqual(FILE)
})

test.each([['{"half'], ['{}'], [JSON.stringify({ ...FILE, format: 2 })]])(
  'reading a project file with the content %s fails instead of starting from an empty record',
  async (text) => {
    const data = await open('a')
    await writeFile(join(folder, 'data', 'projects', 'p-1.json'), text)
    await expect(data.readProject('p-1')).rejects.toMatchObject({ code: 'E_AGENT_DATA' })
  },
)

test('only one of several agents that start at the same time acquires the data folder', async () => {
  const started = await Promise.allSettled(['a', 'b', 'c'].map(open))
  expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a second agent can take over the data folder only once the lease has gone 45 s without renewal, and the first agent then fails to renew it and to write', async () => {
  const first = await open('a')
  time += 30_000
  await first.renew()
  time += 44_999
  await expect(open('b')).rejects.toMatchObject({
    code: 'E_AGENT_DATA',
    message: expect.stringContaining('Another agent'),
  })
  time += 1
  const second = await open('b')
  const taken = { code: 'E_AGENT_DATA', message: expect.stringContaining('has taken over') }
  const refuses = async (): Promise<void> => {
    for (const doing of [
      () => first.renew(),
      () => first.writeProject('p-1', FILE),
      () => first.writeSource({ from: 'r', replaced: {} }),
      () => first.addToHistory('p-1', { at: '', version: '', done: [], interruptions: 0 }),
    ])
      await expect(doing()).rejects.toMatchObject(taken)
  }
  await refuses()
  // What the second agent has done is unknown to the first one, so it may not go on after the second has ended.
  await second.release()
  await refuses()
  expect([await second.storedProjects(), await second.readSource()]).toEqual([[], undefined])
})

test('a released data folder is free immediately, and only its holder can release it', async () => {
  const first = await open('a')
  await first.release()
  await open('b')
  await first.release()
  await expect(open('c')).rejects.toMatchObject({ code: 'E_AGENT_DATA' })
})

test('only one of many agents that try to take over the data folder at the same time acquires it', async () => {
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

test('the data folder of an agent whose process has ended can be taken over immediately', async () => {
  await open('a')
  const lock = join(folder, 'data', 'lock')
  const lease = JSON.parse(await readFile(lock, 'utf8'))
  if (lease.process === undefined) return
  await writeFile(lock, JSON.stringify({ ...lease, process: { ...lease.process, start: '1' } }))
  await open('b')
})

test('concurrent changes are all saved, and the last write contains all of them', async () => {
  const written: (readonly number[])[] = []
  let turns = 16
  const stored = new Stored<readonly number[]>([], async (value) => {
    // Later writes take less time than earlier ones.
    turns /= 2
    for (let left = turns; left > 0; left -= 1) await nextTurn()
    written.push(value)
  })
  await Promise.all([1, 2].map((one) => stored.save((all) => [...all, one])))
  expect(written).toEqual([[1], [1, 2]])
})

test('the history of a project keeps its 200 newest applies', async () => {
  const data = await open('a')
  expect(await data.readHistory('p/1')).toEqual([])
  const lines = Array.from({ length: 200 }, (_, at) => `{"at":"${at}","version":"v","done":[],"interruptions":0}\n`)
  await data.addToHistory('p/1', { at: 'first', version: 'v', done: ['x'], interruptions: 1 })
  const file = join(folder, 'data', 'history', 'p%2F1.jsonl')
  await writeFile(file, `${await readFile(file, 'utf8')}damaged\n${lines.join('')}`)
  await data.addToHistory('p/1', { at: 'last', version: 'v', done: [], interruptions: 0 })
  const applies = await data.readHistory('p/1')
  expect(applies).toHaveLength(200)
  expect(applies.map(({ at }) => at).slice(0, 3)).toEqual(['last', 'first', '0'])
})

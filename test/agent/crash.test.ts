/** Kills the agent at every moment with an external effect, and checks what the next agent does. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { readJournal } from '../../src/agent/index.ts'
import { isLong } from '../long-runs.ts'
import { Life } from './life.ts'
import { MINUTE, openWorld, projectOf, projectSeed, type World } from './running.ts'

const PROJECT = 'quiet-river-12345678'
const SEED = { projects: [projectSeed(PROJECT)] }
const manifest = (size: number, replicas = ''): string =>
  `version: 1\nproject: ${PROJECT}\nbranches:\n  main:\n    primary: { size: ${size} }\n${replicas}`
const BEFORE = manifest(1)
const AFTER = manifest(2, '    replicas: { reporting: { size: 0.5 } }\n')

const UPDATE = `PATCH /api/v2/projects/${PROJECT}/endpoints/ep-main-11111111`

let world: World
afterEach(() => world.close())

/** The step titles that each received event reports. */
const openReceiver = () => {
  const received: string[] = []
  return {
    received,
    send: async (body: string): Promise<number> => {
      received.push(...(JSON.parse(body).data.applied?.done ?? []))
      return 204
    },
  }
}

/** @returns the number of moments, and whether the agent died at this one. */
const live = async (moment: number, isDone: boolean) => {
  const receiver = openReceiver()
  const life = new Life({ moment, isDone })
  let isApplying = false
  world = await openWorld(SEED, {
    send: receiver.send,
    onHandled: (method) => {
      // The service has handled the request; its response has not arrived yet.
      if (isApplying && method !== 'GET') life.passed()
    },
  })
  await world.declare(BEFORE)
  const first = await world.start()
  await world.pass(MINUTE)
  expect(projectOf(first, PROJECT).state).toBe('Synced')
  first.stop()
  await world.pass(2 * MINUTE)

  await world.declare(AFTER)
  isApplying = true
  await world.start({}, life)
  await world.pass(5 * MINUTE)
  const { isDead } = life
  if (isDead) {
    isApplying = false
    const agent = await world.start()
    await world.pass(10 * MINUTE)
    const { state, message } = projectOf(agent, PROJECT)
    expect({ moment, state, message }).toEqual({ moment, state: 'Synced' })
  }
  const sent = world.writes().map((line) => line.split(' ').slice(1, 3).join(' '))
  expect({ moment, updates: sent.filter((line) => line.startsWith('PATCH')) }).toEqual({ moment, updates: [UPDATE] })
  expect({ moment, creates: sent.filter((line) => line.startsWith('POST')).length }).toEqual({ moment, creates: 1 })
  expect(computesOf(world)).toBe(2)
  const steps = ['create replica "reporting" on main', 'update primary on main (ep-main-11111111)']
  // Only an agent that dies while it reports the steps does not report them.
  const isReported = receiver.received.length > 0
  expect({ moment, done: receiver.received.sort() }).toEqual({ moment, done: isReported ? steps : [] })
  await world.close()
  return { isDead, isReported, moments: life.moments }
}

const computesOf = ({ stage }: World): number =>
  stage.sandbox.control.dump().changes.filter((change) => 'put' in change && change.put.kind === 'compute').length

test.each([true, false])(
  'every change is made exactly once and reported at most once if the agent is killed at any file write, journal line, request or delivery (after its effect: %s)',
  async (isDone) => {
    const { moments, isReported } = await live(Number.POSITIVE_INFINITY, isDone)
    expect(moments).toBeGreaterThan(20)
    expect(isReported).toBe(true)
    let unreported = 0
    for (let moment = 1 + (isDone ? 1 : 0); moment <= moments; moment += isLong ? 1 : 28) {
      const { isDead, isReported } = await live(moment, isDone)
      expect({ moment, isDead }).toEqual({ moment, isDead: true })
      if (!isReported) unreported += 1
    }
    expect(unreported).toBeLessThanOrEqual(2)
  },
  120_000,
)

test('while the journal of an apply that was cut short cannot be read, nothing is applied', async () => {
  world = await openWorld(SEED)
  await world.declare(BEFORE)
  const first = await world.start()
  await world.pass(MINUTE)
  first.stop()
  await world.pass(2 * MINUTE)
  const file = join(world.folder, `data/projects/${PROJECT}.json`)
  const record = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...record, applying: { journal: 'journals/cut.jsonl', version: 'c0ffee' } }))
  const journal = join(world.folder, 'data/journals/cut.jsonl')
  await mkdir(journal, { recursive: true })
  await world.declare(AFTER)
  const agent = await world.start()
  await world.pass(10 * MINUTE)
  expect(projectOf(agent, PROJECT)).toMatchObject({
    state: 'Failing',
    message: expect.stringMatching(
      /^The journal .*cut\.jsonl of an apply that was cut short cannot be read \(it is a folder\)/,
    ),
  })
  expect(world.writes()).toEqual([])
  // As the message suggests, the file is deleted.
  await rm(journal, { recursive: true })
  await world.pass(10 * MINUTE)
  expect(projectOf(agent, PROJECT).state).toBe('Synced')
  expect(world.writes()).toHaveLength(2)
})

test('a journal with a damaged line does not count as one that sent nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-journal-'))
  const path = join(folder, 'x.jsonl')
  expect(await readJournal(path)).toBeUndefined()
  await writeFile(path, '{"type":"version"}\n{"type":"pl')
  expect(await readJournal(path)).toBeUndefined()
  await writeFile(path, '{"type":"version"}\n{"type":"plan","pl\n{"type":"step-start","step":{"id":"a"}}\n')
  await expect(readJournal(path)).rejects.toThrow('(its line 2 is damaged)')
  await writeFile(path, '\0\0\n{"type":"pl')
  await expect(readJournal(path)).rejects.toThrow('(its line 1 is damaged)')
})

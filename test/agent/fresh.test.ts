/** What is shown of projects that were not read, or could not be read. */
import { afterEach, expect, test } from 'vitest'
import { agentProjectState } from '../../src/report/words/agent.ts'
import { HOUR, MINUTE, manifestOf, openWorld, projectOf, projectSeed, stateOf, type World } from './running.ts'

const IDS = Array.from({ length: 6 }, (_, index) => `p-${index}-1111111${index}`)
const SEED = { projects: IDS.map((id, index) => projectSeed(id, `1111111${index}`)) }
const DOWN = { kind: 'status', status: 500 } as const

let world: World
const events: string[] = []
const open = async () => {
  events.length = 0
  world = await openWorld(SEED, {
    send: async (body) => {
      const { subject, data } = JSON.parse(body)
      events.push(`${subject} ${data.state} ${data.message}`)
      return 204
    },
  })
  await world.declareAll(IDS.map((id) => manifestOf(id, 1)))
  const agent = await world.start({ interval: HOUR })
  await world.pass(1_000)
  await agent.reconcile('all')
  await world.pass(MINUTE)
  return agent
}
afterEach(() => world.close())

test('quiet projects change no state; an outage has one line per account at first, and four events at most', async () => {
  const agent = await open()
  const read = async (minutes: number): Promise<void> => {
    await agent.reconcile('all')
    await world.pass(minutes * MINUTE)
  }
  const states = () => new Set(IDS.map((id) => stateOf(agent, id)))
  const lines = world.log.length
  await world.pass(2 * HOUR)
  expect([events, world.log.length]).toEqual([[], lines])

  const { control } = world.stage.sandbox
  control.addFault({ on: 'request', path: `**/${IDS[0]}/**`, effect: DOWN, times: 0 })
  await read(2)
  expect(events).toEqual([expect.stringMatching(`^${IDS[0]} Failing The last read failed`)])
  control.clearFaults()
  await read(1)
  expect(events.length).toBe(2)

  const before = world.log.length
  control.addFault({ on: 'request', effect: DOWN, times: 0 })
  await read(2)
  expect(states()).toEqual(new Set(['Failing: Unreachable']))
  const triedAt = () => agent.view().projects.map(({ unreadAt = '' }) => unreadAt)
  const tried = triedAt()
  await read(2)
  expect(triedAt().every((at, index) => at > (tried[index] ?? ''))).toBe(true)
  expect(events.length).toBe(6)
  expect(events.filter((event) => event.includes('More than three projects of the account')).length).toBe(1)
  const shown = world.log.slice(before)
  expect(shown.filter((line) => line.includes(' cannot be read. The control API failed')).length).toBe(1)
  expect(shown.filter((line) => line.includes('Failing: Unreachable')).length).toBe(4)
  control.clearFaults()
  await read(1)
  expect(states()).toEqual(new Set(['Synced']))
  expect(triedAt()).toEqual(IDS.map(() => ''))
  expect(events.length).toBe(10)
  expect(world.log.filter((line) => line.endsWith(': all projects can be read again.')).length).toBe(2)
})

test('a project that is not fresh says so, and names a commit that is not planned yet', async () => {
  const agent = await open()
  world.stage.sandbox.control.addFault({ on: 'request', effect: DOWN, times: 0 })
  await world.declare(manifestOf(IDS[1] ?? '', 2), '00001.yaml')
  const seen = new Set<string>()
  for (let passed = 0; passed < 3 * MINUTE; passed += 10_000) {
    await world.pass(10_000)
    seen.add(agentProjectState(projectOf(agent, IDS[1] ?? '')).replace(/[0-9a-f]{12}/, 'COMMIT'))
  }
  expect([...seen]).toEqual([
    'Synced',
    'Synced (COMMIT pending)',
    'Synced (not fresh, COMMIT pending)',
    'Failing: Unreachable (COMMIT pending)',
  ])
  expect(projectOf(agent, IDS[1] ?? '').message).toContain('The last read failed')
})

test('after a start, the last state is shown until the project is read, and projects with a commit are read first', async () => {
  const first = await open()
  first.stop()
  await world.pass(10_000)
  await world.declare(manifestOf(IDS[4] ?? '', 2), '00004.yaml')
  const agent = await world.start({ interval: 10 * MINUTE })
  await world.pass(2 * MINUTE)
  const last = projectOf(agent, IDS[5] ?? '')
  expect(agentProjectState(last)).toMatch(/^Unknown \(was Synced, 00:0\d\)$/)
  expect(stateOf(agent, IDS[4] ?? '')).toBe('Synced')
  expect(world.writes().length).toBe(1)
  expect(events.filter((event) => event.includes('Unknown'))).toEqual([])
  await world.pass(10 * MINUTE)
  expect(agentProjectState(projectOf(agent, IDS[5] ?? ''))).toBe('Synced')
})

/** Several keys: the key of each project, and separate request limits per account. */
import { afterEach, describe, expect, test } from 'vitest'
import { openAccounts } from '../../src/agent/source/accounts.ts'
import { HOUR, MINUTE, openWorld, projectOf, stateOf, type World } from './running.ts'

const [OURS, THEIRS] = ['ours-11111111', 'theirs-22222222']
const seedOf = (id: string, tail: string) => ({
  id,
  branches: [
    {
      id: `br-main-${tail}`,
      name: 'main',
      computes: [{ id: `ep-main-${tail}`, size: 1, scaleToZero: 'never' as const }],
    },
  ],
})
const manifest = (project: string, size = 1): string =>
  `version: 1\nproject: ${project}\nbranches:\n  main: { primary: { size: ${size} } }\n`

let world: World
afterEach(() => world.close())

const open = async () => {
  world = await openWorld({ projects: [seedOf(OURS, '11111111'), seedOf(THEIRS, '22222222')] })
  await world.declare(manifest(OURS), 'ours.yaml')
  await world.declare(manifest(THEIRS), 'theirs.yaml')
}
const keys = (theirs?: () => string) => [
  {
    name: 'ours',
    account: 'one',
    projects: ['ours-*'],
    paths: ['ours.yaml'],
    read: async () => world.stage.sandbox.apiKey,
  },
  {
    name: 'theirs',
    account: 'two',
    projects: ['theirs-*'],
    paths: ['theirs.yaml'],
    read: async () => theirs?.() ?? world.stage.sandbox.apiKey,
  },
]

describe('several keys', () => {
  test("the agent reads each project with that project's key, and a rejected key stops only its own projects until it is replaced", async () => {
    await open()
    let theirs = 'wrong'
    const agent = await world.start({ keys: keys(() => theirs) })
    await world.pass(30 * MINUTE)
    expect(projectOf(agent, OURS)).toMatchObject({ state: 'Synced', account: 'one' })
    expect(projectOf(agent, THEIRS)).toMatchObject({ state: 'Failing', reason: 'KeyRefused', account: 'two' })
    theirs = world.stage.sandbox.apiKey
    // Long before the next attempt is due.
    await world.pass(MINUTE)
    expect(stateOf(agent, THEIRS)).toBe('Synced')
  })

  test('a 429 response halves the rate of only the account that received it, until the rate has grown back', async () => {
    await open()
    const { stage } = world
    const { clock, sandbox } = stage
    const api = { baseUrl: sandbox.apiUrl, clock, random: () => 0.5 }
    const accounts = await openAccounts({ keys: keys(), api, interval: MINUTE, now: clock.now })
    const ids = ['ours', 'theirs'].flatMap((name) => Array.from({ length: 420 }, (_, index) => `${name}-${index}`))
    const intervals = () => accounts.view(ids).map(({ name, intervalSeconds }) => [name, intervalSeconds])
    expect(intervals()).toEqual([
      ['one', 120],
      ['two', 120],
    ])
    const effect = { kind: 'status', status: 429 } as const
    sandbox.control.addFault({ on: 'request', path: `/projects/${THEIRS}/**`, effect })
    await stage.during(accounts.of('theirs-1')?.api.listComputes(THEIRS) ?? Promise.reject(new Error('no key')))
    expect(accounts.view(ids)[1]).toMatchObject({ name: 'two', isStretched: true, requests: { 429: 1 } })
    expect(intervals()[0]).toEqual(['one', 120])
    expect(intervals()[1]?.[1]).toBeGreaterThan(200)
    await world.pass(10 * MINUTE)
    expect(intervals()[1]).toEqual(['two', 120])
    await accounts.close()
  })
})

const breakReading = (path: string): void => {
  const effect = { kind: 'status', status: 500 } as const
  world.stage.sandbox.control.addFault({
    on: 'request',
    method: 'GET',
    path: `/projects/${OURS}${path}`,
    effect,
    times: 0,
  })
}

test('the agent applies nothing to a project while its branches cannot be read, and reports the project as Unreachable', async () => {
  await open()
  const agent = await world.start()
  await world.pass(10 * MINUTE)
  breakReading('/branches')
  await world.declare(manifest(OURS, 2), 'ours.yaml')
  await world.pass(30 * MINUTE)
  expect(stateOf(agent, OURS)).toBe('Failing: Unreachable')
  expect(stateOf(agent, THEIRS)).toBe('Synced')
  expect(world.writes()).toEqual([])
  world.stage.sandbox.control.clearFaults()
  await world.pass(20 * MINUTE)
  expect(stateOf(agent, OURS)).toBe('Synced')
  expect(world.writes()).toHaveLength(1)
})

test('while project settings cannot be read, the agent still applies changes that do not depend on them, and treats the service window as closed', async () => {
  await open()
  const service = manifest(OURS).replace('branches:', 'restartWindow: service\nbranches:')
  breakReading('')
  await world.declare(service, 'ours.yaml')
  const agent = await world.start({ interval: HOUR })
  await world.pass(HOUR)
  await world.declare(service.replace('size: 1', 'size: 2'), 'ours.yaml')
  await world.pass(26 * HOUR)
  expect(projectOf(agent, OURS).state).not.toBe('Synced')
  expect(world.writes()).toEqual([])
  await world.declare(manifest(OURS, 2), 'ours.yaml')
  await world.pass(20 * MINUTE)
  expect(stateOf(agent, OURS)).toBe('Synced')
})

test('a second SIGTERM stops the agent immediately, and the next agent waits for the operations that are still running', async () => {
  await open()
  const agent = await world.start()
  await world.pass(10 * MINUTE)
  const effect = { kind: 'slow', ms: 8 * MINUTE } as const
  world.stage.sandbox.control.addFault({ on: 'operation', effect })
  await world.declare(manifest(OURS, 2), 'ours.yaml')
  await world.pass(2 * MINUTE)
  expect(stateOf(agent, OURS)).toBe('Progressing')
  const ended = world.endOf(agent)
  agent.stop()
  await world.pass(MINUTE)
  expect(ended.isDone()).toBe(false)
  agent.stop()
  await world.pass(1_000)
  expect(ended.isDone()).toBe(true)
  const next = await world.start()
  await world.pass(10 * MINUTE)
  expect(stateOf(next, OURS)).toBe('Synced')
  expect(world.writes()).toHaveLength(1)
})

/** Several keys: the key of each project, and separate request limits per account. */
import { afterEach, describe, expect, test } from 'vitest'
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
const requests = new Map<string, number>()
afterEach(() => world.close())

const open = async () => {
  requests.clear()
  world = await openWorld(
    { projects: [seedOf(OURS, '11111111'), seedOf(THEIRS, '22222222')] },
    {
      onHandled: (_method, path) => {
        for (const id of [OURS, THEIRS]) if (path.includes(id)) requests.set(id, (requests.get(id) ?? 0) + 1)
      },
    },
  )
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
    await world.pass(20 * MINUTE)
    expect(stateOf(agent, THEIRS)).toBe('Synced')
  })

  test('the agent applies neither a project without a key nor a project that is declared in a file outside the paths of its key', async () => {
    await open()
    const [ours] = keys()
    const agent = await world.start({ keys: ours === undefined ? [] : [ours] })
    await world.pass(10 * MINUTE)
    expect(projectOf(agent, THEIRS)).toMatchObject({ state: 'Invalid', message: expect.stringContaining('No key') })
    await world.declare(`${manifest(THEIRS)}---\n${manifest(OURS, 2).replace('main:', 'dev:')}`, 'theirs.yaml')
    await world.pass(10 * MINUTE)
    expect(projectOf(agent, OURS)).toMatchObject({ state: 'Invalid', message: expect.stringContaining('theirs.yaml') })
    expect(world.writes()).toEqual([])
  })

  test('a 429 response halves the request share of only the account that received it, for five minutes', async () => {
    await open()
    // A share so small that even for one project, the interval must be longer than configured.
    const share = 8 / 6 / 700 / 2 / 0.8
    const agent = await world.start({ keys: keys(), interval: MINUTE, requestShare: share })
    await world.pass(10 * MINUTE)
    const intervals = () => Object.fromEntries(agent.view().accounts.map((one) => [one.name, one.intervalSeconds]))
    expect(intervals()).toEqual({ one: 120, two: 120 })
    const effect = { kind: 'status', status: 429 } as const
    world.stage.sandbox.control.addFault({ on: 'request', path: `/projects/${THEIRS}/**`, effect })
    const limited = () => agent.view().accounts.find(({ name }) => name === 'two')?.requests['429'] !== undefined
    for (let minute = 0; minute < 10 && !limited(); minute += 1) await world.pass(MINUTE)
    expect(intervals()).toEqual({ one: 120, two: 240 })
    expect(agent.view().accounts).toMatchObject([{ isStretched: true }, { isStretched: true }])
    await world.pass(6 * MINUTE)
    expect(intervals()).toEqual({ one: 120, two: 120 })
    expect(stateOf(agent, THEIRS)).toBe('Synced')
    requests.clear()
    await world.pass(HOUR)
    // 30 refreshes with jitter, each of 8/6 requests on average.
    for (const count of requests.values()) expect(count).toBeGreaterThan(25)
    for (const count of requests.values()) expect(count).toBeLessThanOrEqual(50)
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

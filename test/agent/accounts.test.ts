/** Several keys: write access to one team's files gives no access to another's projects, and each account has its own limit. */
import { afterEach, describe, expect, test } from 'vitest'
import { openAccounts } from '../../src/agent/source/accounts.ts'
import { longTest } from '../long-runs.ts'
import { HOUR, MINUTE, manifestOf, openWorld, projectOf, projectSeed, stateOf, type World } from './running.ts'

const [OURS, THEIRS] = ['ours-11111111', 'theirs-22222222']
let world: World
afterEach(() => world.close())

const open = async () => {
  world = await openWorld({ projects: [projectSeed(OURS), projectSeed(THEIRS, '22222222')] })
  await world.declare(manifestOf(OURS, 1), 'ours.yaml')
  await world.declare(manifestOf(THEIRS, 1), 'theirs.yaml')
}
const keys = (theirs?: () => string) => [
  {
    name: 'ours',
    account: 'one',
    projects: ['ours-*'],
    paths: ['ours*.yaml'],
    read: async () => world.stage.sandbox.apiKey,
  },
  {
    name: 'theirs',
    account: 'two',
    projects: ['theirs-*'],
    paths: ['theirs*.yaml'],
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

/** Starts an agent on projects that are in sync, and then replaces their files. */
const startWith = async (files: Readonly<Record<string, string>>) => {
  await open()
  const agent = await world.start({ keys: keys() })
  await world.pass(5 * MINUTE)
  for (const name of new Set(['ours.yaml', 'theirs.yaml', ...Object.keys(files)]))
    await world.declare(files[name] ?? '# nothing\n', name)
  await world.pass(10 * MINUTE)
  return agent
}

test('the agent applies each project that is declared in a file within the `paths` of its key', async () => {
  const agent = await startWith({ 'ours.yaml': manifestOf(OURS, 2), 'theirs.yaml': manifestOf(THEIRS, 2) })
  expect([stateOf(agent, OURS), stateOf(agent, THEIRS)]).toEqual(['Synced', 'Synced'])
  expect(world.writes()).toHaveLength(2)
})

const EXTENDING = `version: 1\nproject: ${THEIRS}\nextends: ours-shared.yaml\nbranches: { main: { primary: {} } }\n`

// promise: separate-teams, foreign-document
test.each<readonly [string, Readonly<Record<string, string>>, string]>([
  ['declare it', { 'ours.yaml': manifestOf(THEIRS, 2) }, 'ours.yaml'],
  [
    'declare it in a second document',
    { 'ours.yaml': `${manifestOf(OURS, 1)}---\n${manifestOf(THEIRS, 2)}` },
    'ours.yaml',
  ],
  ['declare it too', { 'ours.yaml': manifestOf(THEIRS, 2), 'theirs.yaml': manifestOf(THEIRS, 1) }, 'ours.yaml'],
  [
    'are extended by it',
    {
      'ours.yaml': manifestOf(OURS, 1),
      'theirs.yaml': EXTENDING,
      'ours-shared.yaml': 'version: 1\ndefaults: { size: 2 }\n',
    },
    'ours-shared.yaml',
  ],
  [
    'name it in `projects`',
    { 'ours.yaml': manifestOf(OURS, 2).replace(`project: ${OURS}`, `projects: [${OURS}, ${THEIRS}]`) },
    'ours.yaml',
  ],
])("a project is not changed when files outside its key's `paths` %s", async (_how, files, file) => {
  const agent = await startWith(files)
  expect(projectOf(agent, THEIRS)).toMatchObject({
    state: 'Invalid',
    message: expect.stringContaining(file),
    differences: [],
  })
  expect(world.writes().filter((line) => line.includes(THEIRS))).toEqual([])
})

test('a project that no key covers is reported and not read', async () => {
  const agent = await startWith({ 'ours.yaml': manifestOf('other-11111111', 2) })
  expect(projectOf(agent, 'other-11111111')).toMatchObject({
    state: 'Invalid',
    message: 'No key in the --keys file covers project other-11111111.',
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
  await world.declare(manifestOf(OURS, 2), 'ours.yaml')
  await world.pass(30 * MINUTE)
  expect(stateOf(agent, OURS)).toBe('Failing: Unreachable')
  expect(stateOf(agent, THEIRS)).toBe('Synced')
  expect(world.writes()).toEqual([])
  world.stage.sandbox.control.clearFaults()
  await world.pass(20 * MINUTE)
  expect(stateOf(agent, OURS)).toBe('Synced')
  expect(world.writes()).toHaveLength(1)
})

longTest(
  'while project settings cannot be read, the agent still applies changes that do not depend on them, and treats the service window as closed',
  async () => {
    await open()
    const service = manifestOf(OURS, 1).replace('branches:', 'restartWindow: service\nbranches:')
    breakReading('')
    await world.declare(service, 'ours.yaml')
    const agent = await world.start({ interval: HOUR })
    await world.pass(HOUR)
    await world.declare(service.replace('size: 1', 'size: 2'), 'ours.yaml')
    await world.pass(26 * HOUR)
    expect(projectOf(agent, OURS).state).not.toBe('Synced')
    expect(world.writes()).toEqual([])
    await world.declare(manifestOf(OURS, 2), 'ours.yaml')
    await world.pass(20 * MINUTE)
    expect(stateOf(agent, OURS)).toBe('Synced')
  },
)

test('a second SIGTERM stops the agent immediately, and the next agent waits for the operations that are still running', async () => {
  await open()
  const agent = await world.start()
  await world.pass(10 * MINUTE)
  const effect = { kind: 'slow', ms: 8 * MINUTE } as const
  world.stage.sandbox.control.addFault({ on: 'operation', effect })
  await world.declare(manifestOf(OURS, 2), 'ours.yaml')
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

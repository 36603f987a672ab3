/** The whole agent on a sandbox, in virtual time. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Seed } from '../../src/sandbox/index.ts'
import { longTest } from '../long-runs.ts'
import { HOUR, MINUTE, openWorld, projectOf, projectSeed, SELDOM, stateOf, type World } from './running.ts'

const PROJECT = 'quiet-river-12345678'
const PRIMARY = 'ep-main-11111111'
const SEED: Seed = { projects: [projectSeed(PROJECT)] }
const manifest = (primary: string, more = ''): string => `version: 1
project: ${PROJECT}
${more}branches:
  main: { primary: ${primary} }
`
/** The stage's clock starts on Thursday 2026-01-01T00:00Z. */
const NIGHT = 'restartWindow: { days: [thu], from: "02:00", to: "04:00", timezone: UTC }\n'

let world: World
beforeEach(async () => {
  world = await openWorld(SEED)
})
afterEach(() => world.close())

const start = async (options: Parameters<World['start']>[0] = {}) => {
  const agent = await world.start(options)
  await world.pass(MINUTE)
  return agent
}

describe('a commit', () => {
  test('the agent applies a commit within 35 s, and the project becomes Synced', async () => {
    await world.declare(manifest('{ size: 1 }'))
    const agent = await start()
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    const at = world.stage.clock.now()
    await world.declare(manifest('{ size: 2 }'))
    await world.pass(2 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes()).toHaveLength(1)
    expect(Date.parse(world.writes()[0]?.split(' ')[0] ?? '') - at).toBeLessThan(35_000)
    expect(projectOf(agent, PROJECT).lastApply).toMatchObject({ interruptions: 1 })
  })

  test('a step waits for its restart window and runs within ten seconds after the window opens', async () => {
    await world.declare(manifest('{ size: 1 }', NIGHT))
    const agent = await start(SELDOM)
    await world.declare(manifest('{ size: 2 }', NIGHT))
    await world.pass(MINUTE)
    expect(projectOf(agent, PROJECT)).toMatchObject({
      state: 'Scheduled',
      scheduledSteps: 1,
      windowOpensAt: '2026-01-01T02:00:00.000Z',
      sync: 'OutOfSync',
    })
    expect(world.writes()).toEqual([])
    await world.pass(2 * HOUR)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes()).toHaveLength(1)
    expect(world.writes()[0]).toMatch(/^2026-01-01T02:00:0\d/)
  })

  // promise: broken-commit
  test('a commit with an error changes nothing, and the message names its file and position', async () => {
    await world.declare(manifest('{ size: 1 }'))
    const agent = await start()
    await world.declare(manifest('{ size: 3.7 }'))
    await world.pass(2 * MINUTE)
    expect(projectOf(agent, PROJECT)).toMatchObject({
      state: 'Invalid',
      message: expect.stringMatching(/^espalier.yaml:4:/),
    })
    await world.declare(manifest('{ size: 1 }'))
    await world.pass(MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes()).toEqual([])
  })

  // promise: broken-commit
  test('a commit that removes every declaration changes nothing', async () => {
    await world.declare(manifest('{ size: 1 }'))
    const agent = await start()
    await world.declare('')
    await world.pass(2 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Invalid')
    expect(world.writes()).toEqual([])
  })
})

describe('a change by hand', () => {
  test('the agent reports a manual change within one interval and does not revert it by default', async () => {
    await world.declare(manifest('{ size: 1 }'))
    const agent = await start()
    await world.edit(PROJECT, PRIMARY, { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 })
    await world.pass(8 * MINUTE)
    expect(projectOf(agent, PROJECT)).toMatchObject({
      state: 'OutOfSync',
      reason: 'Drift',
      differences: [{ path: 'size', live: '4 CU', want: '1 CU', origin: 'drift', declaredAt: 'espalier.yaml:4:28' }],
    })
    expect(world.writes()).toEqual([])
  })

  test('with `onDrift: revert`, the agent reverts a manual change if reverting disrupts no connections', async () => {
    await world.declare(manifest('{ scaleToZero: never }'))
    const agent = await start({
      policy: { onGit: 'apply', onDrift: 'revert', allow: new Set(['restart']) },
    })
    await world.edit(PROJECT, PRIMARY, { suspend_timeout_seconds: 600 })
    await world.pass(8 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes()).toHaveLength(1)
  })

  longTest(
    'a revert that has no effect counts as one that was undone, and not as one that the service rejected',
    async () => {
      await world.declare(manifest('{ scaleToZero: never }'))
      const agent = await start({ policy: { onGit: 'apply', onDrift: 'revert', allow: new Set(['restart']) } })
      await world.edit(PROJECT, PRIMARY, { suspend_timeout_seconds: 600 })
      world.stage.sandbox.control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'ignore' }, times: 0 })
      await world.pass(20 * MINUTE)
      expect(stateOf(agent, PROJECT)).toBe('Blocked: Conflict')
    },
  )

  test('the agent stops reverting and reports a conflict when the same manual change keeps coming back', async () => {
    await world.declare(manifest('{ scaleToZero: never }'))
    const agent = await start({
      policy: { onGit: 'apply', onDrift: 'revert', allow: new Set(['restart']) },
    })
    for (let time = 0; time < 5; time += 1) {
      await world.edit(PROJECT, PRIMARY, { suspend_timeout_seconds: 600 })
      await world.pass(8 * MINUTE)
    }
    expect(stateOf(agent, PROJECT)).toBe('Blocked: Conflict')
    expect(world.writes()).toHaveLength(3)
    await agent.reconcile([PROJECT])
    await world.pass(3 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })
})

describe('a live compute that the agent has never seen as declared', () => {
  const OTHER = 'calm-lake-87654321'
  const compute = (id: string, more = {}) => ({ id, size: 4, scaleToZero: 'never' as const, ...more })
  const other = (main: string, more = ''): string =>
    `version: 1\nproject: ${OTHER}\nbranches:\n  main: { primary: { size: ${main} } }\n${more}`
  const dev = (size: number) => other('4', `  dev: { primary: { size: ${size} } }\n`)
  const replica = (size: number) => other(`4 }, replicas: { reporting: { size: ${size} }`)
  const rule = (size: number) => other('4', `rules:\n  - { match: "preview/*", primary: { size: ${size} } }\n`)
  const declare = (text: string): Promise<void> => world.declareAll([manifest('{ size: 1 }'), text])
  const previewed = (name: string): Promise<void> =>
    world.byHand('POST', `/projects/${OTHER}/branches`, {
      branch: { name },
      endpoints: [{ type: 'read_write', autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }],
    })

  beforeEach(async () => {
    await world.close()
    const reporting = compute('ep-report-11111111', { type: 'read_only', name: 'reporting' })
    const branches = [
      { id: 'br-other-11111111', name: 'main', computes: [compute('ep-other-11111111'), reporting] },
      { id: 'br-dev-22222222', name: 'dev', computes: [compute('ep-dev-22222222')] },
    ]
    world = await openWorld({ projects: [...(SEED.projects ?? []), { id: OTHER, branches }] })
  })

  test.each([
    ['project', '', [other('1'), other('2')]],
    ['branch', other('4'), [dev(1), dev(2)]],
    ['compute', other('4'), [replica(1), replica(2)]],
    ['branch under a new rule', other('4'), [rule(1), rule(4)]],
  ])('a %s that joins a running agent restarts nothing through later commits', async (_what, before, commits) => {
    await previewed('preview/old')
    await declare(before)
    const agent = await start()
    for (const commit of commits) {
      await declare(commit)
      await world.pass(10 * MINUTE)
      expect(stateOf(agent, OTHER)).toBe('OutOfSync: Unrecorded')
    }
    expect(world.writes()).toEqual([])
  })

  test('a branch that is created after its rule gets the declared size, and what agrees needs no person', async () => {
    await declare(rule(1))
    const agent = await start()
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, OTHER)).toBe('Synced')
    await previewed('preview/new')
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, OTHER)).toBe('Synced')
    expect(world.writes()).toHaveLength(1)
  })

  test('a primary that becomes absent after it was in agreement is deleted with consent, and not taken for drift', async () => {
    const absent = other('4', '  dev: { primary: absent }\n')
    await declare(dev(4))
    const agent = await start()
    await world.pass(5 * MINUTE)
    await declare(absent)
    await world.pass(2 * MINUTE)
    expect(stateOf(agent, OTHER)).toBe('Blocked: NotAllowed')
    expect(projectOf(agent, OTHER).differences).toMatchObject([{ kind: 'delete', origin: 'introduced' }])
  })
})

longTest(
  'the agent reports a suspended project as OutOfSync, and applies its changes when the suspension ends',
  async () => {
    await world.declare(manifest('{ size: 1 }'))
    const agent = await start()
    await agent.suspend([PROJECT], world.stage.clock.now() + HOUR, 'load test')
    await world.declare(manifest('{ size: 2 }'))
    await world.pass(10 * MINUTE)
    expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Suspended', message: 'load test', sync: 'OutOfSync' })
    expect(world.writes()).toEqual([])
    await world.pass(HOUR)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  },
)

longTest('a window that passes during a suspension is reported as missed, with the cause', async () => {
  await world.declare(manifest('{ size: 1 }', NIGHT))
  const agent = await start(SELDOM)
  await agent.suspend([PROJECT], world.stage.clock.now() + 6 * HOUR, 'load test')
  await world.declare(manifest('{ size: 2 }', NIGHT))
  await world.pass(5 * HOUR)
  expect(projectOf(agent, PROJECT)).toMatchObject({
    missedWindows: 1,
    missedWindow: { opensAt: '2026-01-01T02:00:00.000Z', closesAt: '2026-01-01T04:00:00.000Z', cause: 'suspended' },
  })
  expect(world.writes()).toEqual([])
})

test('a scheduled step is rescheduled when the maintenance window of its project changes', async () => {
  const service = 'restartWindow: service\n'
  const maintain = async (start: string, end: string): Promise<void> => {
    const { apiUrl, apiKey } = world.stage.sandbox
    const body = { project: { settings: { maintenance_window: { weekdays: [4], start_time: start, end_time: end } } } }
    const answer = await world.stage.during(
      fetch(`${apiUrl}/projects/${PROJECT}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
    expect(answer.status).toBe(200)
  }
  await maintain('20:00', '21:00')
  await world.declare(manifest('{ size: 1 }', service))
  const agent = await start()
  await world.declare(manifest('{ size: 2 }', service))
  await world.pass(MINUTE)
  expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Scheduled', windowOpensAt: '2026-01-01T20:00:00.000Z' })
  await maintain('03:00', '04:00')
  await world.pass(40 * MINUTE)
  expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Scheduled', windowOpensAt: '2026-01-01T03:00:00.000Z' })
})

test('refreshing an unchanged project takes one request, and every sixth refresh reads everything', async () => {
  await world.declare(manifest('{ size: 1 }'))
  await start()
  const before = world.stage.sandbox.requests
  await world.pass(HOUR)
  const requests = world.stage.sandbox.requests - before
  expect(requests).toBeGreaterThanOrEqual(12)
  expect(requests).toBeLessThanOrEqual(17)
})

test('a restarted agent keeps waiting for the same restart window', async () => {
  await world.declare(manifest('{ size: 1 }', NIGHT))
  const first = await start(SELDOM)
  await world.declare(manifest('{ size: 2 }', NIGHT))
  await world.pass(MINUTE)
  first.stop()
  await world.pass(MINUTE)
  const second = await start(SELDOM)
  expect(stateOf(second, PROJECT)).toBe('Scheduled')
  await world.pass(2 * HOUR)
  expect(stateOf(second, PROJECT)).toBe('Synced')
})

describe.each([
  ['forward', 7 * HOUR, 'agent-down'],
  ['back', -48 * HOUR, undefined],
])('a clock that is set %s', (_way, by, cause) => {
  const restart = { renew: (renew: () => Promise<void>) => renew() }

  test('delays no refresh and no retry, and costs the agent neither its folder nor its count of restarts', async () => {
    await world.close()
    world = await openWorld(SEED, restart)
    await world.declare(manifest('{ size: 1 }'))
    const agent = await start({ maxRestarts: 1 })
    const { isDone } = world.endOf(agent)
    const { control } = world.stage.sandbox
    control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'status', status: 400 }, times: 2 })
    await world.declare(manifest('{ size: 2 }'))
    await world.pass(MINUTE)
    expect(projectOf(agent, PROJECT).state).toBe('Failing')
    world.setClock(by)
    expect(agent.idleMs).toBeLessThanOrEqual(MINUTE)
    await world.pass(20 * MINUTE)
    expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Synced', isFresh: true })
    await world.declare(manifest('{ size: 4 }'))
    await world.pass(MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Scheduled: RestartLimit')
    expect(isDone()).toBe(false)
    expect((await agent.historyOf(PROJECT)).map(({ done }) => done.length)).toEqual([1])
  })

  longTest('neither opens a window nor hides that one has passed', async () => {
    await world.declare(manifest('{ size: 1 }', NIGHT))
    const agent = await start(SELDOM)
    await world.declare(manifest('{ size: 2 }', NIGHT))
    await world.pass(MINUTE)
    world.setClock(by)
    await world.pass(3 * HOUR)
    expect(world.writes()).toEqual([])
    expect(projectOf(agent, PROJECT).missedWindow?.cause).toBe(cause)
    world.setClock(-by)
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes()).toHaveLength(1)
  })
})

test('two agents with folders of their own make every change of a commit once', async () => {
  await world.declare(manifest('{ size: 1 }'))
  const agents = [await world.start(), await world.start({}, undefined, 'other')]
  await world.pass(MINUTE)
  for (const size of [2, 4]) {
    await world.declare(manifest(`{ size: ${size} }, replicas: { reporting: { size: ${size} } }`))
    await world.pass(5 * MINUTE)
    expect(agents.map((agent) => stateOf(agent, PROJECT))).toEqual(['Synced', 'Synced'])
  }
  // Both send each request at the same time: the service rejects one of them, and the agent then reads again.
  const accepted = world.writes().filter((line) => !line.endsWith(' 423'))
  expect(accepted.map((line) => line.split(' ')[1])).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH'])
})

test('each change of state and each apply is notified once, also if the agent is restarted in between', async () => {
  const received: string[] = []
  await world.close()
  world = await openWorld(SEED, {
    send: async (body) => {
      const { state, reason = '', previous, applied } = JSON.parse(body).data
      received.push(`${previous.state} > ${state} ${reason} ${applied?.done ?? ''}`.trim())
      return 204
    },
  })
  const restarted = async (agent: Awaited<ReturnType<typeof start>>) => {
    agent.stop()
    await world.pass(MINUTE)
    return start()
  }
  await world.declare(manifest('{ size: 1 }'))
  let agent = await start()
  await world.declare(manifest('{ size: 2 }'))
  await world.pass(2 * MINUTE)
  agent = await restarted(agent)
  await world.edit(PROJECT, PRIMARY, { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 })
  await world.pass(15 * MINUTE)
  agent = await restarted(agent)
  await world.pass(10 * MINUTE)
  agent.stop()
  await world.pass(MINUTE)
  await world.edit(PROJECT, PRIMARY, { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 })
  await start()
  await world.pass(10 * MINUTE)
  expect(received).toEqual([
    `Synced > Synced  update primary on main (${PRIMARY})`,
    'Synced > OutOfSync Drift',
    'OutOfSync > Synced',
  ])
})

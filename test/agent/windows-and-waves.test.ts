/** Windows that close while steps run or before they run, and waves of projects. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent/index.ts'
import { EspalierError } from '../../src/base/index.ts'
import { longTest, part } from '../long-runs.ts'
import { Life } from './life.ts'
import {
  branchSeed,
  HOUR,
  MINUTE,
  openWorld,
  projectOf,
  projectSeed,
  SELDOM,
  stateOf,
  type World,
  type WorldOptions,
} from './running.ts'

const PROJECT = 'quiet-river-12345678'
/** The stage's clock starts at midnight. */
const windowed = (from: string, to: string): string =>
  `restartWindow: { days: [mon, tue, wed, thu, fri, sat, sun], from: "${from}", to: "${to}", timezone: UTC }\n`

let world: World
afterEach(() => world.close())
const sent = (): readonly string[] =>
  world.writes().map((line) => line.replace(/^.*T(\d\d:\d\d).*\/(\S+) \d+$/, '$1 $2'))

describe('a chain of moves that is still running when its window closes', () => {
  const manifest = (one: string, two: string, size: number): string => `version: 1
project: ${PROJECT}
${windowed('02:00', '02:08')}parkOn: park
branches:
  one: { primary: { id: ${one} } }
  two: { primary: { id: ${two} } }
  main: { primary: { size: ${size} } }
`
  const [ONE, TWO, MAIN] = ['ep-one-11111111', 'ep-two-22222222', 'ep-main-33333333']
  const slow = { kind: 'latency', ms: 25_000 } as const
  const policy = { onGit: 'apply', onDrift: 'report', allow: new Set(['restart', 'move'] as const) } as const
  const start = (life?: Life) => world.start({ ...SELDOM, stopTimeoutMs: 4 * MINUTE, policy }, life)
  /** The restart of main takes until 02:07. Each of the three move requests then takes 25 s. */
  const begin = async (life?: Life) => {
    const branches = [
      branchSeed('one', '11111111'),
      branchSeed('two', '22222222'),
      branchSeed('main', '33333333'),
      { id: 'br-park-44444444', name: 'park', computes: [] },
    ]
    world = await openWorld(
      { projects: [{ id: PROJECT, branches }] },
      {
        durations: { apply_config: 8 * MINUTE },
        strideMs: 1_000,
      },
    )
    await world.declare(manifest(ONE, TWO, 1))
    const agent = await start(life)
    await world.pass(MINUTE)
    await world.declare(manifest(TWO, ONE, 2))
    await world.pass(MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Scheduled')
    world.stage.sandbox.control.addFault({
      on: 'request',
      method: 'PATCH',
      path: '**/ep-{one,two}-*',
      effect: slow,
      times: 0,
    })
    return agent
  }
  const BEGUN = [`02:00 ${MAIN}`, `02:07 ${TWO}`]

  longTest('if the agent is stopped in the middle, it completes the chain first', async () => {
    const agent = await begin()
    await world.pass(2 * HOUR + 5.5 * MINUTE)
    agent.stop()
    await world.pass(HOUR)
    expect(sent()).toEqual([...BEGUN, `02:08 ${ONE}`, `02:08 ${TWO}`])
  })

  test('if the agent stops immediately, the next agent completes the chain as soon as it starts', async () => {
    const agent = await begin()
    await world.pass(2 * HOUR + 5.5 * MINUTE)
    agent.stop()
    await world.pass(0.4 * MINUTE)
    agent.stop()
    await world.pass(HOUR)
    expect(sent()).toEqual(BEGUN)
    const next = await start()
    await world.pass(10 * MINUTE)
    const soon = (id: string) => expect.stringMatching(new RegExp(`^03:0\\d ${id}$`))
    expect(sent()).toEqual([...BEGUN, soon(ONE), soon(TWO)])
    expect(stateOf(next, PROJECT)).toBe('Synced')
  })

  /** The service refuses the second of the three moves, so that branch two has no primary. */
  const cutShort = async () => {
    const agent = await begin()
    const { control } = world.stage.sandbox
    control.clearFaults()
    control.addFault({ on: 'request', method: 'PATCH', path: `**/${TWO}`, effect: slow })
    const down = { kind: 'status', status: 400 } as const
    control.addFault({ on: 'request', method: 'PATCH', path: `**/${ONE}`, effect: down, times: 0 })
    await world.pass(2 * HOUR + 10 * MINUTE)
    return agent
  }
  const GAP = /^Branch two has no primary since 2026-01-01T02:0\d:\d\d.\d{3}Z: 2 steps left\./

  const MEANWHILE: readonly (readonly [string, (agent: Agent) => Promise<unknown> | undefined, string])[] = [
    [
      ' although it is suspended',
      (agent) => agent.suspend([PROJECT], world.stage.clock.now() + 24 * HOUR, 'load test'),
      'Suspended',
    ],
    [
      ' although the history is rewritten',
      async () => {
        world.moveGit({ isRewritten: true })
        await world.declare(manifest(ONE, TWO, 4))
      },
      'Blocked: HistoryRewritten',
    ],
    [
      ' although it has not fetched for hours',
      async () => {
        world.breakGit(new EspalierError('E_GIT', 'down'))
        world.setClock(7 * HOUR)
      },
      'Blocked: GitStale',
    ],
  ]
  test.each(part(MEANWHILE, 3))(
    'if the service fails in the middle, the agent retries the chain outside the window%s',
    async (_, then, state) => {
      const agent = await cutShort()
      expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Failing', message: expect.stringMatching(GAP) })
      await then(agent)
      await world.pass(10 * MINUTE)
      const { control } = world.stage.sandbox
      control.clearFaults()
      await world.pass(20 * MINUTE)
      expect(stateOf(agent, PROJECT)).toBe(state)
      expect(projectOf(agent, PROJECT).message ?? '').not.toContain('no primary')
      expect(sent().at(-1)).toMatch(new RegExp(`^02:[23]\\d ${TWO}$`))
    },
  )

  longTest(
    'while the manifests are invalid, the chain waits, and the first thing shown is the branch without a primary',
    async () => {
      const agent = await cutShort()
      await world.declare('version: 2\n')
      await world.pass(MINUTE)
      expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Invalid', message: expect.stringMatching(GAP) })
      world.stage.sandbox.control.clearFaults()
      await world.pass(30 * MINUTE)
      expect(projectOf(agent, PROJECT)).toMatchObject({
        message: expect.stringMatching(GAP),
        withoutPrimary: ['two'],
        command: 'espalier validate',
      })
    },
  )

  longTest(
    'an agent that is killed in the middle, and finds invalid manifests, shows the branch without a primary',
    async () => {
      const life = new Life()
      await begin(life)
      await world.pass(2 * HOUR + 6 * MINUTE)
      life.kill()
      await world.declare('version: 2\n')
      const next = await start()
      await world.pass(MINUTE)
      expect(projectOf(next, PROJECT)).toMatchObject({
        state: 'Invalid',
        message: expect.stringMatching(/ no primary since /),
      })
    },
  )

  longTest('a chain is finished as it was begun if the manifests no longer say how', async () => {
    const agent = await cutShort()
    await world.declare(manifest(TWO, ONE, 2).replace(/ {2}two: .*\n/, ''))
    world.stage.sandbox.control.clearFaults()
    await world.pass(20 * MINUTE)
    expect(projectOf(agent, PROJECT).withoutPrimary).toBeUndefined()
    expect(sent().slice(-2)).toEqual([expect.stringContaining(ONE), expect.stringContaining(TWO)])
  })

  describe('of a project that is no longer declared', () => {
    const undeclare = () => world.declare(`version: 1\nproject: late-sun-87654321\nbranches: {}\n`)

    // hint: espalier agent reconcile …
    test('is finished as it was begun, and nothing else is done', async () => {
      const agent = await cutShort()
      await undeclare()
      await world.pass(5 * MINUTE)
      expect(projectOf(agent, PROJECT)).toMatchObject({
        state: 'Failing',
        message: expect.stringMatching(GAP),
        withoutPrimary: ['two'],
        command: `espalier agent reconcile ${PROJECT}`,
      })
      expect(agent.hasGap).toBe(true)
      world.stage.sandbox.control.clearFaults()
      await agent.reconcile([PROJECT])
      await world.pass(10 * MINUTE)
      expect(sent().slice(-2)).toEqual([expect.stringContaining(ONE), expect.stringContaining(TWO)])
      expect(agent.view().projects.map(({ id }) => id)).not.toContain(PROJECT)
      expect(world.log.at(-1)).toContain(`${PROJECT} is no longer declared. Its computes stay as they are.`)
    })

    test('is finished by the next agent if this one was killed', async () => {
      const life = new Life()
      await begin(life)
      await world.pass(2 * HOUR + 6 * MINUTE)
      life.kill()
      await undeclare()
      world.stage.sandbox.control.clearFaults()
      const next = await start()
      await world.pass(20 * MINUTE)
      expect(world.log.join('\n')).toContain('done: move primary from park to one')
      expect(next.view().projects.map(({ id }) => id)).not.toContain(PROJECT)
    })
  })

  test('an agent that is stopped says which branch has no primary, and retries until it has one', async () => {
    const agent = await cutShort()
    const { isDone } = world.endOf(agent)
    agent.stop()
    expect(world.log.at(-1)).toMatch(/ Branch two has no primary since \S+: 2 steps left\.$/)
    await world.pass(3 * MINUTE)
    expect([isDone(), agent.hasGap]).toEqual([false, true])
    world.stage.sandbox.control.clearFaults()
    await world.pass(2 * MINUTE)
    expect([isDone(), agent.hasGap]).toEqual([true, false])
  })

  longTest('an agent that is stopped gives up when its time is over', async () => {
    const agent = await cutShort()
    const { isDone } = world.endOf(agent)
    agent.stop()
    await world.pass(6 * MINUTE)
    expect([isDone(), agent.hasGap]).toEqual([true, true])
  })

  longTest('an agent that is stopped twice gives up at once', async () => {
    const agent = await cutShort()
    const { isDone } = world.endOf(agent)
    agent.stop()
    await world.pass(MINUTE)
    expect(isDone()).toBe(false)
    agent.stop()
    await world.pass(1_000)
    expect([isDone(), agent.hasGap]).toEqual([true, true])
  })
})

describe('a window that passes before its steps are done', () => {
  const manifest = (size: number): string =>
    `version: 1\nproject: ${PROJECT}\n${windowed('02:00', '02:30')}branches:\n  main: { primary: { size: ${size} } }\n`
  const begin = async () => {
    world = await openWorld({ projects: [projectSeed(PROJECT)] })
    await world.declare(manifest(1))
    const agent = await world.start(SELDOM)
    await world.pass(MINUTE)
    await world.declare(manifest(2))
    await world.pass(MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Scheduled')
    return agent
  }
  const missed = (cause: string) => ({
    missedWindow: { opensAt: '2026-01-01T02:00:00.000Z', closesAt: '2026-01-01T02:30:00.000Z', cause },
    windowOpensAt: '2026-01-02T02:00:00.000Z',
  })

  test('is reported as missed because no agent ran', async () => {
    const agent = await begin()
    agent.stop()
    await world.pass(4 * HOUR)
    const next = await world.start(SELDOM)
    await world.pass(MINUTE)
    expect(projectOf(next, PROJECT)).toMatchObject(missed('agent-down'))
    expect(sent()).toEqual([])
  })

  longTest('is reported as missed because the attempt failed', async () => {
    const agent = await begin()
    const effect = { kind: 'status', status: 503 } as const
    world.stage.sandbox.control.addFault({ on: 'request', method: 'PATCH', effect, times: 0 })
    await world.pass(3 * HOUR)
    expect(projectOf(agent, PROJECT)).toMatchObject({
      ...missed('failed'),
      state: 'Blocked',
      reason: 'TooManyRestarts',
    })
    world.stage.sandbox.control.clearFaults()
    await world.pass(24 * HOUR)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes().at(-1)).toMatch(/^2026-01-02T02:0\d.* 200$/)
  })

  test('is reported as missed for lack of time if the service did not respond while the window was open', async () => {
    const agent = await begin()
    await world.pass(HOUR)
    const { control } = world.stage.sandbox
    control.addFault({ on: 'request', effect: { kind: 'status', status: 500 }, times: 0 })
    await world.pass(HOUR + 30 * MINUTE)
    control.clearFaults()
    await world.pass(30 * MINUTE)
    expect(projectOf(agent, PROJECT)).toMatchObject(missed('too-little-time'))
    expect(sent()).toEqual([])
  })
})

describe('waves', () => {
  const [CANARY, OTHER] = ['canary-11111111', 'other-22222222']
  const waves = `version: 1\nwaves: [{ name: canary, projects: [${CANARY}] }]\n`
  const manifest = (project: string, size: number): string =>
    `version: 1\nproject: ${project}\nbranches:\n  main: { primary: { size: ${size} } }\n`
  const declare = async (size: number): Promise<void> => {
    await world.declare(manifest(CANARY, size), 'canary.yaml')
    await world.declare(manifest(OTHER, size), 'other.yaml')
  }
  const begin = async (options: WorldOptions = {}) => {
    const seed = {
      projects: [projectSeed(CANARY), projectSeed(OTHER, '22222222')],
    }
    world = await openWorld(seed, options)
    await world.declare(waves, 'waves.yaml')
    await declare(1)
    const agent = await world.start()
    await world.pass(10 * MINUTE)
    return agent
  }

  test('a project starts as soon as all projects in earlier waves match their declarations, and no sooner', async () => {
    const agent = await begin()
    const effect = { kind: 'slow', ms: 3 * MINUTE } as const
    world.stage.sandbox.control.addFault({ on: 'operation', endpoint_id: 'ep-main-11111111', effect, times: 0 })
    await declare(2)
    await world.pass(MINUTE)
    expect(stateOf(agent, OTHER)).toBe('Scheduled: Wave')
    await world.pass(10 * MINUTE)
    const [first = '', second = ''] = world.writes()
    expect([first, second]).toEqual([expect.stringContaining(CANARY), expect.stringContaining(OTHER)])
    expect(Date.parse(second.slice(0, 24)) - Date.parse(first.slice(0, 24))).toBeGreaterThan(3 * MINUTE)
    expect(stateOf(agent, OTHER)).toBe('Synced')
  })

  longTest(
    "a later wave does not start while the earlier wave's state is still that of the previous commit",
    async () => {
      const agent = await begin()
      const effect = { kind: 'latency', ms: 3 * MINUTE } as const
      world.stage.sandbox.control.addFault({ on: 'request', method: 'GET', path: `**/${CANARY}/**`, effect, times: 1 })
      await declare(2)
      await world.pass(MINUTE)
      expect(stateOf(agent, CANARY)).toBe('Synced')
      expect(stateOf(agent, OTHER)).toBe('Scheduled: Wave')
      await world.pass(10 * MINUTE)
      expect(world.writes()).toEqual([expect.stringContaining(CANARY), expect.stringContaining(OTHER)])
      expect(stateOf(agent, OTHER)).toBe('Synced')
    },
  )

  test('a later wave does not start when the canary fails', async () => {
    const agent = await begin()
    const effect = { kind: 'fail' } as const
    world.stage.sandbox.control.addFault({ on: 'operation', endpoint_id: 'ep-main-11111111', effect, times: 0 })
    await declare(2)
    await world.pass(HOUR)
    expect(stateOf(agent, CANARY)).not.toBe('Synced')
    expect(stateOf(agent, OTHER)).toBe('Scheduled: Wave')
    expect(world.writes().filter((line) => line.includes(OTHER))).toEqual([])
  })

  longTest('a later wave waits while a failed operation of somebody else leaves the canary unsettled', async () => {
    const reads: string[] = []
    const agent = await begin({ onHandled: (method, path) => reads.push(`${method} ${path}`) })
    reads.length = 0
    await world.pass(2 * HOUR)
    expect(reads.filter((one) => one.includes('/operations'))).toEqual([])
    const endpoint = { settings: { pg_settings: { work_mem: '8MB' } } }
    world.stage.sandbox.control.addFault({ on: 'operation', action: 'apply_config', effect: { kind: 'error' } })
    await world.edit(CANARY, 'ep-main-11111111', endpoint)
    await world.pass(20 * MINUTE)
    expect(agent.view().projects.find(({ id }) => id === CANARY)).toMatchObject({
      state: 'Synced',
      message: expect.stringContaining('Its new values are stored but probably not in effect.'),
      command: `espalier compute restart ep-main-11111111 --project ${CANARY}`,
    })
    await world.declare(manifest(OTHER, 2), 'other.yaml')
    await world.pass(HOUR)
    expect(stateOf(agent, OTHER)).toBe('Scheduled: Wave')
    await world.byHand('POST', `/projects/${CANARY}/endpoints/ep-main-11111111/restart`)
    await world.pass(20 * MINUTE)
    expect(stateOf(agent, OTHER)).toBe('Synced')
  })

  test('a commit that removes the waves starts the waiting projects', async () => {
    const agent = await begin()
    const effect = { kind: 'fail' } as const
    world.stage.sandbox.control.addFault({ on: 'operation', endpoint_id: 'ep-main-11111111', effect, times: 0 })
    await declare(2)
    await world.pass(5 * MINUTE)
    await world.declare('version: 1\nprofiles: { small: { size: 1 } }\n', 'waves.yaml')
    await world.pass(MINUTE)
    expect(stateOf(agent, OTHER)).toBe('Synced')
  })
})

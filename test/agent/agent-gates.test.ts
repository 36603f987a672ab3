/** Conditions under which the agent applies nothing, and how it reports them. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EspalierError } from '../../src/base/index.ts'
import { exitCodeOfAll } from '../../src/cli/setup/agent-data.ts'
import { longTest } from '../long-runs.ts'
import { disk, Life } from './life.ts'
import {
  HOUR,
  MINUTE,
  manifestOf,
  openWorld,
  projectOf,
  projectSeed,
  SELDOM,
  stateOf,
  type World,
  type WorldOptions,
} from './running.ts'

const PROJECT = 'quiet-river-12345678'
const OTHER = 'late-sun-87654321'
const manifest = (size: number, project = PROJECT): string => manifestOf(project, size)

let world: World
beforeEach(async () => {
  world = await openWorld({ projects: [projectSeed(PROJECT), projectSeed(OTHER, '22222222')] })
  await world.declare(manifest(1))
})
afterEach(() => world.close())

describe('the data folder', () => {
  const reopen = async (options: WorldOptions) => {
    await world.close()
    world = await openWorld({ projects: [projectSeed(PROJECT)] }, options)
    await world.declare(manifest(1))
    const agent = await world.start()
    await world.pass(MINUTE)
    return agent
  }
  afterEach(() => {
    disk.isFull = false
  })

  test('a damaged file of a project that is no longer declared does not keep the agent from starting', async () => {
    const projects = join(world.folder, 'data', 'projects')
    await mkdir(projects, { recursive: true })
    await writeFile(join(projects, `${OTHER}.json`), '{"format":')
    await start()
    const line =
      /late-sun-87654321 is no longer declared, and its restarts do not count: .*late-sun-87654321\.json is damaged/
    expect(world.log.join('\n')).toMatch(line)
  })

  test('while its disk is full, the agent goes on and applies nothing', async () => {
    const agent = await reopen({ renew: (renew) => renew() })
    const { isDone } = world.endOf(agent)
    disk.isFull = true
    await world.declare(manifest(2))
    await world.pass(10 * MINUTE)
    expect([isDone(), world.writes()]).toEqual([false, []])
    expect(projectOf(agent, PROJECT)).toMatchObject({
      state: 'Failing',
      message: expect.stringMatching(/^The disk of .* is full, so nothing is applied\. Free at least 3 MiB/),
    })
    disk.isFull = false
    await world.pass(5 * MINUTE)
    expect([stateOf(agent, PROJECT), world.writes().length]).toEqual(['Synced', 1])
  })

  longTest(
    'an apply on a disk that fills up meanwhile is notified once, although the agent is killed afterwards',
    async () => {
      await world.close()
      const applied: string[] = []
      world = await openWorld(
        { projects: [projectSeed(PROJECT)] },
        {
          renew: (renew) => renew(),
          send: async (body) => {
            applied.push(...(JSON.parse(body).data.applied?.done ?? []))
            return 204
          },
          onHandled: (method) => {
            disk.isFull ||= method === 'PATCH'
          },
        },
      )
      await world.declare(manifest(1))
      const life = new Life()
      await world.start({}, life)
      await world.pass(MINUTE)
      await world.declare(manifest(2))
      await world.pass(2 * MINUTE)
      life.kill()
      disk.isFull = false
      await world.pass(2 * MINUTE)
      await world.start()
      await world.pass(2 * MINUTE)
      expect(applied).toHaveLength(1)
    },
  )

  test('an agent that is taken over while a step runs neither records nor notifies what it did', async () => {
    await world.close()
    const applied: string[] = []
    world = await openWorld(
      { projects: [projectSeed(PROJECT)] },
      {
        renew: (renew) => renew(),
        renewEveryMs: HOUR,
        send: async (body) => {
          applied.push(...(JSON.parse(body).data.applied?.done ?? []))
          return 204
        },
      },
    )
    await world.declare(manifest(1))
    const { isDone } = world.endOf(await start())
    world.stage.sandbox.control.addFault({ on: 'operation', effect: { kind: 'slow', ms: 3 * MINUTE } })
    await world.declare(manifest(2))
    await world.pass(2 * MINUTE)
    // A frozen agent does not renew its lease either.
    const next = await world.start()
    await world.pass(10 * MINUTE)
    expect([isDone(), stateOf(next, PROJECT)]).toEqual([true, 'Synced'])
    expect([applied.length, world.writes().length]).toEqual([1, 1])
  })

  test('an agent that finds it taken over right before a call, or before it repeats one, does not make the call', async () => {
    for (const calls of [0, 1]) {
      let left = Number.POSITIVE_INFINITY
      const agent = await reopen({
        renew: async (renew) => {
          if (left === 0) throw new EspalierError('E_AGENT_DATA', 'Another agent uses the data folder.')
          await renew()
        },
        onHandled: (method) => {
          if (method === 'PATCH') left -= 1
        },
      })
      const effect = { kind: 'status', status: 423 } as const
      world.stage.sandbox.control.addFault({ on: 'request', method: 'PATCH', path: '/projects/**', effect })
      const { isDone } = world.endOf(agent)
      // The periodic renewal is due half a minute after the commit is applied.
      await world.pass(MINUTE)
      left = calls
      await world.declare(manifest(2))
      await world.pass(50_000)
      expect([isDone(), world.writes().length]).toEqual([true, calls])
    }
  })
})

// promise: old-errors
test.each([
  ['version: 1\nproject: [\n', 'espalier.yaml:2:10: The `[` is not closed'],
  ['# nothing\n', 'espalier.yaml:1:1: The file contains no document'],
])('the agent reports a manifest error when no project has ever been declared', async (text, problem) => {
  await world.declare(text)
  const agent = await world.start()
  await world.pass(MINUTE)
  const { projects, source } = agent.view()
  expect(projects).toEqual([])
  expect(source.error).toContain(problem)
  expect(world.log.join('\n')).toContain(source.error)
  expect(exitCodeOfAll(agent.view())).toBe(3)
})

test('the exit code says that manifests were never read', async () => {
  world.breakGit(new EspalierError('E_GIT', 'git ls-remote failed: no route to host'))
  const agent = await world.start()
  await world.pass(MINUTE)
  expect(exitCodeOfAll(agent.view())).toBe(1)
  // They were read, and declare no project.
  const view = agent.view()
  expect(exitCodeOfAll({ ...view, source: { ...view.source, version: 'a' } })).toBe(3)
})

const start = async (...options: Parameters<World['start']>) => {
  const agent = await world.start(...options)
  await world.pass(MINUTE)
  expect(stateOf(agent, PROJECT)).toBe('Synced')
  return agent
}

describe('git', () => {
  test('the agent applies nothing when the ref no longer exists', async () => {
    const agent = await start()
    world.moveGit({ isGone: true })
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Invalid')
    expect(projectOf(agent, PROJECT).command).toBeUndefined()
    expect(agent.view().source.error).toContain('no ref')
    world.moveGit({})
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })

  test('the agent applies nothing when git has not been reachable for six hours', async () => {
    const agent = await start(SELDOM)
    world.breakGit(new EspalierError('E_GIT', 'git ls-remote failed: no route to host'))
    await world.pass(HOUR)
    expect(agent.view().source.error).toContain('no route to host')
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    await world.pass(7 * HOUR)
    expect(stateOf(agent, PROJECT)).toBe('Blocked: GitStale')
    world.breakGit(undefined)
    await world.pass(HOUR)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })

  test('a project that a force push removed is kept until the push is accepted', async () => {
    await world.declare(manifest(1, OTHER), 'other.yaml')
    const agent = await start()
    world.moveGit({ isRewritten: true })
    await rm(join(world.folder, 'manifests', 'other.yaml'))
    await world.declare(manifest(2))
    await world.pass(10 * MINUTE)
    const { version = '' } = agent.view().source
    const shown = { state: 'Blocked', reason: 'HistoryRewritten', isFresh: true }
    for (const id of [PROJECT, OTHER])
      expect(projectOf(agent, id)).toMatchObject({
        ...shown,
        command: `espalier agent reconcile ${id} --accept ${version.slice(0, 12)}`,
      })
    await agent.reconcile('all', version)
    await world.pass(10 * MINUTE)
    expect(agent.view().projects.map(({ id, state }) => [id, state])).toEqual([[PROJECT, 'Synced']])
    expect(world.writes()).toHaveLength(1)
  })

  test('an error in a manifest stops only the projects that this manifest declares', async () => {
    await world.declare(manifest(1, OTHER), 'other.yaml')
    const agent = await start()
    await world.pass(10 * MINUTE)
    await world.declare('version: 1\nproject: [', 'other.yaml')
    await world.declare(manifest(2))
    await world.pass(2 * MINUTE)
    expect(projectOf(agent, OTHER)).toMatchObject({ state: 'Invalid', command: 'espalier validate' })
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    await agent.suspend([OTHER], world.stage.clock.now() + HOUR, 'a test')
    await world.pass(MINUTE)
    expect(projectOf(agent, OTHER)).toMatchObject({ state: 'Suspended', command: `espalier agent resume ${OTHER}` })
    expect(world.writes()).toHaveLength(1)
  })

  describe('a project with invalid manifests', () => {
    const DRIFT = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 }
    const drift = { live: '4 CU', want: '1 CU', origin: 'drift', state: 'Invalid' }

    test('is read, and shows its drift from the last valid ones, also after a restart', async () => {
      const life = new Life()
      const agent = await start({}, life)
      await world.declare('version: 1\nproject: [')
      await world.pass(10 * MINUTE)
      await world.edit(PROJECT, 'ep-main-11111111', DRIFT)
      await world.pass(10 * MINUTE)
      const shown = { state: 'Invalid', isFresh: true, command: 'espalier validate', differences: [drift] }
      expect(projectOf(agent, PROJECT)).toMatchObject(shown)
      life.kill()
      const next = await world.start()
      await world.pass(10 * MINUTE)
      expect(projectOf(next, PROJECT)).toMatchObject(shown)
      await world.declare(manifest(1))
      await world.pass(10 * MINUTE)
      expect(stateOf(next, PROJECT)).toBe('OutOfSync: Drift')
      expect(world.writes()).toEqual([])
    })

    test('stays Invalid, but not fresh, while it cannot be read', async () => {
      const agent = await start()
      await world.declare('version: 1\nproject: [')
      await world.pass(10 * MINUTE)
      world.stage.sandbox.control.addFault({ on: 'request', effect: { kind: 'status', status: 500 }, times: 0 })
      await world.pass(30 * MINUTE)
      expect(projectOf(agent, PROJECT)).toMatchObject({
        state: 'Invalid',
        isFresh: false,
        command: 'espalier validate',
      })
    })

    test('is read if no valid manifest has ever declared it', async () => {
      await world.declare('version: 1\nproject: late-sun-87654321\nbranches: 3\n', 'other.yaml')
      const agent = await world.start()
      await world.pass(20 * MINUTE)
      expect(projectOf(agent, OTHER)).toMatchObject({ state: 'Invalid', isFresh: true, differences: [] })
    })

    test('stays Invalid if the last valid ones cannot be planned', async () => {
      const agent = await start()
      await world.declare('version: 1\nproject: [')
      await world.byHand('DELETE', `/projects/${PROJECT}`)
      await world.pass(20 * MINUTE)
      expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Invalid', command: 'espalier validate' })
    })

    test('misses its window because of the error', async () => {
      const nightly = (size: number): string =>
        manifestOf(PROJECT, size, 'restartWindow: { days: [thu], from: "02:00", to: "04:00", timezone: UTC }\n')
      const agent = await start(SELDOM)
      await world.declare(nightly(2))
      await world.pass(HOUR)
      expect(stateOf(agent, PROJECT)).toBe('Scheduled')
      await world.declare('version: 1\nproject: [')
      await world.pass(30 * HOUR)
      expect(projectOf(agent, PROJECT).missedWindow?.cause).toBe('failed')
      expect(world.writes()).toEqual([])
    })
  })

  describe('an error in a file that has never declared a project', () => {
    // promise: broken-record
    test('does not stop a project that the file does not mention, and is reported', async () => {
      await world.declare(manifest(1, OTHER), 'other.yaml')
      const agent = await start()
      await world.pass(10 * MINUTE)
      await world.declare('version: 1\nproject: some-new-11111111\nbranches: [', 'new.yaml')
      await world.pass(10 * MINUTE)
      expect(agent.view().source).toMatchObject({ error: expect.stringMatching(/^new.yaml:3:/), errorState: 'Invalid' })
      expect(exitCodeOfAll(agent.view())).toBe(3)
      expect(stateOf(agent, PROJECT)).toBe('Synced')
      await world.edit(PROJECT, 'ep-main-11111111', { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 })
      await world.pass(10 * MINUTE)
      expect(stateOf(agent, PROJECT)).toBe('OutOfSync: Drift')
      expect(agent.view().projects).toHaveLength(2)
    })

    // promise: broken-record
    test('stops a project that the same commit changes, because its missing computes may have moved to that file', async () => {
      const agent = await start()
      await world.declare('version: 1\nproject: some-new-11111111\nbranches: [', 'new.yaml')
      await world.declare(manifest(2))
      await world.pass(10 * MINUTE)
      expect(projectOf(agent, PROJECT)).toMatchObject({
        state: 'Invalid',
        message: expect.stringMatching(/^new.yaml:3:/),
      })
      expect(world.writes()).toEqual([])
      await rm(join(world.folder, 'manifests', 'new.yaml'))
      await world.declare(manifest(2))
      await world.pass(10 * MINUTE)
      expect(stateOf(agent, PROJECT)).toBe('Synced')
      expect(world.writes()).toHaveLength(1)
    })

    test('stops a project if the file mentions it, may be a policy of it, or is not text', async () => {
      const agent = await start()
      for (const [file, text] of [
        ['new.yaml', `version: 1\nproject: ${PROJECT}\nbranches: [`],
        ['espalier.policy.yaml', 'version: 1\npolicies: [{ name: small }]\n'],
        ['espalier.policy.yaml', 'version: 1\npolicies: ['],
        ['other.yaml', Buffer.from([0xff, 0xfe, 0xfd])],
      ] as const) {
        await world.declare(text, file)
        await world.pass(MINUTE)
        expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Invalid', message: expect.stringContaining(file) })
        await rm(join(world.folder, 'manifests', file))
      }
    })

    test('stops only the projects that extend the file', async () => {
      const shared = 'version: 1\nprofiles: { small: { size: 1 } }\n'
      const extending = `version: 1\nproject: ${PROJECT}\nextends: shared.yaml\nbranches: { main: { primary: { profile: small } } }\n`
      await world.declare(shared, 'shared.yaml')
      await world.declare(extending)
      await world.declare(manifest(1, OTHER), 'other.yaml')
      const agent = await start()
      await world.pass(10 * MINUTE)
      await world.declare('version: 1\nprofiles: {', 'shared.yaml')
      await world.pass(2 * MINUTE)
      expect(projectOf(agent, PROJECT)).toMatchObject({
        state: 'Invalid',
        message: expect.stringMatching(/^shared.yaml:/),
      })
      expect(stateOf(agent, OTHER)).toBe('Synced')
    })
  })

  // promise: object-names
  longTest('the agent manages a project whose id is `constructor`', async () => {
    await world.close()
    const id = 'constructor'
    world = await openWorld({ projects: [projectSeed(PROJECT), projectSeed(id, '22222222')] })
    await world.declare(manifest(1))
    const agent = await start()
    expect(agent.view().projects).toHaveLength(1)
    for (const size of [1, 2]) {
      await world.declare(manifest(size, id), 'other.yaml')
      await world.pass(2 * MINUTE)
      expect(stateOf(agent, id)).toBe('Synced')
    }
    expect(world.writes()).toHaveLength(1)
    await rm(join(world.folder, 'manifests', 'other.yaml'))
    await world.declare(manifest(1))
    await world.pass(2 * MINUTE)
    expect(agent.view().projects.map((project) => project.id)).toEqual([PROJECT])
  })

  test('the agent drops a project that is no longer declared, but does not delete its computes', async () => {
    await world.declare(manifest(1, OTHER), 'other.yaml')
    const agent = await start()
    await rm(join(world.folder, 'manifests', 'other.yaml'))
    await world.declare(manifest(1))
    await world.pass(2 * MINUTE)
    expect(agent.view().projects.map(({ id }) => id)).toEqual([PROJECT])
    expect(world.writes()).toEqual([])
  })
})

describe('events', () => {
  const watch = async () => {
    await world.close()
    const events: unknown[] = []
    world = await openWorld(
      { projects: [projectSeed(PROJECT), projectSeed(OTHER, '22222222')] },
      {
        send: async (body) => {
          const { state, reason, previous } = JSON.parse(body).data
          events.push([previous.reason ?? previous.state, reason ?? state])
          return 204
        },
      },
    )
    return events
  }

  test('one event covers all projects that the limit on restarts holds, even if the first of them goes on', async () => {
    const events = await watch()
    const declareAll = async (size: number) => {
      await world.declare(manifest(size))
      await world.declare(manifest(size, OTHER), 'other.yaml')
    }
    await declareAll(1)
    const agent = await world.start({ maxRestarts: 0 })
    await world.pass(10 * MINUTE)
    await declareAll(2)
    await world.pass(10 * MINUTE)
    expect(events).toEqual([['Synced', 'RestartLimit']])
    const [first = ''] = [PROJECT, OTHER].filter((id) => projectOf(agent, id).message?.includes('2 projects wait'))
    await agent.reconcile([first], agent.view().source.version)
    await world.pass(HOUR)
    expect([PROJECT, OTHER].map((id) => stateOf(agent, id)).sort()).toEqual(['Scheduled: RestartLimit', 'Synced'])
    expect(events).toHaveLength(2)
  })

  test('the previous state of an event is that of the event before, even if that one was sent for its steps', async () => {
    const events = await watch()
    const declare = (size: number) => world.declare(manifest(size).replace(' } }', ', scaleToZero: 5m } }'))
    const edit = (seconds: number) => world.edit(PROJECT, 'ep-main-11111111', { suspend_timeout_seconds: seconds })
    await edit(300)
    await declare(1)
    const agent = await world.start()
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    await edit(600)
    await declare(2)
    await world.pass(40_000)
    await edit(300)
    await world.pass(10 * MINUTE)
    expect(events).toEqual([
      ['Synced', 'DriftUnconfirmed'],
      ['DriftUnconfirmed', 'Synced'],
    ])
  })
})

describe('gates', () => {
  const limit = (rule: string): string =>
    `version: 1\npolicies:\n  - { name: daily, level: deny, reason: Calm., rule: { ${rule} }, per: day }\n`

  test('the limit on restarts counts those of all projects in the last 24 hours', async () => {
    await world.declare(manifest(1, OTHER), 'other.yaml')
    const startAll = async () => {
      const started = await world.start({ ...SELDOM, maxRestarts: 1 })
      await world.pass(1_000)
      await started.reconcile('all')
      await world.pass(MINUTE)
      return started
    }
    let agent = await startAll()
    const states = () => [stateOf(agent, PROJECT), stateOf(agent, OTHER)].sort()
    expect(states()).toEqual(['Synced', 'Synced'])
    await world.declare(manifest(2))
    await world.declare(manifest(2, OTHER), 'other.yaml')
    await world.pass(10 * MINUTE)
    expect(states()).toEqual(['Scheduled: RestartLimit', 'Synced'])
    // The restarts of an earlier run count, even those of a project that is no longer declared.
    agent.stop()
    await world.pass(MINUTE)
    const held = world.writes()[0]?.includes(PROJECT) ? OTHER : PROJECT
    await rm(join(world.folder, 'manifests', 'other.yaml'))
    await world.declare(manifest(2, held))
    agent = await startAll()
    expect(stateOf(agent, held)).toBe('Scheduled: RestartLimit')
    const { requests } = world.stage.sandbox
    await world.pass(23 * HOUR)
    expect(world.writes()).toHaveLength(1)
    // Projects that wait are read as seldom as others.
    expect(world.stage.sandbox.requests - requests).toBeLessThan(5 * 23)
    await world.pass(2 * HOUR)
    expect(stateOf(agent, held)).toBe('Synced')
    expect(world.writes()).toHaveLength(2)
    // A person may let a commit exceed the limit, as the shown command does.
    await world.declare(manifest(4, held))
    await world.pass(10 * MINUTE)
    const { reason, command = '', version = '' } = projectOf(agent, held)
    expect([reason, command]).toEqual([
      'RestartLimit',
      `espalier agent reconcile ${held} --accept ${version.slice(0, 12)}`,
    ])
    await agent.reconcile([held], version.slice(0, 12))
    await world.pass(MINUTE)
    expect(stateOf(agent, held)).toBe('Synced')
    await world.declare(manifest(1, held))
    await world.pass(10 * MINUTE)
    expect([stateOf(agent, held), world.writes().length]).toEqual(['Scheduled: RestartLimit', 3])
  })

  test('a limit on restarts does not hide that another change is blocked', async () => {
    await world.byHand('POST', `/projects/${PROJECT}/endpoints`, {
      endpoint: { branch_id: 'br-main-11111111', type: 'read_only', name: 'reporting' },
    })
    await world.declare(manifest(1).replace(' }\n', ', replicas: { reporting: {} } }\n'))
    const agent = await world.start({ maxRestarts: 0 })
    await world.pass(5 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    await world.declare(manifest(2).replace(' }\n', ', replicas: { reporting: absent } }\n'))
    await world.pass(5 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Blocked: NotAllowed')
    const { differences, version } = projectOf(agent, PROJECT)
    expect(differences.map(({ reason }) => reason)).toEqual(['RestartLimit', 'NotAllowed'])
    await agent.reconcile([PROJECT], version)
    await world.pass(5 * MINUTE)
    expect(world.writes().map((write) => write.split(' ')[1])).toEqual(['PATCH'])
    expect(stateOf(agent, PROJECT)).toBe('Blocked: NotAllowed')
  })

  test('a change that the service rejects does not use up the growth of a day', async () => {
    await world.declare(limit('maxCuIncrease: 4'), 'espalier.policy.yaml')
    const agent = await start(SELDOM)
    world.stage.sandbox.control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'status', status: 422 } })
    await world.declare(manifest(4))
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    await world.declare(manifest(6))
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Blocked: Policy')
    expect(world.writes().map((write) => write.slice(-3))).toEqual(['422', '200'])
  })
})

describe('a faulty service', () => {
  longTest('attempts that the service rejected do not count as restarts', async () => {
    const agent = await start()
    world.stage.sandbox.control.addFault({
      on: 'request',
      method: 'PATCH',
      effect: { kind: 'status', status: 400 },
      times: 0,
    })
    await world.declare(manifest(2))
    for (let time = 0; time < 2; time += 1) {
      await world.pass(10 * MINUTE)
      expect(stateOf(agent, PROJECT)).toBe('Blocked: Refused')
      await agent.reconcile([PROJECT])
    }
    world.stage.sandbox.control.clearFaults()
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })

  test('the log has the notes of an apply', async () => {
    await start()
    world.stage.sandbox.control.addFault({ on: 'operation', effect: { kind: 'restart' } })
    await world.declare(manifest(1).replace('size: 1', 'size: 1, scaleToZero: 10m'))
    await world.pass(2 * MINUTE)
    expect(world.log.join('\n')).toMatch(/quiet-river-12345678 {2}note: Not predicted: update primary on main/)
  })

  test('a compute is restarted at most three times a day when its operation keeps failing', async () => {
    const agent = await start(SELDOM)
    world.stage.sandbox.control.addFault({ on: 'operation', effect: { kind: 'error' }, times: 0 })
    await world.declare(manifest(2))
    await world.pass(12 * HOUR)
    expect(world.writes().length).toBeLessThanOrEqual(3)
    expect(projectOf(agent, PROJECT).state).not.toBe('Synced')
  })
})

/** Changes by other clients between the plan and a step: they are not overwritten, and nothing is created twice. */
import { describe, expect, test } from 'vitest'
import {
  type ApplyEvent,
  type Consent,
  exitCodeOf,
  type ObservedBranch,
  type ObservedCompute,
  type Step,
} from '../../src/model/index.ts'
import { compute, type FakeApi, fakeApi, fakeClock, operation, refused, unanswered } from './fake-api.ts'
import { allow, apply, creating, deleting, observedOf, planWith, statuses, step } from './small-plans.ts'

type Live = Map<string, ObservedCompute>

const change = (id: string, overrides: Partial<ObservedCompute>) => (live: Live) => {
  const before = live.get(id)
  if (before !== undefined) live.set(id, { ...before, ...overrides })
}
const attributes = (id: string, changed: ObservedCompute['attributes']) => (live: Live) => {
  const before = live.get(id)
  if (before !== undefined) live.set(id, { ...before, attributes: { ...before.attributes, ...changed } })
}
const remove = (id: string) => (live: Live) => void live.delete(id)
const add = (id: string, overrides: Partial<ObservedCompute>) => (live: Live) =>
  void live.set(id, compute(id, overrides))

const REPLICA = compute('ep-2', { type: 'read_only', attributes: { name: 'bi', size: { min: 1, max: 1 } } })
const moving: Partial<Step> = {
  kind: 'move',
  branch: { id: 'br-dev', name: 'dev' },
  request: { method: 'PATCH', path: '/projects/p/endpoints/ep-1', body: { endpoint: { branch_id: 'br-dev' } } },
  consents: [],
  impact: 'move',
}
const creatingPrimary: Partial<Step> = {
  ...creating,
  compute: { type: 'read_write' },
  request: {
    method: 'POST',
    path: '/projects/p/endpoints',
    body: { endpoint: { branch_id: 'br-dev', type: 'read_write' } },
  },
}
const deletingReplica: Partial<Step> = {
  ...deleting,
  compute: { type: 'read_only', id: 'ep-2' },
  request: { method: 'DELETE', path: '/projects/p/endpoints/ep-2' },
}
const replica = { type: 'read_only', attributes: { name: 'r', size: { min: 4, max: 4 } } } as const

const sized = (one: Partial<Step>): Partial<Step> => {
  const { request } = step('x', one)
  const limits = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 }
  const endpoint = { ...request.body?.endpoint, ...limits }
  return { ...one, request: { ...request, body: { endpoint } } }
}

const CASES: readonly (readonly [string, Partial<Step>, (live: Live) => void, string])[] = [
  ['an update of a resized compute', {}, attributes('ep-1', { size: { min: 3, max: 3 } }), 'size 1 CU → 3 CU'],
  [
    'an update of a compute with a different upper limit',
    {},
    attributes('ep-1', { size: { min: 1, max: 3 } }),
    'size 1 CU → 1–3 CU',
  ],
  [
    'an update of a compute that moved to another branch',
    {},
    change('ep-1', { branchId: 'br-dev' }),
    'branch br-main → br-dev',
  ],
  ['an update of a deleted compute', {}, remove('ep-1'), 'it was deleted'],
  [
    'a delete of a compute that moved to another branch',
    deletingReplica,
    change('ep-2', { branchId: 'br-x' }),
    'branch',
  ],
  ['a delete of a renamed compute', deletingReplica, attributes('ep-2', { name: 'etl' }), 'name bi → etl'],
  [
    'a move to a branch that now has a primary',
    moving,
    add('ep-9', { branchId: 'br-dev' }),
    'primary on dev none → ep-9',
  ],
  [
    'a move of a compute that already moved elsewhere',
    moving,
    change('ep-1', { branchId: 'br-x' }),
    'branch br-main → br-x',
  ],
  [
    'a create of a primary on a branch that now has one',
    sized(creatingPrimary),
    add('ep-9', { branchId: 'br-dev', attributes: {} }),
    'primary on main none → ep-9',
  ],
  [
    'a create of a replica whose name is now used by another replica',
    sized(creating),
    add('ep-9', replica),
    'replica "r" on main none → ep-9',
  ],
]

const allowed = { allow: new Set<Consent>(['restart', 'delete', 'move', 'replace']) }

const disabling: Partial<Step> = {
  request: { method: 'PATCH', path: '/projects/p/endpoints/ep-1', body: { endpoint: { disabled: true } } },
}

/** Applies a step that was planned for branches main and dev. The project has `now` when the step runs. */
const withBranches = async (kind: Partial<Step>, now: readonly Partial<ObservedBranch>[]) => {
  const main: ObservedBranch = { id: 'br-main', name: 'main', isDefault: false, isProtected: false }
  const branches = [main, { ...main, id: 'br-dev', name: 'dev' }]
  const live = [compute('ep-1')]
  const api = fakeApi({ computes: live, branches: now.map((one) => ({ ...main, ...one })) })
  const observed = { ...observedOf([]), projects: observedOf(live).projects.map((one) => ({ ...one, branches })) }
  return { outcome: await apply({ plan: planWith(step('s', kind)), api, consent: allowed, observed }), sent: api.sent }
}

// promise: stale-data, rival-update, moved-before-prune
describe('a step whose compute has changed since the plan', () => {
  describe.each(CASES)('%s', (_name, kind, rival, words) => {
    test.each(['before its turn', 'while it waits for a lock'])(
      'is not sent when the change happens %s',
      async (when) => {
        const isLocked = when !== 'before its turn'
        const api = fakeApi({
          computes: [compute('ep-1'), REPLICA],
          ...(isLocked ? { onLock: rival } : {}),
        })
        const outcome = await apply({
          plan: planWith(step('s', kind), step('follows', { ...kind, after: ['s'] })),
          api,
          consent: allowed,
          onEvent: ({ type }) => {
            if (type === 'step-start' && !isLocked) rival(api.computes)
          },
        })
        expect(statuses(outcome)).toEqual([
          ['stale', 'changed-meanwhile'],
          ['skipped', 'depends-on-failed'],
        ])
        expect(api.sent).toEqual([])
        expect(outcome.steps[0]?.message).toContain(words)
        expect(outcome.steps[0]?.message).toContain('Nothing was changed by this step.')
        expect(exitCodeOf(outcome)).toBe(3)
      },
    )
  })

  // promise: renamed-branch
  test.each<readonly [string, Partial<Step>, readonly Partial<ObservedBranch>[], string]>([
    ['a renamed branch', deleting, [{ name: 'prod' }], 'branch name main → prod'],
    ['a branch that is protected now', deleting, [{ isProtected: true }], 'main is protected: no → yes'],
    ['a branch that is the default now', deleting, [{ isDefault: true }], 'main is the default branch: no → yes'],
    ['a branch that no longer exists', deleting, [], 'branch main br-main → none'],
    ['a move to a renamed branch', moving, [{}, { id: 'br-dev', name: 'prod' }], 'branch name dev → prod'],
    ['a renamed branch, to disable its primary,', disabling, [{ name: 'prod' }], 'branch name main → prod'],
  ])('a step on %s is not sent', async (_name, kind, now, words) => {
    const { outcome, sent } = await withBranches(kind, now)
    expect(outcome.steps).toMatchObject([{ status: 'stale', message: expect.stringContaining(words) }])
    expect(sent).toEqual([])
  })

  test('a step that only changes the size is sent even if the branch was renamed', async () => {
    const { outcome, sent } = await withBranches({}, [{ name: 'prod' }])
    expect(outcome.steps).toMatchObject([{ status: 'done' }])
    expect(sent).toHaveLength(1)
  })

  test('a stale step does not stop independent steps', async () => {
    const api = fakeApi({ computes: [compute('ep-1'), REPLICA] })
    const outcome = await apply({
      plan: planWith(step('s'), step('free', deletingReplica)),
      api,
      consent: allowed,
      onEvent: ({ type }) => {
        if (type === 'step-start') attributes('ep-1', { size: { min: 3, max: 3 } })(api.computes)
      },
    })
    expect(outcome.steps.map(({ status }) => status)).toEqual(['stale', 'done'])
  })

  test('a stale step does not stop a step that only follows it in the order', async () => {
    const api = fakeApi({ computes: [compute('ep-1'), REPLICA] })
    const outcome = await apply({
      plan: planWith(step('s'), step('next', { ...deletingReplica, after: ['s'], inTurnAfter: ['s'] })),
      api,
      consent: allowed,
      onEvent: ({ type }) => {
        if (type === 'step-start') attributes('ep-1', { size: { min: 3, max: 3 } })(api.computes)
      },
    })
    expect(outcome.steps.map(({ status }) => status)).toEqual(['stale', 'done'])
  })

  test('an attribute missing from the list of computes does not make a step stale', async () => {
    const { request } = step('s')
    const body = { endpoint: { suspend_timeout_seconds: 600, settings: { pg_settings: { work_mem: '8MB' } } } }
    const api = fakeApi({
      computes: [compute('ep-1', { attributes: { scaleToZero: 300, postgresSettings: { work_mem: '4MB' } } })],
    })
    const outcome = await apply({
      plan: planWith(step('s', { request: { ...request, body } })),
      api,
      observed: observedOf([compute('ep-1', { attributes: {} })]),
    })
    expect(statuses(outcome)).toEqual([['done', undefined]])
  })

  test('a stale step reports the operation that caused the change', async () => {
    const api = fakeApi({ computes: [compute('ep-1', { attributes: { size: { min: 3, max: 3 } } })] })
    const theirs = operation('op-theirs', { endpointId: 'ep-1', status: 'finished' })
    const outcome = await apply({
      plan: planWith(step('s')),
      api: { ...api, listOperations: async () => ({ operations: [theirs] }) },
      observed: observedOf([compute('ep-1')]),
    })
    expect(outcome.steps[0]).toMatchObject({
      moved: [{ what: 'size', before: '1 CU', after: '3 CU' }],
      movedBy: { id: 'op-theirs', action: 'apply_config' },
      message: expect.stringContaining('Its latest operation is apply_config op-theirs (finished).'),
    })
  })

  test('a compute that moved to another branch is reported with the names of both branches', async () => {
    const observed = observedOf([compute('ep-1')])
    const branches = [
      { id: 'br-main', name: 'main', isDefault: true, isProtected: false },
      { id: 'br-dev', name: 'dev', isDefault: false, isProtected: false },
    ]
    const outcome = await apply({
      plan: planWith(step('s')),
      api: fakeApi({ computes: [compute('ep-1', { branchId: 'br-dev' })] }),
      observed: { ...observed, projects: observed.projects.map((project) => ({ ...project, branches })) },
    })
    expect(outcome.steps[0]?.moved).toEqual([{ what: 'branch', before: 'main', after: 'dev' }])
  })

  test('a step is stale when the service rejects it because of a change made just before it', async () => {
    const api = fakeApi({
      onSend: () => {
        add('ep-9', { branchId: 'br-dev', attributes: { size: { min: 9, max: 9 } } })(api.computes)
        throw refused(422)
      },
    })
    const primary = sized(creatingPrimary)
    expect(statuses(await apply({ plan: planWith(step('s', primary)), api }))).toEqual([['stale', 'changed-meanwhile']])
  })

  test('a briefly outdated read does not make a step stale', async () => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    let reads = 0
    const lagging = {
      ...api,
      getCompute: async (project: string, id: string) => {
        reads += 1
        return reads === 1 ? compute('ep-1', { branchId: 'br-old' }) : api.getCompute(project, id)
      },
    }
    expect(statuses(await apply({ plan: planWith(step('s')), api: lagging }))).toEqual([['done', undefined]])
  })
})

describe('a change that another client has already made', () => {
  test.each<readonly [string, Partial<Step>, (live: Live) => void, string]>([
    ['an update', {}, attributes('ep-1', { size: { min: 2, max: 2 } }), 'already as declared'],
    ['a delete', deleting, remove('ep-1'), 'already deleted'],
    ['a create', creating, add('ep-9', { type: 'read_only', attributes: { name: 'r' } }), 'ep-9 already exists'],
  ])('%s is reported as done without a request', async (_name, kind, rival, words) => {
    const api = fakeApi({ computes: [compute('ep-1')], onLock: rival })
    const outcome = await apply({ plan: planWith(step('s', kind)), api, consent: allowed })
    expect(statuses(outcome)).toEqual([['done', undefined]])
    expect(outcome.steps[0]?.message).toContain(words)
    expect(api.sent).toEqual([])
    expect(exitCodeOf(outcome)).toBe(0)
  })

  test('is not counted as sent outside a restart window', async () => {
    const live = compute('ep-1', { attributes: { size: { min: 2, max: 2 } } })
    const windows = [{ days: ['fri'], from: '00:00', to: '24:00', timezone: 'UTC' }] as const
    const plan = planWith(step('s', { windows }))
    const outcome = await apply({ plan, api: fakeApi({ computes: [live] }), ignoreWindows: true })
    expect(outcome.steps[0]?.message).toContain('already as declared')
    expect(outcome.notes).toEqual([])
  })

  test('the step waits for the other client’s operation, and fails if that operation fails', async () => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    attributes('ep-1', { size: { min: 2, max: 2 } })(api.computes)
    let looks = 0
    const busy = {
      ...api,
      listOperations: async () => {
        looks += 1
        return { operations: [operation('op-1', { endpointId: 'ep-1', status: looks < 4 ? 'running' : 'error' })] }
      },
    }
    const outcome = await apply({ plan: planWith(step('s')), api: busy, observed: observedOf([compute('ep-1')]) })
    expect(statuses(outcome)).toEqual([['failed', 'operation-failed']])
  })

  test('only the attributes that still differ are sent', async () => {
    const body = {
      endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 },
    }
    const api = fakeApi({
      computes: [compute('ep-1')],
      onLock: attributes('ep-1', { size: { min: 2, max: 2 } }),
    })
    const { request } = step('s')
    const outcome = await apply({ plan: planWith(step('s', { request: { ...request, body } })), api })
    expect(statuses(outcome)).toEqual([['done', undefined]])
    expect(api.sent.map((one) => one.body)).toEqual([{ endpoint: { suspend_timeout_seconds: 600 } }])
  })
})

describe('a change that another client has made in part', () => {
  const sending = async (
    endpoint: NonNullable<Step['request']['body']>['endpoint'],
    before: ObservedCompute,
    rival: (live: Live) => void,
  ) => {
    const api = fakeApi({ computes: [before], onLock: rival })
    const { request } = step('s')
    const outcome = await apply({
      plan: planWith(step('s', { request: { ...request, body: { endpoint } } })),
      api,
      consent: allowed,
    })
    return { statuses: statuses(outcome), sent: api.sent.map(({ body }) => body?.endpoint) }
  }

  test('the new size is sent if only the move is done', async () => {
    const endpoint = { branch_id: 'br-dev', autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }
    expect(await sending(endpoint, compute('ep-1'), change('ep-1', { branchId: 'br-dev' }))).toEqual({
      statuses: [['done', undefined]],
      sent: [{ autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }],
    })
  })

  test('the settings are sent if only one of them is set', async () => {
    const settings = { pg_settings: { jit: 'off', work_mem: '64MB' } }
    const before = compute('ep-1', { attributes: { postgresSettings: {} }, settings: { pg_settings: {} } })
    const rival = change('ep-1', {
      attributes: { postgresSettings: { jit: 'off' } },
      settings: { pg_settings: { jit: 'off' } },
    })
    expect(await sending({ settings }, before, rival)).toEqual({
      statuses: [['done', undefined]],
      sent: [{ settings }],
    })
  })

  test('the default scale-to-zero delay in another notation is not a change', async () => {
    const endpoint = { suspend_timeout_seconds: 600 }
    const before = compute('ep-1', { attributes: { scaleToZero: 0 } })
    expect(await sending(endpoint, before, attributes('ep-1', { scaleToZero: 300 }))).toEqual({
      statuses: [['done', undefined]],
      sent: [endpoint],
    })
  })
})

describe('changes to what a step does not touch', () => {
  const { request } = step('s')
  const settings = { pg_settings: { jit: 'off', work_mem: '64MB' } }
  const live = compute('ep-1', {
    attributes: { size: { min: 1, max: 1 }, postgresSettings: { jit: 'off' } },
    settings: { pg_settings: { jit: 'off' } },
  })
  const setting = step('s', { request: { ...request, body: { endpoint: { settings } } } })

  // promise: rival-setting
  test("another client's setting is kept: the request repeats its current value", async () => {
    const theirs = { statement_timeout: '5000' }
    const api = fakeApi({
      computes: [live],
      onLock: change('ep-1', {
        attributes: { ...live.attributes, postgresSettings: theirs },
        settings: { pg_settings: theirs, pgbouncer_settings: { pool_size: 5 } },
      }),
    })
    expect(statuses(await apply({ plan: planWith(setting), api }))).toEqual([['done', undefined]])
    expect(api.sent[0]?.body?.endpoint).toEqual({
      settings: { pg_settings: { ...theirs, work_mem: '64MB' }, pgbouncer_settings: { pool_size: 5 } },
    })
  })

  test('a step is stale when the setting that it changes has changed', async () => {
    const api = fakeApi({
      computes: [live],
      onLock: attributes('ep-1', { postgresSettings: { jit: 'off', work_mem: '1GB' } }),
    })
    const outcome = await apply({ plan: planWith(setting), api })
    expect(outcome.steps[0]?.message).toContain('postgres.settings.work_mem nothing → 1GB')
    expect(api.sent).toEqual([])
  })

  test.each([
    ['an attribute that the step does not change has changed', attributes('ep-1', { scaleToZero: 600 })],
    ['its compute was suspended', change('ep-1', { state: 'idle', lastActive: '2026-01-01T00:00:00Z' })],
  ])('a step is sent even if %s', async (_name, rival) => {
    const api = fakeApi({ computes: [compute('ep-1')], onLock: rival })
    expect(statuses(await apply({ plan: planWith(step('s')), api }))).toEqual([['done', undefined]])
    expect(api.sent).toHaveLength(1)
  })

  test('a replica can be moved to a branch that has a primary', async () => {
    const api = fakeApi({ computes: [compute('ep-2', REPLICA), compute('ep-9', { branchId: 'br-dev' })] })
    const move = step('s', { ...moving, compute: { type: 'read_only', id: 'ep-2' } })
    const path = '/projects/p/endpoints/ep-2'
    const outcome = await apply({
      plan: planWith({ ...move, request: { ...move.request, path } }),
      api,
      consent: allowed,
    })
    expect(statuses(outcome)).toEqual([['done', undefined]])
  })

  test('a delete without a successor is sent even if the settings have changed', async () => {
    const api = fakeApi({
      computes: [compute('ep-1', { settings: { pg_settings: {} } })],
      onLock: change('ep-1', { settings: { pg_settings: { a: '1' } } }),
    })
    const outcome = await apply({ plan: planWith(step('s', deleting)), api, consent: allowed })
    expect(statuses(outcome)).toEqual([['done', undefined]])
  })

  test('changes made by earlier steps of the same plan do not make a step stale', async () => {
    const to = (branch: string) => ({ ...request, body: { endpoint: { branch_id: branch } } })
    const plan = planWith(
      step('parks', { ...moving, request: to('br-parking') }),
      step('frees', {
        ...deleting,
        compute: { type: 'read_write', id: 'ep-3' },
        request: { method: 'DELETE', path: '/projects/p/endpoints/ep-3' },
      }),
      step('moves on', { ...moving, request: to('br-dev'), after: ['parks', 'frees'] }),
      step('fills', {
        ...creatingPrimary,
        request: {
          ...(creatingPrimary.request as Step['request']),
          body: { endpoint: { branch_id: 'br-main', type: 'read_write' } },
        },
      }),
    )
    const api = fakeApi({ computes: [compute('ep-1'), compute('ep-3', { branchId: 'br-dev' })] })
    // The list stays as it was at first. Reads by id are current.
    const first = [...api.computes.values()]
    const lagging = { ...api, listComputes: async () => first }
    expect(statuses(await apply({ plan, api: lagging, consent: allowed }))).toEqual(
      new Array(4).fill(['done', undefined]),
    )
  })

  test('a change by another client between two steps on one compute makes the second step stale', async () => {
    const to = (body: Step['request']['body']) => ({ ...request, ...(body === undefined ? {} : { body }) })
    const api = fakeApi({ computes: [compute('ep-1')] })
    const plan = planWith(
      step('parks', { ...moving, request: to({ endpoint: { branch_id: 'br-parking' } }) }),
      step('moves on', {
        ...moving,
        request: to({ endpoint: { branch_id: 'br-dev', autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 } }),
        after: ['parks'],
      }),
    )
    const outcome = await apply({
      plan,
      api,
      consent: allowed,
      onEvent: ({ type }) => {
        if (type === 'operation') attributes('ep-1', { size: { min: 7, max: 7 } })(api.computes)
      },
    })
    expect(outcome.steps.map(({ status }) => status)).toEqual(['done', 'stale'])
    expect(api.computes.get('ep-1')?.attributes.size).toEqual({ min: 7, max: 7 })
  })
})

describe('a compute that was idle in the plan and may be active when its step runs', () => {
  const harmless = { impact: 'none', unlessIdle: 'restart', consents: [] } as const
  const closed = { windows: [{ days: ['fri'], from: '00:00', to: '24:00', timezone: 'UTC' }] } as const
  const idle = compute('ep-1', { state: 'idle' })
  const wakes = change('ep-1', { state: 'active' })

  // promise: wakes-while-waiting
  test('the step waits for the restart window, even if the compute started during a lock wait', async () => {
    const api = fakeApi({ computes: [idle], onLock: wakes })
    const outcome = await apply({ plan: planWith(step('s', { ...harmless, ...closed })), api })
    expect(statuses(outcome)).toEqual([['scheduled', 'outside-window']])
    expect(outcome.steps[0]?.opensAt).toBe('2026-01-02T00:00:00.000Z')
    expect(api.sent).toEqual([])
    expect(exitCodeOf(outcome)).toBe(5)
  })

  test('--now restarts the compute and records the override before the request', async () => {
    const events: ApplyEvent[] = []
    const outcome = await apply({
      plan: planWith(step('s', { ...harmless, ...closed })),
      api: fakeApi({ computes: [idle], onLock: wakes }),
      ignoreWindows: true,
      onEvent: (event) => void events.push(event),
    })
    expect(statuses(outcome)).toEqual([['done', undefined]])
    const types = events.map(({ type }) => type)
    expect(types.indexOf('window-overridden')).toBeLessThan(types.lastIndexOf('call'))
    expect(outcome.notes).toEqual(['--now: 1 step ran outside its restart window.'])
  })

  test('--now records the override of a planned restart once', async () => {
    const events: string[] = []
    await apply({
      plan: planWith(step('s', { unlessIdle: 'restart', ...closed })),
      api: fakeApi({ computes: [compute('ep-1')] }),
      ignoreWindows: true,
      onEvent: ({ type }) => void events.push(type),
    })
    expect(events.filter((type) => type === 'window-overridden')).toHaveLength(1)
  })

  test.each<readonly [string, Partial<Step>, string]>([
    ['an update interrupts nobody', {}, 'none'],
    ['a move has the impact that the plan shows', { kind: 'move', impact: 'disconnect' }, 'disconnect'],
  ])('while the compute is still idle, %s', async (_what, one, predicted) => {
    const { steps } = await apply({
      plan: planWith(step('s', one)),
      api: fakeApi({ computes: [idle] }),
      consent: allow('move'),
    })
    expect(steps[0]?.observation?.predicted).toBe(predicted)
  })

  // promise: wakes-while-waiting
  test('the step is not allowed without consent to a restart', async () => {
    const api = fakeApi({ computes: [idle], onLock: wakes })
    const outcome = await apply({ plan: planWith(step('s', harmless)), api, consent: { allow: new Set() } })
    expect(statuses(outcome)).toEqual([['not-allowed', 'not-consented']])
    expect(outcome.steps[0]?.message).toContain('--allow restart: ep-1 was idle when the plan was made')
    expect(api.sent).toEqual([])
  })

  test('while the compute is still idle, the step needs neither a window nor consent', async () => {
    const outcome = await apply({
      plan: planWith(step('s', { ...harmless, ...closed })),
      api: fakeApi({ computes: [idle] }),
      consent: { allow: new Set() },
    })
    expect(statuses(outcome)).toEqual([['done', undefined]])
  })
})

describe('replacing a compute', () => {
  const SHOWN = { pg_settings: { jit: 'off' }, pgbouncer_settings: { pool_size: 5 } }
  const LIBRARIES = { preload_libraries: { enabled_libraries: ['a'] } }
  const replaced = step('c#1', { ...deleting, change: 'c', consents: ['replace'] })
  const successor = step('c#2', { ...creating, change: 'c', after: ['c#1'] })

  test.each([
    [
      'the old compute’s settings, which its successor inherits, have changed',
      change('ep-1', {
        attributes: { postgresSettings: { a: 'S3CRET' } },
        settings: { pg_settings: { a: 'S3CRET' } },
      }),
    ],
    ['the name of its successor is already in use', add('ep-9', replica)],
  ])('a replacement deletes nothing if %s', async (_name, rival) => {
    const api = fakeApi({ computes: [compute('ep-1', { settings: { pg_settings: {} } })], onLock: rival })
    const outcome = await apply({ plan: planWith(replaced, successor), api, consent: allow('replace') })
    expect(outcome.steps.map(({ status }) => status)).toEqual(['stale', 'skipped'])
    expect(api.computes.has('ep-1')).toBe(true)
    expect(JSON.stringify(outcome)).not.toContain('S3CRET')
  })

  test.each([
    ['no setting is declared', SHOWN, undefined, SHOWN],
    [
      'a setting is declared',
      SHOWN,
      { pg_settings: { work_mem: '8MB' } },
      { ...SHOWN, pg_settings: { jit: 'off', work_mem: '8MB' } },
    ],
    ['it has no Postgres settings', LIBRARIES, undefined, { pg_settings: {}, ...LIBRARIES }],
    ['it has no settings at all', { pg_settings: {} }, undefined, undefined],
  ])('the new compute keeps the settings of the old one if %s', async (_name, settings, declared, sent) => {
    const api = fakeApi({ computes: [compute('ep-1', { settings })] })
    const endpoint = { ...creating.request?.body?.endpoint, ...(declared && { settings: declared }) }
    const request = { method: 'POST' as const, path: '/projects/p/endpoints', body: { endpoint } }
    await apply({ plan: planWith(replaced, { ...successor, request }), api, consent: allow('replace') })
    expect(api.sent[1]?.body?.endpoint.settings).toEqual(sent)
  })

  test('a setting that was not kept is reported without its value', async () => {
    const api = fakeApi({
      computes: [compute('ep-1', { settings: { pg_settings: { jit: 'S3CRET' } } })],
      onSend: (_attempt, request, perform) => {
        if (request.method === 'POST') delete (request.body?.endpoint as { settings?: unknown } | undefined)?.settings
        return perform()
      },
    })
    const outcome = await apply({ plan: planWith(replaced, successor), api, consent: allow('replace') })
    expect(outcome.steps[1]?.message).toContain('settings that are not declared were not kept')
    expect(JSON.stringify(outcome)).not.toContain('S3CRET')
  })
})

describe('an incomplete response', () => {
  const withoutBody =
    (operations: readonly ReturnType<typeof operation>[]) => (_n: number, _r: unknown, perform: () => unknown) => {
      perform()
      return { operations }
    }

  // promise: nameless-create
  test.each([
    ['no body', []],
    ['operations only', [operation('op-0', { action: 'start_compute', endpointId: 'ep-made-0' })]],
    ['operations that name no compute', [operation('op-0', { action: 'start_compute' })]],
  ])('a create answered with %s is not sent again: its compute is looked up', async (_name, operations) => {
    const api = fakeApi({ onSend: withoutBody(operations) })
    const outcome = await apply({ plan: planWith(step('s', creating)), api })
    expect(outcome.steps).toMatchObject([{ status: 'done', computeId: 'ep-made-0', operations: [{ id: 'op-0' }] }])
    expect(api.sent).toHaveLength(1)
  })

  // promise: other-object
  test('an update answered with another compute is checked on its own compute', async () => {
    const other = compute('ep-2', { attributes: { size: { min: 2, max: 2 } } })
    const api = fakeApi({ computes: [compute('ep-1'), other], onSend: () => ({ compute: other, operations: [] }) })
    const outcome = await apply({ plan: planWith(step('s')), api })
    expect(outcome.steps).toMatchObject([{ status: 'failed', reason: 'not-effective', computeId: 'ep-1' }])
  })

  test('a create that was accepted but never appears fails and is not sent again', async () => {
    const api = fakeApi({ onSend: () => ({ operations: [] }) })
    const outcome = await apply({ plan: planWith(step('s', creating)), api })
    expect(statuses(outcome)).toEqual([['failed', 'not-effective']])
    expect(outcome.steps[0]?.message).toContain('the branch has no such compute')
    expect(outcome.steps[0]?.message).not.toContain("account's plan")
    expect(api.sent).toHaveLength(1)
  })

  // promise: late-operation
  test('an update whose response was lost waits for its operation, even if the list shows it late', async () => {
    const clock = fakeClock()
    const began = clock.now()
    const createdAt = new Date(began).toISOString()
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: unanswered,
    })
    const lagging: FakeApi = {
      ...api,
      listOperations: async () => {
        const since = clock.now() - began
        const status = since < 9_000 ? 'running' : 'finished'
        return { operations: since < 4_000 ? [] : [operation('op-late', { endpointId: 'ep-1', createdAt, status })] }
      },
    }
    const outcome = await apply({ plan: planWith(step('s')), api: lagging, clock })
    expect(outcome.steps).toMatchObject([{ status: 'done', operations: [{ id: 'op-late', status: 'finished' }] }])
    expect(clock.now() - began).toBeGreaterThanOrEqual(9_000)
  })

  test('an update whose response was lost fails with its operation, even if the clock of the service is behind', async () => {
    const clock = fakeClock()
    const createdAt = new Date(clock.now() - 4_000).toISOString()
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: unanswered,
    })
    const failed = operation('op-1', { endpointId: 'ep-1', createdAt, status: 'error' })
    const behind: FakeApi = { ...api, listOperations: async () => ({ operations: [failed] }) }
    const outcome = await apply({ plan: planWith(step('s')), api: behind, clock })
    expect(outcome.steps).toMatchObject([
      { status: 'failed', reason: 'operation-failed', operations: [{ id: 'op-1' }] },
    ])
  })
})

describe('an outdated list of computes', () => {
  // promise: lagging-after-apply
  test('a replica created by an earlier run is found through its operation and not created again', async () => {
    const made = compute('ep-9', { type: 'read_only', attributes: { name: 'r' } })
    const api = fakeApi({ computes: [made] })
    const lagging = {
      ...api,
      listComputes: async () => [],
      listOperations: async () => ({
        operations: [operation('op-1', { action: 'start_compute', endpointId: 'ep-9', status: 'finished' })],
      }),
    }
    const outcome = await apply({ plan: planWith(step('s', creating)), api: lagging, observed: observedOf([]) })
    expect(outcome.steps).toMatchObject([{ status: 'done', computeId: 'ep-9' }])
    expect(api.sent).toEqual([])
  })

  test('operations on other branches cause no extra reads', async () => {
    const api = fakeApi()
    const busy = {
      ...api,
      listOperations: async () => ({
        operations: [
          ...Array.from({ length: 15 }, (_, at) =>
            operation(`op-${at}`, { endpointId: `ep-x${at}`, branchId: 'br-x' }),
          ),
          ...(await api.listOperations('p')).operations,
        ].map((one) => ({ ...one, status: 'finished' })),
      }),
    }
    await apply({ plan: planWith(step('s', creating)), api: busy })
    expect(api.reads.filter((one) => one === 'getCompute')).toHaveLength(1)
  })

  test('the convergence check reads changed computes by id', async () => {
    const api = fakeApi()
    const one = step('s', creating)
    const left = { ok: true, plan: planWith(one) } as const
    const empty = { ok: true, plan: planWith() } as const
    const outcome = await apply({
      plan: planWith(one),
      api,
      replan: async (_aliases, read) => (read.some(({ compute }) => compute?.id === 'ep-made-0') ? empty : left),
    })
    expect(outcome.converged).toBe(true)
    const without = await apply({ plan: planWith(one), api: fakeApi(), replan: async () => left })
    expect(without.converged).toBe(false)
  })
})

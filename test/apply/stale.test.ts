/** What somebody else changes between the plan and a step is never overwritten, and never made twice. */
import { describe, expect, test } from 'vitest'
import { exitCodeOf } from '../../src/apply/index.ts'
import type { ApplyEvent, Consent, ObservedCompute, Step } from '../../src/model/index.ts'
import { compute, type FakeApi, fakeApi, fakeClock, lost, operation, refused } from './fake-api.ts'
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
  ['a resized compute', {}, attributes('ep-1', { size: { min: 3, max: 3 } }), 'size 1 CU → 3 CU'],
  ['one limit of a range', {}, attributes('ep-1', { size: { min: 1, max: 3 } }), 'size 1 CU → 1–3 CU'],
  ['a compute on another branch', {}, change('ep-1', { branchId: 'br-dev' }), 'branch br-main → br-dev'],
  ['a deleted compute', {}, remove('ep-1'), 'it was deleted'],
  ['a delete whose compute has left the branch', deletingReplica, change('ep-2', { branchId: 'br-x' }), 'branch'],
  ['a delete whose compute has another name', deletingReplica, attributes('ep-2', { name: 'etl' }), 'name bi → etl'],
  [
    'a move to a branch that has a primary now',
    moving,
    add('ep-9', { branchId: 'br-dev' }),
    'primary on dev none → ep-9',
  ],
  ['a move of what is elsewhere', moving, change('ep-1', { branchId: 'br-x' }), 'branch br-main → br-x'],
  [
    'a primary where there is another one now',
    sized(creatingPrimary),
    add('ep-9', { branchId: 'br-dev', attributes: {} }),
    'primary on main none → ep-9',
  ],
  [
    'a replica whose name is taken by another size',
    sized(creating),
    add('ep-9', replica),
    'replica "r" on main none → ep-9',
  ],
]

const allowed = { allow: new Set<Consent>(['restart', 'delete', 'move', 'replace']) }

describe('a step is not sent if the project has changed since the plan', () => {
  describe.each(CASES)('%s', (_name, kind, rival, words) => {
    /** Whoever else is there acts before the first request, or while it waits for a lock. */
    test.each(['before its turn', 'while it waits for a lock'])('%s', async (when) => {
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
    })
  })

  test('independent steps go on', async () => {
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

  test('one that merely follows it continues as well', async () => {
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

  test('an attribute that the list leaves out, and a read by id shows, makes nothing stale', async () => {
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

  test('the cause is named if operations show it, and the fields agree', async () => {
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

  test('it is found out as well where the rival was quicker by a moment, and the service refuses', async () => {
    const api = fakeApi({
      onSend: () => {
        add('ep-9', { branchId: 'br-dev', attributes: { size: { min: 9, max: 9 } } })(api.computes)
        throw refused(422)
      },
    })
    const primary = sized(creatingPrimary)
    expect(statuses(await apply({ plan: planWith(step('s', primary)), api }))).toEqual([['stale', 'changed-meanwhile']])
  })

  test('a read that lags for a moment makes nothing stale', async () => {
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

describe('what another writer has done already', () => {
  test.each<readonly [string, Partial<Step>, (live: Live) => void, string]>([
    ['an update', {}, attributes('ep-1', { size: { min: 2, max: 2 } }), 'already as declared'],
    ['a delete', deleting, remove('ep-1'), 'already deleted'],
    ['a create', creating, add('ep-9', { type: 'read_only', attributes: { name: 'r' } }), 'ep-9 already exists'],
  ])('%s is done without a request, and that is said', async (_name, kind, rival, words) => {
    const api = fakeApi({ computes: [compute('ep-1')], onLock: rival })
    const outcome = await apply({ plan: planWith(step('s', kind)), api, consent: allowed })
    expect(statuses(outcome)).toEqual([['done', undefined]])
    expect(outcome.steps[0]?.message).toContain(words)
    expect(api.sent).toEqual([])
    expect(exitCodeOf(outcome)).toBe(0)
  })

  test('its operation is waited for', async () => {
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

  test('a part of it: only the rest is sent', async () => {
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

describe('a step ignores what it does not change', () => {
  const { request } = step('s')
  const settings = { pg_settings: { jit: 'off', work_mem: '64MB' } }
  const live = compute('ep-1', {
    attributes: { size: { min: 1, max: 1 }, postgresSettings: { jit: 'off' } },
    settings: { pg_settings: { jit: 'off' } },
  })
  const setting = step('s', { request: { ...request, body: { endpoint: { settings } } } })

  test("another writer's setting is sent along with its current value, and is kept", async () => {
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

  test('the very setting that it changes makes it stale', async () => {
    const api = fakeApi({
      computes: [live],
      onLock: attributes('ep-1', { postgresSettings: { jit: 'off', work_mem: '1GB' } }),
    })
    const outcome = await apply({ plan: planWith(setting), api })
    expect(outcome.steps[0]?.message).toContain('postgres.settings.work_mem nothing → 1GB')
    expect(api.sent).toEqual([])
  })

  test.each([
    ['another attribute', attributes('ep-1', { scaleToZero: 600 })],
    ['falling asleep', change('ep-1', { state: 'idle', lastActive: '2026-01-01T00:00:00Z' })],
  ])('%s', async (_name, rival) => {
    const api = fakeApi({ computes: [compute('ep-1')], onLock: rival })
    expect(statuses(await apply({ plan: planWith(step('s')), api }))).toEqual([['done', undefined]])
    expect(api.sent).toHaveLength(1)
  })

  test('effects of earlier steps of the same plan: parked, then moved to where a compute was deleted', async () => {
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
    // The list shows the project as it was at first, reads by id are true.
    const first = [...api.computes.values()]
    const lagging = { ...api, listComputes: async () => first }
    expect(statuses(await apply({ plan, api: lagging, consent: allowed }))).toEqual(
      new Array(4).fill(['done', undefined]),
    )
  })

  test('a change by another writer between two steps of one compute is not mistaken for our own', async () => {
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

describe('a compute that was idle in the plan, and is in use when its request is to be sent', () => {
  const harmless = { impact: 'none', unlessIdle: 'restart', consents: [] } as const
  const closed = { windows: [{ days: ['fri'], from: '00:00', to: '24:00', timezone: 'UTC' }] } as const
  const idle = compute('ep-1', { state: 'idle' })
  const wakes = change('ep-1', { state: 'active' })

  test('waits for its restart window, even if it woke while a lock was waited for', async () => {
    const api = fakeApi({ computes: [idle], onLock: wakes })
    const outcome = await apply({ plan: planWith(step('s', { ...harmless, ...closed })), api })
    expect(statuses(outcome)).toEqual([['scheduled', 'outside-window']])
    expect(outcome.steps[0]?.opensAt).toBe('2026-01-02T00:00:00.000Z')
    expect(api.sent).toEqual([])
    expect(exitCodeOf(outcome)).toBe(5)
  })

  test('--now restarts it all the same, and that is recorded before it is', async () => {
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

  test('needs the consent that its restart needs', async () => {
    const api = fakeApi({ computes: [idle], onLock: wakes })
    const outcome = await apply({ plan: planWith(step('s', harmless)), api, consent: { allow: new Set() } })
    expect(statuses(outcome)).toEqual([['not-allowed', 'not-consented']])
    expect(outcome.steps[0]?.message).toContain('--allow restart: ep-1 was idle when the plan was made')
    expect(api.sent).toEqual([])
  })

  test('idle as it was, it runs without either', async () => {
    const outcome = await apply({
      plan: planWith(step('s', { ...harmless, ...closed })),
      api: fakeApi({ computes: [idle] }),
      consent: { allow: new Set() },
    })
    expect(statuses(outcome)).toEqual([['done', undefined]])
  })
})

describe('a replacement', () => {
  const replaced = step('c#1', { ...deleting, change: 'c', consents: ['replace'] })
  const successor = step('c#2', { ...creating, change: 'c', after: ['c#1'] })

  test.each([
    [
      'whose settings moved, since its successor takes them along',
      change('ep-1', { settings: { pg_settings: { a: '1' } } }),
    ],
    ['whose successor finds its name taken', add('ep-9', replica)],
  ])('%s, deletes nothing', async (_name, rival) => {
    const api = fakeApi({ computes: [compute('ep-1', { settings: { pg_settings: {} } })], onLock: rival })
    const outcome = await apply({ plan: planWith(replaced, successor), api, consent: allow('replace') })
    expect(outcome.steps.map(({ status }) => status)).toEqual(['stale', 'skipped'])
    expect(api.computes.has('ep-1')).toBe(true)
  })
})

describe('what a response does not show', () => {
  const withoutBody =
    (operations: readonly ReturnType<typeof operation>[]) => (_n: number, _r: unknown, perform: () => unknown) => {
      perform()
      return { operations }
    }

  test.each([
    ['no body', []],
    ['operations only', [operation('op-0', { action: 'start_compute', endpointId: 'ep-made-0' })]],
    ['operations that name no compute', [operation('op-0', { action: 'start_compute' })]],
  ])('a create answered with %s is looked for, and not sent again', async (_name, operations) => {
    const api = fakeApi({ onSend: withoutBody(operations) })
    const outcome = await apply({ plan: planWith(step('s', creating)), api })
    expect(outcome.steps).toMatchObject([{ status: 'done', computeId: 'ep-made-0', operations: [{ id: 'op-0' }] }])
    expect(api.sent).toHaveLength(1)
  })

  test('a create that was accepted and never shows is not sent again', async () => {
    const api = fakeApi({ onSend: () => ({ operations: [] }) })
    const outcome = await apply({ plan: planWith(step('s', creating)), api })
    expect(statuses(outcome)).toEqual([['failed', 'not-effective']])
    expect(outcome.steps[0]?.message).toContain('the branch has no such compute')
    expect(outcome.steps[0]?.message).not.toContain("account's plan")
    expect(api.sent).toHaveLength(1)
  })

  test('an update whose answer was lost is not done before its operation, though the list of operations lags', async () => {
    const clock = fakeClock()
    const began = clock.now()
    const createdAt = new Date(began).toISOString()
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: (_n, request, perform) => {
        perform()
        throw lost(request.method)
      },
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
})

describe('a list of computes that lags', () => {
  test('a replica that an earlier run made, and only its operation shows, is not made again', async () => {
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

  test('operations of other branches cost no reads', async () => {
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

  test('the final check uses computes read by id, and reports what is left', async () => {
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

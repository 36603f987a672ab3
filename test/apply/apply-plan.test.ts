import { describe, expect, test } from 'vitest'
import {
  type ApplyEvent,
  type Change,
  type Consent,
  exitCodeOf,
  type RestartWindow,
  type StepRequest,
  type Weekday,
} from '../../src/model/index.ts'
import { abortingAt, compute, failing, fakeApi, fakeClock, lost, refused } from './fake-api.ts'
import { allow, apply, creating, deleting, observedOf, planWith, statuses, step } from './small-plans.ts'

const REPLACEMENT: Change = {
  id: 'c',
  kind: 'replace',
  project: 'p',
  branch: { id: 'br-main', name: 'main' },
  compute: { type: 'read_only', id: 'ep-1' },
  attributes: [],
  effects: [],
  impact: 'replace',
  reasons: ['TYPE_DIFFERS'],
  source: { file: 'espalier.yaml', line: 7, column: 1, length: 1 },
}

describe('waiting for operations', () => {
  test('a step counts as done when its operations have ended and the compute shows the requested values', async () => {
    const api = fakeApi({ computes: [compute('ep-1')], statuses: ['running', 'running', 'finished'] })
    const outcome = await apply({ plan: planWith(step('s')), api })
    expect(outcome.steps).toMatchObject([
      { status: 'done', computeId: 'ep-1', operations: [{ id: 'op-0', action: 'apply_config', status: 'finished' }] },
    ])
    expect(api.computes.get('ep-1')?.attributes.size).toEqual({ min: 2, max: 2 })
    expect(exitCodeOf(outcome)).toBe(0)
  })

  test('polls one list for all operations, at intervals that grow to five seconds', async () => {
    const clock = fakeClock()
    const api = fakeApi({
      computes: [compute('ep-1')],
      statuses: [...new Array<string>(9).fill('running'), 'finished'],
    })
    await apply({ plan: planWith(step('s')), api, clock })
    expect(clock.slept).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000, 5000])
    expect(api.reads).toEqual(['getCompute', ...new Array<string>(9).fill('listOperations'), 'getCompute'])
  })

  test.each([
    ['finished', 'done', undefined],
    ['skipped', 'done', undefined],
    ['cancelled', 'failed', 'operation-failed'],
    ['error', 'failed', 'operation-failed'],
    ['failed', 'failed', 'operation-failed'],
    ['cancelling', 'failed', 'operation-timeout'],
    ['something-new', 'failed', 'operation-timeout'],
  ])('an operation whose last status is %s makes the step %s', async (last, status, reason) => {
    const api = fakeApi({ computes: [compute('ep-1')], statuses: ['running', last] })
    const outcome = await apply({ plan: planWith(step('s')), api, operationTimeoutMs: 60_000 })
    expect(statuses(outcome)).toEqual([[status, reason]])
  })

  test('a step is done even if reads of its operations fail for a while', async () => {
    const api = fakeApi({ computes: [compute('ep-1')], statuses: ['running', 'finished'] })
    let outages = 3
    const flaky = {
      ...api,
      listOperations: async () => {
        outages -= 1
        if (outages >= 0) throw refused(500)
        return api.listOperations('p')
      },
    }
    expect(statuses(await apply({ plan: planWith(step('s')), api: flaky }))).toEqual([['done', undefined]])
  })

  describe('when past operations show the expected duration', () => {
    const observed = observedOf([compute('ep-1')], [{ action: 'apply_config', durationMs: 2_000 }])

    test('the compute is read at the same time as the poll that sees the operation end', async () => {
      const api = fakeApi({ computes: [compute('ep-1')] })
      expect(statuses(await apply({ plan: planWith(step('s')), api, observed }))).toEqual([['done', undefined]])
      // getCompute runs once before the request, and once to verify its effect.
      expect([...api.reads].sort()).toEqual(['getCompute', 'getCompute', 'listOperations'])
    })

    test('the compute is read again if the first read came too early', async () => {
      const api = fakeApi({ computes: [compute('ep-1')] })
      let reads = 0
      const lagging = {
        ...api,
        getCompute: async (project: string, id: string) => {
          reads += 1
          return reads === 2 ? compute('ep-1') : api.getCompute(project, id)
        },
      }
      const outcome = await apply({ plan: planWith(step('s')), api: lagging, observed })
      expect(statuses(outcome)).toEqual([['done', undefined]])
      expect(reads).toBe(3)
    })

    test('a change that had no effect is still detected', async () => {
      const api = fakeApi({ computes: [compute('ep-1')], ignores: true })
      const outcome = await apply({ plan: planWith(step('s')), api, observed })
      expect(statuses(outcome)).toEqual([['failed', 'not-effective']])
    })

    test('creates and deletes are verified as well', async () => {
      const api = fakeApi({ computes: [compute('ep-1')] })
      const plan = planWith(step('s', deleting), step('t', creating))
      const outcome = await apply({ plan, api, observed, consent: { allow: new Set<Consent>(['delete']) } })
      expect(outcome.steps).toMatchObject([{ status: 'done' }, { status: 'done', computeId: 'ep-made-0' }])
    })
  })
})

describe('requests whose responses are lost', () => {
  const vanish = (performs: boolean) => (attempt: number, request: StepRequest, perform: () => unknown) => {
    if (attempt > 1) return perform() as never
    if (performs) perform()
    throw lost(request.method)
  }

  // promise: create-takes-effect-twice
  test('a create that takes effect twice is reported with both ids, and nothing is deleted', async () => {
    const api = fakeApi({
      onSend: (attempt, _request, perform) => {
        if (attempt === 1) throw lost('POST')
        perform()
        return perform()
      },
    })
    const outcome = await apply({ api, plan: planWith(step('s', creating)) })
    expect(statuses(outcome)).toEqual([['failed', 'apply-failed']])
    expect(outcome.steps[0]?.message).toContain('both ep-made-0 and ep-made-1 exist')
    expect(outcome.steps[0]?.message).toContain(
      'Neither was deleted. If ep-made-1, the newer one, is not in use, run `espalier compute delete ep-made-1 --project p`',
    )
    expect(api.sent.map(({ method }) => method)).toEqual(['POST', 'POST'])
  })

  test('a create that waited for a lock checks again whether its compute exists before it is sent', async () => {
    // The first request takes effect late: only while the second one waits for a lock.
    let late: (() => void) | undefined
    const api = fakeApi({
      onSend: (_attempt, request, perform) => {
        late = perform
        throw lost(request.method)
      },
      onLock: () => late?.(),
      lockAt: 1,
    })
    const outcome = await apply({ plan: planWith(step('s', creating)), api })
    expect(statuses(outcome)).toEqual([['done', undefined]])
    expect(api.computes.size).toBe(1)
  })

  // promise: no-blind-create
  test('a create that takes effect late is found before the request is repeated', async () => {
    let perform: (() => void) | undefined
    const api = fakeApi({
      onSend: (_attempt, request, performIt) => {
        perform = performIt
        throw lost(request.method)
      },
    })
    let looks = 0
    const late = {
      ...api,
      listComputes: async () => {
        looks += 1
        if (looks === 4) perform?.()
        return api.listComputes('p')
      },
    }
    expect(statuses(await apply({ plan: planWith(step('s', creating)), api: late }))).toEqual([['done', undefined]])
    expect(api.sent).toHaveLength(1)
  })

  test('the id of a created compute is reported even if waiting for it fails', async () => {
    const api = fakeApi({ statuses: ['running', 'cancelled'] })
    const outcome = await apply({ plan: planWith(step('s', creating)), api })
    expect(outcome.steps).toMatchObject([{ status: 'failed', computeId: 'ep-made-0', operations: [{ id: 'op-0' }] }])
  })

  test('a compute that existed before the plan is not mistaken for the created one', async () => {
    const twin = compute('ep-twin', { type: 'read_only', attributes: { name: 'r' } })
    const api = fakeApi({ computes: [twin], onSend: vanish(false) })
    const observed = observedOf([twin])
    const outcome = await apply({ plan: planWith(step('s', creating)), api, observed })
    expect(outcome.steps[0]?.computeId).not.toBe('ep-twin')
    expect(api.sent).toHaveLength(2)
  })

  test('a replica of the same name on another branch is not mistaken for the created one', async () => {
    const other = compute('ep-other', { type: 'read_only', branchId: 'br-dev', attributes: { name: 'r' } })
    const api = fakeApi({
      onSend: (attempt, { method }, perform) => {
        if (attempt > 1) return perform()
        api.computes.set(other.id, other)
        throw lost(method)
      },
    })
    const outcome = await apply({ plan: planWith(step('s', creating)), api })
    expect(outcome.steps).toMatchObject([{ status: 'done', computeId: 'ep-made-1' }])
  })

  test.each([
    ['a create that took effect is not', step('s', creating), true, 1],
    ['a create that never arrived is', step('s', creating), false, 2],
    ['an update that took effect is not', step('s'), true, 1],
    ['an update that had no effect is', step('s'), false, 2],
    ['a delete that took effect is not', step('s', deleting), true, 1],
    ['a delete that had no effect is', step('s', deleting), false, 2],
  ])('%s sent again', async (_what, one, performs, requests) => {
    const api = fakeApi({ computes: [compute('ep-1')], onSend: vanish(performs) })
    const outcome = await apply({ plan: planWith(one), api, consent: allow('delete') })
    expect(statuses(outcome)).toEqual([['done', undefined]])
    expect(api.sent).toHaveLength(requests)
  })
})

describe('steps that do not run', () => {
  // promise: approval
  test('a step without consent and its dependents do not run, but other steps do', async () => {
    const api = fakeApi({ computes: [compute('ep-1'), compute('ep-2')] })
    const outcome = await apply({
      plan: planWith(
        step('delete', { ...deleting, request: { method: 'DELETE', path: '/projects/p/endpoints/ep-2' } }),
        step('follows', { ...creating, after: ['delete'] }),
        step('free'),
      ),
      api,
    })
    expect(statuses(outcome)).toEqual([
      ['not-allowed', 'not-consented'],
      ['skipped', 'depends-on-failed'],
      ['done', undefined],
    ])
    expect(exitCodeOf(outcome)).toBe(3)
    expect(api.computes.has('ep-2')).toBe(true)
  })

  // promise: approval
  test('a protected step does not run even if everything is allowed', async () => {
    const outcome = await apply({
      plan: planWith(step('s', { ...deleting, refused: 'branch `main` is protected' })),
      consent: allow('delete', 'move', 'replace', 'disconnect'),
    })
    expect(statuses(outcome)).toEqual([['not-allowed', 'refused']])
    expect(outcome.steps[0]?.message).toBe('Refused: branch `main` is protected.')
  })

  test('a step that is not allowed names every missing consent', async () => {
    const outcome = await apply({ plan: planWith(step('s', { consents: ['move', 'restart', 'delete'] })) })
    expect(outcome.steps[0]?.message).toBe('Not allowed without --allow move,delete.')
  })

  test('a failed step also stops a step that merely follows it in the order', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(refused(422)),
    })
    const plan = planWith(step('first'), step('next', { after: ['first'], inTurnAfter: ['first'] }))
    expect(statuses(await apply({ plan, api }))).toEqual([
      ['failed', 'apply-failed'],
      ['skipped', 'depends-on-failed'],
    ])
  })

  test('--max-failures counts only failed steps', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(refused(422), (attempt) => attempt > 1),
    })
    const resized = (id: string, cu: number) => {
      const body = { endpoint: { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu } }
      return step(id, { request: { ...step('x').request, body } })
    }
    const plan = planWith(step('done'), step('denied', deleting), resized('a', 3), resized('b', 4), step('last'))
    const outcome = await apply({ plan, api, maxFailures: 1 })
    expect(statuses(outcome)).toEqual([
      ['done', undefined],
      ['not-allowed', 'not-consented'],
      ['failed', 'apply-failed'],
      ['failed', 'apply-failed'],
      ['skipped', 'too-many-failures'],
    ])
    expect(outcome.steps[4]?.message).toBe('Not started: 2 steps have failed, and --max-failures is 1.')
  })

  test('a failed step stops its dependents, but not independent steps', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(refused(422), (attempt) => attempt === 1),
    })
    const outcome = await apply({
      plan: planWith(step('broken'), step('follows', { after: ['broken'] }), step('free')),
      api,
    })
    expect(statuses(outcome)).toEqual([
      ['failed', 'apply-failed'],
      ['skipped', 'depends-on-failed'],
      ['done', undefined],
    ])
    expect(outcome.steps[1]?.message).toBe('It depends on a step that was not done: update primary on main (ep-1).')
  })

  test('a step that depends on a step that is not in the plan is skipped and names it', async () => {
    const outcome = await apply({ plan: planWith(step('s', { after: ['elsewhere'] })) })
    expect(outcome.steps[0]?.message).toBe('It depends on a step that was not done: elsewhere.')
  })

  test.each([
    [401, 'auth'],
    [403, 'auth'],
    [423, 'project-busy'],
    [429, 'rate-limited'],
    [400, 'apply-failed'],
  ])('a response with status %i fails the step with reason %s', async (status, reason) => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(refused(status)),
    })
    expect(statuses(await apply({ plan: planWith(step('s')), api }))).toEqual([['failed', reason]])
  })

  test('a delete counts as done if its compute no longer exists', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: (_attempt, _request, perform) => {
        perform()
        throw refused(404)
      },
    })
    const outcome = await apply({ plan: planWith(step('s', deleting)), api, consent: allow('delete') })
    expect(statuses(outcome)).toEqual([['done', undefined]])
  })
})

describe('interrupting and recording a run', () => {
  test('after a stop, the running step completes and no other step starts', async () => {
    const stop = new AbortController()
    const outcome = await apply({
      plan: planWith(step('first'), step('second')),
      stop: stop.signal,
      onEvent: abortingAt('call', stop),
    })
    expect(statuses(outcome)).toEqual([
      ['done', undefined],
      ['skipped', 'interrupted'],
    ])
    expect(exitCodeOf(outcome)).toBe(130)
  })

  test('a stop during the last step does not count as an interruption', async () => {
    const stop = new AbortController()
    const outcome = await apply({
      plan: planWith(step('only')),
      stop: stop.signal,
      onEvent: abortingAt('call', stop),
    })
    expect(statuses(outcome)).toEqual([['done', undefined]])
    expect(outcome.interrupted).toBe(false)
    expect(exitCodeOf(outcome)).toBe(0)
  })

  test('an abort ends the run immediately', async () => {
    const abort = new AbortController()
    const api = fakeApi({ computes: [compute('ep-1')], statuses: ['running'] })
    const outcome = await apply({
      plan: planWith(step('first'), step('second')),
      api,
      abort: abort.signal,
      onEvent: abortingAt('operation', abort),
    })
    expect(statuses(outcome)).toEqual([
      ['failed', 'interrupted'],
      ['skipped', 'interrupted'],
    ])
    expect(outcome.interrupted).toBe(true)
    expect(exitCodeOf(outcome)).toBe(130)
    expect(outcome.steps[1]?.message).toBe('Interrupted before it started: run `espalier apply` again.')
  })

  test.each([
    ['before', 0],
    ['after', 1],
  ])('an unexpected error %s the request is thrown instead of being reported as an outcome', async (_when, sent) => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    const broken = {
      ...api,
      getCompute: async (project: string, id: string) => {
        if (api.sent.length === sent) throw new TypeError('a bug')
        return api.getCompute(project, id)
      },
    }
    await expect(apply({ plan: planWith(step('s')), api: broken })).rejects.toThrow('a bug')
  })

  test('a request that cannot be recorded is not sent', async () => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    const outcome = await apply({
      plan: planWith(step('first'), step('second')),
      api,
      onEvent: (event) => {
        if (event.type === 'call') throw new Error('the disk is full')
      },
    })
    expect(api.sent).toEqual([])
    expect(outcome.steps.map(({ status, message }) => [status, message])).toEqual([
      ['skipped', 'the disk is full'],
      ['skipped', 'the disk is full'],
    ])
    expect(outcome.notes).toEqual(['the disk is full'])
    expect(exitCodeOf(outcome)).toBe(3)
  })

  test('the `call` event is reported before its request is sent', async () => {
    const told: string[] = []
    const api = fakeApi({ computes: [compute('ep-1')] })
    await apply({
      plan: planWith(step('s')),
      api,
      onEvent: (event: ApplyEvent) => {
        told.push(`${event.type}, ${api.sent.length} sent`)
      },
    })
    expect(told.slice(0, 3)).toEqual(['step-start, 0 sent', 'call, 0 sent', 'operation, 1 sent'])
    expect(told.at(-1)).toBe('outcome, 1 sent')
    expect(told.join()).not.toContain('unpredicted')
  })
})

test('steps of a project run one after the other, and projects run concurrently up to the limit', async () => {
  let [running, most] = [0, 0]
  const perProject = new Map<string, number>()
  const steps = ['a', 'b', 'c', 'd'].flatMap((project) =>
    [1, 2].map((index) =>
      step(`${project}${index}`, {
        project,
        request: { ...step('x').request, path: `/projects/${project}/endpoints/ep-1` },
      }),
    ),
  )
  await apply({
    plan: planWith(...steps),
    concurrency: 3,
    onEvent: (event) => {
      if (event.type === 'step-start') {
        running += 1
        most = Math.max(most, running)
        const count = (perProject.get(event.step.project) ?? 0) + 1
        expect(count).toBe(1)
        perProject.set(event.step.project, count)
      }
      if (event.type === 'step-end') {
        running -= 1
        perProject.set(event.outcome.step.slice(0, 1), 0)
      }
    },
  })
  expect(most).toBe(3)
})

test('a replacement whose create failed reports which pin to remove', async () => {
  const replace = step('c#1', { ...deleting, change: 'c', consents: ['replace'] })
  const create = step('c#2', { ...creating, change: 'c', after: ['c#1'] })
  const plan = planWith(replace, create)
  const api = fakeApi({
    computes: [compute('ep-1')],
    onSend: failing(refused(422), (attempt) => attempt === 2),
  })
  const outcome = await apply({ plan: { ...plan, changes: [REPLACEMENT] }, api, consent: allow('replace') })
  expect(outcome.notes).toEqual([expect.stringMatching(/ep-1 is deleted.*remove its pin at espalier.yaml:7/)])
})

test('the final plan is given the ids of replaced computes and their successors', async () => {
  const asked: unknown[] = []
  const replace = step('c#1', { ...deleting, change: 'c', consents: ['replace'] })
  const create = step('c#2', { ...creating, change: 'c', after: ['c#1'] })
  const plan = planWith(replace, create)
  const outcome = await apply({
    plan: {
      ...plan,
      changes: [REPLACEMENT],
    },
    consent: allow('replace'),
    replan: async (aliases) => {
      asked.push(aliases)
      return { ok: true, plan: planWith(step('left over')) }
    },
  })
  expect(asked).toEqual([{ 'ep-1': 'ep-made-0' }])
  expect(outcome.converged).toBe(false)
  expect(outcome.notes[0]).toContain('espalier.yaml:7 to `id: ep-made-0`')
  expect(exitCodeOf(outcome)).toBe(3)
})

describe('restart windows', () => {
  // The clock starts on Thursday, 1 January 2026, 00:00 UTC.
  const on = (days: readonly Weekday[], from = '00:00', to = '24:00'): RestartWindow => ({
    days,
    from,
    to,
    timezone: 'UTC',
  })
  const FRIDAY = on(['fri'])
  const harmless = { impact: 'none', consents: [] } as const

  // promise: windows
  test('a harmless step runs immediately, and a restart and its dependents are scheduled', async () => {
    const api = fakeApi({ computes: [compute('ep-1'), compute('ep-2')] })
    const plan = planWith(
      step('harmless', harmless),
      step('restart', { windows: [FRIDAY] }),
      step('after', { ...harmless, after: ['restart'] }),
    )
    const outcome = await apply({
      plan,
      api,
      replan: async () => ({ ok: true, plan: planWith(step('restart'), step('after')) }),
    })
    expect(statuses(outcome)).toEqual([
      ['done', undefined],
      ['scheduled', 'outside-window'],
      ['scheduled', 'outside-window'],
    ])
    expect(outcome.steps[1]).toMatchObject({
      opensAt: '2026-01-02T00:00:00.000Z',
      message: 'It waits for its restart window, Fri 00:00–24:00 UTC, which opens on Fri 2026-01-02 00:00.',
    })
    expect(api.sent).toHaveLength(1)
    expect(outcome.converged).toBe(true)
    expect(exitCodeOf(outcome)).toBe(5)
  })

  test('a run has not converged if steps other than the scheduled ones are left', async () => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    const plan = planWith(step('harmless', harmless), step('restart', { windows: [FRIDAY] }))
    const outcome = await apply({
      plan,
      api,
      replan: async () => ({ ok: true, plan: planWith(step('restart'), step('new')) }),
    })
    expect(outcome.converged).toBe(false)
    expect(exitCodeOf(outcome)).toBe(3)
  })

  test('restart windows are checked against the calendar, not against the clock used for waiting', async () => {
    const friday = Date.UTC(2026, 0, 2, 12)
    const outcome = await apply({
      plan: planWith(step('restart', { windows: [FRIDAY] })),
      api: fakeApi({ computes: [compute('ep-1')] }),
      clock: { ...fakeClock(), date: () => friday },
    })
    expect(statuses(outcome)).toEqual([['done', undefined]])
  })

  test("a window is checked when its step's turn comes", async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      statuses: ['running', 'running', 'running', 'running', 'finished'],
    })
    // The first step takes some seconds, and the second one's window closes in the meantime.
    const clock = fakeClock()
    await clock.sleep(59_000)
    const plan = planWith(
      step('a', { windows: [on(['thu'])] }),
      step('b', { windows: [on(['thu'], '00:00', '00:01')] }),
    )
    expect(statuses(await apply({ plan, api, clock }))).toEqual([
      ['done', undefined],
      ['scheduled', 'outside-window'],
    ])
  })

  test('a step whose windows never overlap is scheduled, and its message says so', async () => {
    const plan = planWith(step('a', { windows: [on(['thu']), FRIDAY] }))
    const outcome = await apply({ plan, api: fakeApi({ computes: [compute('ep-1')] }) })
    expect(outcome.steps[0]).toMatchObject({
      status: 'scheduled',
      message: expect.stringContaining('never open at the same time within a year'),
    })
    expect(outcome.steps[0]).not.toHaveProperty('opensAt')
  })

  test('a step without windows does not wait for a scheduled step that only precedes it', async () => {
    const plan = planWith(
      step('replica', { windows: [FRIDAY] }),
      step('primary', { after: ['replica'], inTurnAfter: ['replica'] }),
    )
    expect(statuses(await apply({ plan, api: fakeApi({ computes: [compute('ep-1')] }) }))).toEqual([
      ['scheduled', 'outside-window'],
      ['done', undefined],
    ])
  })

  test.each([
    ['idle', 'done'],
    ['active', 'scheduled'],
  ] as const)('a step whose compute was idle in the plan and is now %s ends as %s', async (state, status) => {
    const plan = planWith(step('s', { ...harmless, unlessIdle: 'restart', windows: [FRIDAY] }))
    const outcome = await apply({ plan, api: fakeApi({ computes: [compute('ep-1', { state })] }) })
    expect(outcome.steps.map((one) => one.status)).toEqual([status])
  })

  /** Another change of the same compute. */
  const sleepier = step('x', {
    request: { ...step('x').request, body: { endpoint: { suspend_timeout_seconds: 600 } } },
  })

  // promise: windows
  test('--now runs a step outside its window and records the override first', async () => {
    const events: ApplyEvent[] = []
    const outcome = await apply({
      plan: planWith(step('in', { windows: [on(['thu'])] }), { ...sleepier, id: 'out', windows: [FRIDAY] }),
      api: fakeApi({ computes: [compute('ep-1')] }),
      ignoreWindows: true,
      onEvent: (event) => void events.push(event),
    })
    expect(statuses(outcome)).toEqual([
      ['done', undefined],
      ['done', undefined],
    ])
    const told = events.filter(({ type }) => type === 'window-overridden' || type === 'step-start')
    expect(
      told.map((event) => [
        event.type,
        'step' in event && (typeof event.step === 'string' ? event.step : event.step.id),
      ]),
    ).toEqual([
      ['step-start', 'in'],
      ['step-start', 'out'],
      ['window-overridden', 'out'],
    ])
    expect(outcome.notes).toEqual(['--now: 1 step ran outside its restart window.'])
  })

  test('--now counts the steps that it ran outside their windows, but not harmless ones', async () => {
    const outcome = await apply({
      plan: planWith(
        step('a', { windows: [FRIDAY] }),
        { ...sleepier, windows: [FRIDAY] },
        step('harmless', { ...harmless, windows: [FRIDAY] }),
      ),
      api: fakeApi({ computes: [compute('ep-1', { state: 'idle' })] }),
      ignoreWindows: true,
    })
    expect(outcome.notes).toEqual(['--now: 2 steps ran outside their restart windows.'])
  })

  test('in a fleet, --now also names the projects whose windows it overrode', async () => {
    const steps = Array.from({ length: 10 }, (_, at) => step(`s${at}`, { project: `p${at}`, windows: [FRIDAY] }))
    const plan = {
      ...planWith(...steps, step('calm', { project: 'calm' })),
      projects: steps.map(({ project }) => project),
      projectNames: { p0: 'ads' },
    }
    const outcome = await apply({ plan, api: fakeApi({ computes: [compute('ep-1')] }), ignoreWindows: true })
    expect(outcome.notes).toEqual([
      '--now: 10 steps ran outside their restart windows in ads, p1, p2, p3, p4, p5, p6, p7 and 2 more.',
    ])
  })

  test('a step without consent is reported as not allowed, even outside its window', async () => {
    const plan = planWith(step('gone', { ...deleting, impact: 'delete', windows: [FRIDAY] }))
    expect(statuses(await apply({ plan, api: fakeApi({ computes: [compute('ep-1')] }) }))).toEqual([
      ['not-allowed', 'not-consented'],
    ])
  })
})

/** Messages and limits of a single step: what it reports, how often it sends, how long it reads back. */
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../src/api/index.ts'
import { EspalierError } from '../../src/base/index.ts'
import type { ApplyEvent, ObservedCompute, Step } from '../../src/model/index.ts'
import {
  blindAfterwards,
  compute,
  type FakeApi,
  failing,
  fakeApi,
  fakeClock,
  lost,
  operation,
  refused,
  type Script,
  unanswered,
} from './fake-api.ts'
import { allow, apply, creating, deleting, observedOf, planWith, step } from './small-plans.ts'

const applying = async (one: Step, api: FakeApi, more: Partial<Parameters<typeof apply>[0]> = {}) => {
  const clock = fakeClock()
  const events: ApplyEvent[] = []
  const outcome = await apply({
    plan: planWith(one),
    api,
    clock,
    consent: allow('delete', 'move', 'replace'),
    onEvent: (event) => void events.push(event),
    ...more,
  })
  const [result] = outcome.steps
  if (result === undefined) throw new Error('no step')
  return { result, clock, events, sent: api.sent.length }
}

const unreadable = new ApiError('E_API', 'The control API failed', { method: 'GET', path: '/y', status: 503 })

const never: Script['onSend'] = (_attempt, { method }) => {
  throw lost(method)
}

describe('the message of a failed step', () => {
  test('says that nothing was changed if the request was rejected, with the status of the response', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(refused(403)),
    })
    expect((await applying(step('s'), api)).result).toMatchObject({
      message: expect.stringMatching(
        /no \(PATCH \/x, status 403\)\. Nothing was changed by this step\. The API key is not allowed/,
      ),
      httpStatus: 403,
    })
  })

  // promise: unreadable-after-lost-response
  test('says that the request was accepted if only its result could not be read', async () => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    const blind = blindAfterwards(api, refused(500))
    const { result } = await applying(step('s'), blind)
    expect(result.message).toContain('The request was accepted, but its result could not be read.')
    expect(result.message).not.toContain('Nothing was changed')
  })

  test('counts only requests that may have taken effect', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: (attempt, { method }) => {
        throw attempt === 1 ? lost(method) : refused(401)
      },
    })
    expect((await applying(step('s'), api)).result).toMatchObject({
      reason: 'auth',
      message: expect.stringContaining('The request was sent once, and the project does not show its effect.'),
    })
  })

  // promise: unreadable-after-lost-response
  test('says nothing about the effect if it could not be read back', async () => {
    const api = fakeApi({ computes: [compute('ep-1')], onSend: never })
    const blind = blindAfterwards(api, unreadable)
    const { result } = await applying(step('s'), blind)
    expect(result.message).toMatch(
      /ECONNRESET \(PATCH \/x\)\. Whether it took effect could not be read: The control API failed \(GET \/y, status 503\)\. The service/,
    )
    expect(result).not.toHaveProperty('httpStatus')
  })

  const requesting = (endpoint: NonNullable<Step['request']['body']>['endpoint']): Partial<Step> => ({
    request: { ...step('x').request, body: { endpoint } },
  })

  test.each<readonly [string, boolean, Partial<Step>, ObservedCompute['attributes']]>([
    ['a size has no effect', true, {}, { size: { min: 1, max: 1 } }],
    ['a scale-to-zero delay has no effect', true, requesting({ suspend_timeout_seconds: 600 }), { scaleToZero: 0 }],
    [
      'a size and a name have no effect',
      true,
      requesting({ name: 'new', autoscaling_limit_max_cu: 2 }),
      { name: 'old', size: { min: 1, max: 1 } },
    ],
    ['a name has no effect', false, requesting({ name: 'new' }), { name: 'old' }],
    ['the compute is shown without its size', false, {}, {}],
  ])('names the account’s plan as a possible cause when %s: %s', async (_what, isNamed, one, attributes) => {
    const api = fakeApi({ computes: [compute('ep-1', { attributes })], ignores: true })
    const { result } = await applying(step('s', one), api)
    expect(result.reason).toBe('not-effective')
    expect(result.message?.includes("The account's plan may not allow it.")).toBe(isNamed)
  })

  test('says that a moved compute is still on its old branch', async () => {
    const move: Partial<Step> = { ...requesting({ branch_id: 'br-dev' }), kind: 'move', consents: [] }
    const { result } = await applying(
      step('s', move),
      fakeApi({ computes: [compute('ep-1')], onSend: () => ({ operations: [] }) }),
    )
    expect(result.message).toContain('did not take effect: branch: requested br-dev, got br-main.')
  })

  test('shows the value before the step if there was one', async () => {
    const request = requesting({ autoscaling_limit_max_cu: 2, name: 'new' })
    const ignoring = fakeApi({ computes: [compute('ep-1')], ignores: true })
    expect((await applying(step('s', request), ignoring)).result.message).toContain(
      'name: requested new, got nothing; size: before 1 CU, requested 1–2 CU, got 1 CU.',
    )
  })

  test('says that a deleted compute still exists', async () => {
    const api = fakeApi({ computes: [compute('ep-1')], onSend: () => ({ operations: [] }) })
    expect((await applying(step('s', deleting), api)).result).toMatchObject({
      reason: 'not-effective',
      message: expect.stringContaining('did not take effect: the compute still exists.'),
    })
  })

  test('says that an updated compute no longer exists', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: (_attempt, _request, perform) => {
        const answer = perform()
        api.computes.delete('ep-1')
        return answer
      },
    })
    expect((await applying(step('s'), api)).result).toMatchObject({
      reason: 'not-effective',
      message: expect.stringContaining('the compute no longer exists'),
    })
  })

  test('says that an earlier request was lost if the step became stale after it', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: (attempt, { method }) => {
        if (attempt === 2) api.computes.delete('ep-1')
        throw lost(method)
      },
    })
    expect((await applying(step('s'), api)).result).toMatchObject({
      status: 'stale',
      message: expect.stringContaining('A request of this step was sent before, but its response was lost.'),
    })
  })
})

describe('repeating a request', () => {
  test.each([
    ['an update', step('s'), [1_000, 2_000, 4_000]],
    ['a create', step('s', creating), [1_000, 2_000, 4_000, 8_000, 15_000]],
  ])(
    '%s whose response was lost is read back at growing intervals before it is sent again',
    async (_what, one, delays) => {
      const { events, sent, result } = await applying(one, fakeApi({ computes: [compute('ep-1')], onSend: never }))
      const waits = events.flatMap((event) => (event.type === 'wait' ? [event] : []))
      expect(waits.map(({ delayMs }) => delayMs)).toEqual(new Array(sent).fill(delays).flat())
      expect(waits[0]).toMatchObject({ step: 's', why: 'reading-back' })
      expect(events.flatMap((event) => (event.type === 'call' ? [event.attempt] : []))).toEqual([1, 2, 3, 4])
      expect(result.message).toContain('The request was sent 4 times, and the project does not show its effect.')
    },
  )

  test('an update found after its response was lost counts as done, without a note about an unsent request', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: unanswered,
    })
    const { result, sent } = await applying(step('s'), api)
    expect(result.status).toBe('done')
    expect(result).not.toHaveProperty('message')
    expect(sent).toBe(1)
  })

  test.each([
    ['failed', unreadable],
    ['lost', lost('GET')],
  ])('a %s read before the request fails the step without a request', async (_what, error) => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    const { result, sent, clock } = await applying(step('s'), {
      ...api,
      getCompute: async () => {
        throw error
      },
    })
    expect(result).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Nothing was changed by this step.'),
    })
    expect(sent).toBe(0)
    expect(clock.slept).toEqual([])
  })

  test('an update answered with 404 reports that status if the compute still exists', async () => {
    const api = fakeApi({ computes: [compute('ep-1')], onSend: failing(refused(404)) })
    expect((await applying(step('s'), api)).result).toMatchObject({ reason: 'apply-failed', httpStatus: 404 })
  })

  test('a wait for the lock of the project is recorded for the step', async () => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    const { events } = await applying(step('s'), {
      ...api,
      sendUnless: async (request, before, options) => {
        options?.onWait?.({ why: 'locked', message: 'the project is locked', delayMs: 500 })
        return api.sendUnless(request, before, options)
      },
    })
    expect(events).toContainEqual(expect.objectContaining({ type: 'wait', step: 's', why: 'locked', delayMs: 500 }))
  })

  test.each([
    ['a delete answered with 404 counts as done', step('s', deleting), 404, 'done'],
    ['a delete answered with 400 fails', step('s', deleting), 400, 'failed'],
    ['an update answered with 404 fails', step('s'), 404, 'failed'],
  ])('%s while reads still show the compute', async (_what, one, status, expected) => {
    let reads = 0
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(refused(status)),
    })
    const lagging: FakeApi = {
      ...api,
      // The compute is shown once before the request and once after it, and is gone from then on.
      getCompute: async () => {
        reads += 1
        return reads <= 2 ? compute('ep-1') : undefined
      },
    }
    expect((await applying(one, lagging)).result.status).toBe(expected)
  })

  test('a rejected request is reported even if the project cannot be read after it', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(refused(409)),
    })
    const { result } = await applying(step('s'), blindAfterwards(api, refused(500)))
    expect(result).toMatchObject({ status: 'failed', httpStatus: 409 })
  })

  // hint: The request may have taken effect: run `espalier apply` again.
  test('a step whose repeated request cannot be recorded reports that the first one may have taken effect', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      onSend: failing(lost('PATCH'), (attempt) => attempt === 1),
    })
    const { result } = await applying(step('s'), api, {
      onEvent: (event) => {
        if (event.type === 'call' && event.attempt === 2) throw new EspalierError('E_OUT', 'The disk is full.')
      },
    })
    expect(result).toMatchObject({
      status: 'failed',
      reason: 'interrupted',
      message: 'The disk is full. The request may have taken effect: run `espalier apply` again.',
    })
    expect((await applying(step('s'), api)).result).toMatchObject({ status: 'done' })
  })
})

test.each([
  ['lower', { autoscaling_limit_min_cu: 2 }, { min: 2, max: 4 }],
  ['upper', { autoscaling_limit_max_cu: 2 }, { min: 1, max: 2 }],
])('a step can change only the %s limit of a size, and a later step relies on both', async (_which, endpoint, size) => {
  const api = fakeApi({ computes: [compute('ep-1', { attributes: { size: { min: 1, max: 4 } } })] })
  const request = { ...step('x').request, body: { endpoint } }
  const later = { ...step('x').request, body: { endpoint: { autoscaling_limit_max_cu: 8 } } }
  const outcome = await apply({ plan: planWith(step('first', { request }), step('later', { request: later })), api })
  expect(outcome.steps.map(({ status }) => status)).toEqual(['done', 'done'])
  expect(api.computes.get('ep-1')?.attributes.size).toEqual({ ...size, max: 8 })
})

describe('a delete whose compute seems to be gone', () => {
  /** These reads, counted from 1, say that the compute does not exist. */
  const missingAt = (...missing: readonly number[]) => {
    const api = fakeApi({ computes: [compute('ep-1')] })
    let reads = 0
    const getCompute: FakeApi['getCompute'] = async (project, id) => {
      reads += 1
      return missing.includes(reads) ? undefined : api.getCompute(project, id)
    }
    return { ...api, getCompute }
  }

  test.each([[[1]], [[1, 2]]])('is sent if only the reads %j say so', async (missing) => {
    const { result, sent } = await applying(step('s', deleting), missingAt(...missing))
    expect(result.status).toBe('done')
    expect(result).not.toHaveProperty('message')
    expect(sent).toBe(1)
  })

  test('fails without claiming that a request was sent if it exists after all', async () => {
    const { result, sent } = await applying(step('s', deleting), missingAt(1, 2, 3))
    expect(result).toMatchObject({
      status: 'failed',
      reason: 'not-effective',
      message:
        'Nothing was sent, because the change seemed to be in effect already, but it is not: the compute still exists.',
    })
    expect(sent).toBe(0)
  })

  test('fails with the truth if its operations cannot be read', async () => {
    const api: FakeApi = {
      ...missingAt(1, 2, 3),
      listOperations: async () => {
        throw refused(500)
      },
    }
    const { result } = await applying(step('s', deleting), api)
    expect(result.message).toContain('Nothing was changed by this step.')
  })
})

test('a delete that another client has made waits only for the open operations of its own compute', async () => {
  const listed = [
    operation('op-own', { endpointId: 'ep-1' }),
    operation('op-ended', { endpointId: 'ep-1', status: 'finished' }),
    operation('op-other', { endpointId: 'ep-2' }),
    operation('op-project'),
  ]
  let lists = 0
  const api: FakeApi = {
    ...fakeApi({ computes: [] }),
    listOperations: async () => {
      lists += 1
      return { operations: listed.map((one) => (lists > 2 ? { ...one, status: 'finished' } : one)) }
    },
  }
  const { result, sent } = await applying(step('s', deleting), api, { observed: observedOf([compute('ep-1')]) })
  expect(result).toMatchObject({ status: 'done', operations: [{ id: 'op-own', status: 'finished' }] })
  expect(result.operations).toHaveLength(1)
  expect(sent).toBe(0)
})

describe('the result of a step', () => {
  test('is read at growing intervals until it appears', async () => {
    const api = fakeApi({ computes: [compute('ep-1')], statuses: ['finished'] })
    let late = 3
    const lagging: FakeApi = {
      ...api,
      getCompute: async (project, id) => {
        if (api.sent.length > 0) late -= 1
        return late >= 0 ? compute('ep-1') : api.getCompute(project, id)
      },
    }
    const { result, clock } = await applying(step('s'), lagging)
    expect(result).toMatchObject({ status: 'done', durationMs: 4_250 })
    expect(clock.slept).toEqual([250, 1_000, 3_000])
  })
})

describe('a create at the same time as the one of another client', () => {
  const made = (createdAt: string) => compute('ep-rival', { type: 'read_only', attributes: { name: 'r' }, createdAt })

  test.each([
    ['2025-12-31T00:00:00Z', 'ep-made-1'],
    ['2026-01-02T00:00:00Z', 'ep-rival'],
  ])('fails with the command that deletes the newer compute: the other one is of %s', async (createdAt, newer) => {
    const api = fakeApi({
      onSend: (_attempt, _request, perform) => {
        api.computes.set('ep-rival', made(createdAt))
        const answer = perform()
        const own = api.computes.get('ep-made-1')
        if (own !== undefined) api.computes.set('ep-made-1', { ...own, createdAt: '2026-01-01T00:00:00Z' })
        return answer
      },
    })
    const { result } = await applying(step('s', creating), api)
    expect(result).toMatchObject({
      status: 'failed',
      reason: 'apply-failed',
      computeId: 'ep-made-1',
      message: expect.stringMatching(
        new RegExp(
          `^Another client created .*: both ep-\\S+ and ${newer} exist\\. .*compute delete ${newer} --project p`,
        ),
      ),
    })
    expect(api.computes.size).toBe(2)
  })

  test('is told from a lost request of its own that took effect late', async () => {
    const api = fakeApi({
      onSend: (attempt, { method }, perform) => {
        if (attempt === 1) throw lost(method)
        const answer = perform()
        api.computes.set('ep-rival', made('2026-01-02T00:00:00Z'))
        return answer
      },
    })
    const { result } = await applying(step('s', creating), api)
    expect(result.message).toMatch(/^The request whose response was lost took effect after all: both ep-\S+ and ep-/)
  })

  test('is not confused with replicas of that name that the plan knew', async () => {
    const api = fakeApi({ computes: [made('2025-12-31T00:00:00Z')] })
    expect((await applying(step('s', creating), api)).result).toMatchObject({ status: 'done', computeId: 'ep-made-1' })
  })
})

describe('a step whose operation ended badly', () => {
  test.each<readonly [string, readonly string[], Partial<ObservedCompute>, string | undefined]>([
    ['an active compute must be restarted', ['running', 'failed'], {}, 'restart'],
    ['a compute that did not start must be started', ['running', 'failed'], { state: 'init' }, 'start'],
    ['an idle compute needs no repair', ['running', 'failed'], { state: 'idle' }, undefined],
    ['an operation that may still end well needs no repair', ['running'], {}, undefined],
  ])('%s', async (_what, ends, live, repair) => {
    const api = fakeApi({ computes: [compute('ep-1', live)], statuses: ends })
    const { result } = await applying(step('s'), api, { operationTimeoutMs: 60_000 })
    expect(result.status).toBe('failed')
    expect(result.repair).toBe(repair)
  })

  test('needs no repair if its compute is gone', async () => {
    const api = fakeApi({
      computes: [compute('ep-1')],
      statuses: ['running', 'failed'],
      onSend: (_attempt, _request, perform) => {
        const answer = perform()
        api.computes.delete('ep-1')
        return answer
      },
    })
    expect((await applying(step('s'), api)).result.repair).toBeUndefined()
  })
})

test('a create whose size has no effect names the size', async () => {
  const endpoint = {
    branch_id: 'br-main',
    type: 'read_only',
    name: 'r',
    autoscaling_limit_min_cu: 4,
    autoscaling_limit_max_cu: 4,
  } as const
  const one = step('s', { ...creating, request: { method: 'POST', path: '/projects/p/endpoints', body: { endpoint } } })
  const api = fakeApi({
    onSend: (_attempt, _request, perform) => {
      const answer = perform()
      const [made] = [...api.computes.values()]
      if (made !== undefined)
        api.computes.set(made.id, { ...made, attributes: { ...made.attributes, size: { min: 1, max: 1 } } })
      return answer
    },
  })
  expect((await applying(one, api)).result).toMatchObject({
    reason: 'not-effective',
    message: expect.stringContaining('size: requested'),
  })
})

describe("a step for a compute that the plan's snapshot does not contain", () => {
  test.each([
    ['update', step('s')],
    ['delete', step('s', deleting)],
  ])('is stale (%s)', async (_kind, one) => {
    const { result, sent } = await applying(one, fakeApi({ computes: [compute('ep-1')] }), { observed: observedOf([]) })
    expect(result).toMatchObject({
      status: 'stale',
      moved: [{ what: 'compute', before: 'not in the snapshot of the plan', after: 'ep-1' }],
    })
    expect(sent).toBe(0)
  })
})

describe('the operation that explains a stale step', () => {
  const staleWith = async (operations: FakeApi['listOperations']) => {
    const api = fakeApi({ computes: [compute('ep-1', { attributes: { size: { min: 3, max: 3 } } })] })
    return applying(step('s'), { ...api, listOperations: operations }, { observed: observedOf([compute('ep-1')]) })
  }

  test('is the newest one on the same compute', async () => {
    const { result } = await staleWith(async () => ({
      operations: [
        operation('op-other', { endpointId: 'ep-2' }),
        operation('op-newest', { endpointId: 'ep-1' }),
        operation('op-older', { endpointId: 'ep-1' }),
      ],
    }))
    expect(result.movedBy?.id).toBe('op-newest')
  })

  test('is left out if the operations cannot be read', async () => {
    const { result } = await staleWith(async () => {
      throw refused(500)
    })
    expect(result.status).toBe('stale')
    expect(result).not.toHaveProperty('movedBy')
  })

  test('is found for updates and deletes', async () => {
    const theirs = operation('op-theirs', { endpointId: 'ep-1', status: 'finished' })
    const gone = fakeApi()
    const updated = await applying(
      step('s'),
      { ...gone, listOperations: async () => ({ operations: [theirs] }) },
      { observed: observedOf([compute('ep-1')]) },
    )
    expect(updated.result.movedBy?.id).toBe('op-theirs')
    const elsewhere: ObservedCompute = compute('ep-1', { branchId: 'br-dev' })
    const api = fakeApi({ computes: [elsewhere] })
    const deleted = await applying(
      step('s', deleting),
      { ...api, listOperations: async () => ({ operations: [theirs] }) },
      { observed: observedOf([compute('ep-1')]) },
    )
    expect(deleted.result.movedBy?.id).toBe('op-theirs')
  })
})

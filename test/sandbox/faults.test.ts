import { expect, test } from 'vitest'
import type { FaultOrder } from '../../src/sandbox/index.ts'
import { caller, IDLE, MAIN, openSandbox, P, PRIMARY, REPLICA } from './open-sandbox.ts'

const at = `${P}/endpoints/${PRIMARY}`
const rename = { endpoint: { name: 'renamed' } }

test.each([
  ['reset-before', 'shop'],
  ['reset-after', 'renamed'],
] as const)('the fault %s cuts the connection and leaves the name as %s', async (kind, name) => {
  const { sandbox, call } = await openSandbox()
  await call('PATCH', at, { endpoint: { name: 'shop' } })
  sandbox.control.addFault({ on: 'request', method: 'PATCH', effect: { kind } })
  await expect(call('PATCH', at, rename)).rejects.toThrow('fetch failed')
  expect((await call('GET', at)).body.endpoint.name).toBe(name)
})

test.each([
  ['truncate', 'GET', at, 200],
  ['malformed', 'GET', at, 200],
  ['html', 'GET', at, 524],
  ['truncate', 'DELETE', `${P}/endpoints/ep-none`, 200],
  ['malformed', 'DELETE', `${P}/endpoints/ep-none`, 200],
] as const)('the fault %s makes the response to %s invalid JSON', async (kind, method, path, status) => {
  const { sandbox } = await openSandbox()
  sandbox.control.addFault({ on: 'request', effect: { kind } })
  const answer = await fetch(`${sandbox.apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${sandbox.apiKey}` },
  })
  expect(answer.status).toBe(status)
  const text = await answer.text()
  expect(() => JSON.parse(text)).toThrow()
})

test('a status fault returns its code, message and Retry-After, and occurs as often as configured', async () => {
  const { sandbox, call } = await openSandbox()
  const effect = { kind: 'status', status: 503, code: 'BUSY', message: 'later', retryAfter: 7 } as const
  sandbox.control.addFault({ on: 'request', effect, times: 2, after: 1 })
  expect((await call('GET', at)).status).toBe(200)
  for (let time = 0; time < 2; time += 1) {
    const { status, body, headers } = await call('GET', at)
    expect({ status, body, pause: headers.get('retry-after') }).toMatchObject({
      status: 503,
      body: { code: 'BUSY', message: 'later' },
      pause: '7',
    })
  }
  expect((await call('GET', at)).status).toBe(200)
  expect(sandbox.control.faults()).toEqual([])
})

test('a fault affects only matching requests and operations', async () => {
  const { sandbox, call } = await openSandbox()
  sandbox.control.addFault({
    on: 'request',
    method: 'GET',
    path: '/projects/*/operations',
    effect: { kind: 'lock' },
    times: 0,
  })
  expect((await call('GET', `${P}/endpoints`)).status).toBe(200)
  expect((await call('GET', `${P}/operations`)).status).toBe(423)
  expect((await call('GET', `${P}/operations`)).status).toBe(423)
  expect(sandbox.control.faults()).toMatchObject([{ struck: 2 }])
  sandbox.control.clearFaults()
  expect((await call('GET', `${P}/operations`)).status).toBe(200)
})

const start = async (order: FaultOrder) => {
  const opened = await openSandbox()
  opened.sandbox.control.addFault(order)
  const { body } = await opened.call('POST', `${P}/endpoints/${IDLE}/start`)
  const path = `${P}/operations/${body.operations[0].id}`
  return {
    ...opened,
    operation: async () => (await opened.call('GET', path)).body.operation,
    compute: async () => (await opened.call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint,
  }
}

test('a failed operation is retried and then finishes', async () => {
  const effect = { kind: 'fail', message: 'no host had room' } as const
  const { operation, compute, clock, call } = await start({ on: 'operation', effect, times: 2 })
  await clock.advance(800)
  expect(await operation()).toMatchObject({
    status: 'failed',
    failures_count: 1,
    error: 'no host had room',
    retry_at: expect.any(String),
  })
  expect((await call('POST', `${P}/endpoints/${IDLE}/start`)).status).toBe(423)
  await clock.advance(60_000)
  expect(await operation()).toMatchObject({ status: 'finished', failures_count: 2 })
  expect(await operation()).not.toHaveProperty('error')
  expect((await compute()).current_state).toBe('active')
})

test('an operation that keeps failing leaves its compute unchanged and the project unlocked', async () => {
  const { operation, compute, clock, call } = await start({ on: 'operation', effect: { kind: 'fail' }, times: 0 })
  await clock.advance(60_000)
  expect(await operation()).toMatchObject({ status: 'failed', failures_count: 3 })
  expect(await operation()).not.toHaveProperty('retry_at')
  expect(await compute()).toMatchObject({ current_state: 'idle' })
  expect(await compute()).not.toHaveProperty('pending_state')
  expect((await call('POST', `${P}/endpoints/${IDLE}/start`)).status).toBe(200)
})

test('an operation that has failed for the last time runs again on request, with the same id', async () => {
  const { operation, compute, clock, call, sandbox } = await start({
    on: 'operation',
    effect: { kind: 'fail' },
    times: 4,
  })
  const { controlUrl, controlToken } = sandbox
  const { id } = await operation()
  const retry = (of = id) => caller({ apiUrl: controlUrl, apiKey: controlToken })('POST', `/operations/${of}/retry`)
  await clock.advance(1_000)
  expect(await retry()).toMatchObject({ status: 409, body: { message: expect.stringContaining('has not ended') } })
  await clock.advance(60_000)
  expect((await retry()).body.operation).toMatchObject({ id, status: 'running', failures_count: 3 })
  expect(await compute()).toMatchObject({ current_state: 'idle', pending_state: 'active' })
  expect((await call('PATCH', at, rename)).status).toBe(423)
  await clock.advance(60_000)
  expect(await operation()).toMatchObject({ status: 'failed', failures_count: 4 })
  await retry()
  await clock.advance(60_000)
  expect(await operation()).toMatchObject({ id, status: 'finished', failures_count: 4 })
  expect(await compute()).toMatchObject({ current_state: 'active' })
  expect((await retry('00000000-0000-4000-8000-000000000000')).status).toBe(404)
})

test('an operation is not retried if its compute has a later operation or was deleted', async () => {
  const { operation, clock, call, sandbox } = await start({ on: 'operation', effect: { kind: 'fail' }, times: 3 })
  const { controlUrl, controlToken } = sandbox
  const { id } = await operation()
  const retry = () => caller({ apiUrl: controlUrl, apiKey: controlToken })('POST', `/operations/${id}/retry`)
  await clock.advance(60_000)
  await call('POST', `${P}/endpoints/${IDLE}/start`)
  await clock.advance(60_000)
  expect(await retry()).toMatchObject({ status: 409, body: { message: expect.stringContaining('later operation') } })
  await call('DELETE', `${P}/endpoints/${IDLE}`)
  expect(await retry()).toMatchObject({ status: 409, body: { message: 'the endpoint was deleted' } })
})

test.each([
  ['error', 'error'],
  ['cancel', 'cancelled'],
  ['skip', 'skipped'],
] as const)('the fault %s ends an operation with status %s', async (kind, status) => {
  const { operation, compute, clock } = await start({ on: 'operation', effect: { kind } })
  expect((await operation()).status).toBe(kind === 'cancel' ? 'cancelling' : 'running')
  await clock.advance(60_000)
  expect((await operation()).status).toBe(status)
  expect(await compute()).toMatchObject({ current_state: 'idle' })
})

test('operations that wait for a failed one are cancelled', async () => {
  const { sandbox, call, clock } = await openSandbox()
  sandbox.control.addFault({ on: 'operation', action: 'suspend_compute', effect: { kind: 'error' } })
  await call('POST', `${at}/restart`)
  await clock.advance(60_000)
  const { operations } = (await call('GET', `${P}/operations`)).body
  expect(operations).toMatchObject([
    { action: 'start_compute', status: 'cancelled' },
    { action: 'suspend_compute', status: 'error' },
  ])
})

test('an operation that hangs keeps the project locked', async () => {
  const { operation, clock, call } = await start({ on: 'operation', action: 'start_compute', effect: { kind: 'hang' } })
  await clock.advance(3_600_000)
  expect((await operation()).status).toBe('running')
  expect((await call('PATCH', at, rename)).status).toBe(423)
})

test('the fault `slow` makes an operation take longer', async () => {
  const { operation, clock } = await start({ on: 'operation', endpoint_id: IDLE, effect: { kind: 'slow', ms: 9_000 } })
  await clock.advance(5_000)
  expect((await operation()).status).toBe('running')
  await clock.advance(10_000)
  expect((await operation()).status).toBe('finished')
})

test('the fault `lag` makes lists show a past state, but a single compute is read as it is now', async () => {
  const { sandbox, call, clock, settle } = await openSandbox()
  sandbox.control.addFault({ on: 'request', method: 'GET', effect: { kind: 'lag', ms: 5_000 }, times: 0 })
  const before = (await call('GET', `${P}/endpoints`)).body.endpoints
  const made = (await call('POST', `${P}/endpoints`, { endpoint: { branch_id: MAIN, type: 'read_only' } })).body
  expect((await call('GET', `${P}/endpoints`)).body.endpoints).toEqual(before)
  expect((await call('GET', `${P}/operations`)).body.operations).toEqual([])
  expect((await call('GET', `${P}/endpoints/${made.endpoint.id}`)).status).toBe(200)
  await settle()
  expect((await call('GET', `${P}/endpoints`)).body.endpoints).toHaveLength(before.length + 1)
  expect((await call('GET', `${P}/operations`)).body.operations).toMatchObject([{ status: 'finished' }])
  await call('PATCH', at, rename)
  await call('DELETE', `${P}/endpoints/${made.endpoint.id}`)
  const lagging = (await call('GET', `${P}/endpoints`)).body.endpoints
  expect(lagging.map(({ id }: { id: string }) => id)).toContain(made.endpoint.id)
  expect(lagging.find(({ id }: { id: string }) => id === PRIMARY).name).not.toBe('renamed')
  await clock.advance(5_001)
  const caughtUp = (await call('GET', `${P}/endpoints`)).body.endpoints
  expect(caughtUp).toHaveLength(before.length)
  expect(caughtUp.find(({ id }: { id: string }) => id === PRIMARY).name).toBe('renamed')
})

test('the fault `ignore` makes an update succeed without changing the attribute', async () => {
  const { sandbox, call, settle } = await openSandbox()
  sandbox.control.addFault({ on: 'request', effect: { kind: 'ignore', attributes: ['suspend_timeout_seconds'] } })
  const change = { endpoint: { name: 'renamed', suspend_timeout_seconds: 600 } }
  expect((await call('PATCH', at, change)).status).toBe(200)
  expect((await call('GET', at)).body.endpoint).toMatchObject({ name: 'renamed', suspend_timeout_seconds: -1 })
  sandbox.control.addFault({ on: 'request', effect: { kind: 'ignore' } })
  expect((await call('PATCH', at, { endpoint: { name: 'again' } })).status).toBe(200)
  await settle()
  expect((await call('GET', at)).body.endpoint.name).toBe('renamed')
})

test('a rival fault creates, changes or deletes a compute just before the request and locks the project', async () => {
  const { sandbox, call, settle } = await openSandbox()
  const rival = (effect: FaultOrder & { on: 'request' }) => sandbox.control.addFault(effect)
  rival({ on: 'request', effect: { kind: 'rival-update', endpoint: { autoscaling_limit_max_cu: 2 } } })
  expect((await call('PATCH', at, rename)).status).toBe(423)
  await settle()
  expect((await call('GET', at)).body.endpoint).toMatchObject({ autoscaling_limit_max_cu: 2 })
  rival({
    on: 'request',
    effect: { kind: 'rival-create', endpoint: { branch_id: MAIN, type: 'read_only', name: 'r' } },
  })
  const { endpoints } = (await call('GET', `${P}/endpoints`)).body
  expect(endpoints.filter(({ name }: { name: string }) => name === 'r')).toHaveLength(1)
  await settle()
  rival({ on: 'request', effect: { kind: 'rival-delete', endpoint_id: REPLICA } })
  rival({ on: 'request', effect: { kind: 'rival-delete', endpoint_id: 'ep-of-nobody' }, after: 1 })
  expect((await call('GET', `${P}/endpoints/${REPLICA}`)).status).toBe(404)
  expect((await call('GET', at)).status, 'a rival that is refused does no harm').toBe(200)
})

test('a fault with `chance` occurs with that probability', async () => {
  const draws = [0.9, 0.01, 0.5]
  const { sandbox, call } = await openSandbox({ random: () => draws.shift() ?? 1 })
  sandbox.control.addFault({ on: 'request', effect: { kind: 'lock' }, times: 0, chance: 0.02 })
  const statuses: number[] = []
  for (let request = 0; request < 3; request += 1) statuses.push((await call('GET', at)).status)
  expect(statuses).toEqual([200, 423, 200])
})

test("the latency fault and its jitter follow the sandbox's clock", async () => {
  const { sandbox, call, clock } = await openSandbox()
  sandbox.control.addFault({ on: 'request', effect: { kind: 'latency', ms: 4_000, jitterMs: 1_000 } })
  let isAnswered = false
  const answer = call('GET', at).then((answered) => {
    isAnswered = true
    return answered
  })
  await expect.poll(() => sandbox.control.faults()).toEqual([])
  await clock.advance(3_999)
  // A later request finishes first.
  expect((await call('GET', at)).status).toBe(200)
  expect(isAnswered).toBe(false)
  await clock.advance(1_001)
  expect((await answer).status).toBe(200)
})

import { expect, test } from 'vitest'
import {
  type Call,
  EMPTY,
  GUARDED_PRIMARY,
  IDLE,
  MAIN,
  openSandbox,
  operationsOf,
  P,
  PRIMARY,
  REPLICA,
  STAGING,
} from './open-sandbox.ts'

const at = (id: string, rest = ''): string => `${P}/endpoints/${id}${rest}`
const stateOf = async (call: Call, id: string) => {
  const { current_state, pending_state } = (await call('GET', at(id))).body.endpoint
  return pending_state === undefined ? current_state : `${current_state} → ${pending_state}`
}

test('a new compute is in state init with pending state active, and becomes active when its start finishes', async () => {
  const { call, clock } = await openSandbox({ durations: { start_compute: 700 } })
  const made = await call('POST', `${P}/endpoints`, { endpoint: { branch_id: EMPTY, type: 'read_write', name: 'new' } })
  expect(made).toMatchObject({
    status: 201,
    body: {
      endpoint: {
        id: expect.stringMatching(/^ep-[a-z]+-[a-z]+-[a-z0-9]{8}$/),
        branch_id: EMPTY,
        name: 'new',
        current_state: 'init',
        pending_state: 'active',
        autoscaling_limit_min_cu: 0.25,
        autoscaling_limit_max_cu: 2,
        suspend_timeout_seconds: 0,
      },
      operations: [{ action: 'start_compute', status: 'running', total_duration_ms: 0, failures_count: 0 }],
    },
  })
  expect(made.body.endpoint).not.toHaveProperty('last_active')
  const { id } = made.body.endpoint
  const operation = `${P}/operations/${made.body.operations[0].id}`
  await clock.advance(600)
  expect(await stateOf(call, id)).toBe('init → active')
  expect((await call('GET', operation)).body.operation.status).toBe('running')
  await clock.advance(200)
  expect(await stateOf(call, id)).toBe('active')
  const { body } = await call('GET', operation)
  expect(body.operation).toMatchObject({ status: 'finished', endpoint_id: id, branch_id: EMPTY })
  expect(body.operation.total_duration_ms).toBeGreaterThan(600)
  expect((await call('GET', at(id))).body.endpoint).toHaveProperty('last_active')
})

test('a create request can set every attribute', async () => {
  const { call } = await openSandbox()
  const wanted = {
    branch_id: MAIN,
    type: 'read_only',
    region_id: 'aws-eu-central-1',
    name: 'x'.repeat(64),
    autoscaling_limit_min_cu: 2,
    autoscaling_limit_max_cu: 10,
    suspend_timeout_seconds: 60,
    settings: { pg_settings: { work_mem: '64MB' }, preload_libraries: { enabled_libraries: ['pg_cron'] } },
    pooler_enabled: true,
    pooler_mode: 'transaction',
    passwordless_access: true,
    provisioner: 'k8s-pod',
  }
  expect(await call('POST', `${P}/endpoints`, { endpoint: wanted })).toMatchObject({
    status: 201,
    body: { endpoint: wanted },
  })
})

test('a compute that is created disabled does not start', async () => {
  const { call } = await openSandbox()
  const made = await call('POST', `${P}/endpoints`, {
    endpoint: { branch_id: MAIN, type: 'read_only', disabled: true },
  })
  expect(made).toMatchObject({ status: 201, body: { endpoint: { current_state: 'idle' }, operations: [] } })
})

test('a request that sets only one size limit overrides a conflicting default for the other', async () => {
  const { call, settle } = await openSandbox()
  const sizeOf = async (limits: object) => {
    const { body } = await call('POST', `${P}/endpoints`, {
      endpoint: { branch_id: MAIN, type: 'read_only', ...limits },
    })
    await settle()
    return [body.endpoint.autoscaling_limit_min_cu, body.endpoint.autoscaling_limit_max_cu]
  }
  expect(await sizeOf({ autoscaling_limit_min_cu: 4 })).toEqual([4, 4])
  expect(await sizeOf({ autoscaling_limit_max_cu: 1 })).toEqual([0.25, 1])
})

test.each([
  ['a second primary', { branch_id: MAIN, type: 'read_write' }, 422, 'read_write endpoint already exists'],
  ['a branch that does not exist', { branch_id: 'br-none', type: 'read_write' }, 404, 'branch not found'],
])('creating a compute with %s is rejected', async (_what, endpoint, status, message) => {
  const { call } = await openSandbox()
  const answer = await call('POST', `${P}/endpoints`, { endpoint })
  expect(answer).toMatchObject({ status, body: { message, code: status === 422 ? 'ENDPOINTS_LIMIT_EXCEEDED' : '' } })
})

test('two replicas can have the same name', async () => {
  const { call } = await openSandbox()
  const endpoint = { branch_id: STAGING, type: 'read_only', name: 'reporting' }
  expect((await call('POST', `${P}/endpoints`, { endpoint })).status).toBe(201)
})

const SIZE_2 = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }

test('a new size restarts an active compute', async () => {
  const { call, clock, settle } = await openSandbox()
  await clock.advance(60_000)
  const answer = await call('PATCH', at(PRIMARY), { endpoint: SIZE_2 })
  expect(answer).toMatchObject({ status: 200, body: { endpoint: SIZE_2 } })
  expect(operationsOf(answer)).toEqual(['apply_config running'])
  expect(await stateOf(call, PRIMARY)).toBe('active → active')
  await settle()
  expect(await stateOf(call, PRIMARY)).toBe('active')
  expect((await call('GET', at(PRIMARY))).body.endpoint.started_at).toMatch(/T00:01:0[12]Z$/)
})

test.each([
  ['the scale-to-zero timeout', { suspend_timeout_seconds: 600 }],
  ['a Postgres setting', { settings: { pg_settings: { work_mem: '8MB' } } }],
  ['the pooler', { pooler_enabled: true }],
])('changing %s does not restart an active compute', async (_what, endpoint) => {
  const { call, clock, settle } = await openSandbox()
  await clock.advance(60_000)
  const answer = await call('PATCH', at(PRIMARY), { endpoint })
  expect(operationsOf(answer)).toEqual(['apply_config running'])
  await settle()
  expect((await call('GET', at(PRIMARY))).body.endpoint).toMatchObject({
    ...endpoint,
    current_state: 'active',
    started_at: '2026-01-01T00:00:00Z',
  })
})

test.each([
  ['size', SIZE_2],
  ['scale-to-zero timeout', { suspend_timeout_seconds: 600 }],
])('changing the %s of an idle compute starts it and suspends it again', async (_what, endpoint) => {
  const { call, settle } = await openSandbox()
  const answer = await call('PATCH', at(IDLE), { endpoint })
  expect(operationsOf(answer)).toEqual(['apply_config running', 'suspend_compute scheduling'])
  await settle()
  expect((await call('GET', at(IDLE))).body.endpoint).toMatchObject({ ...endpoint, current_state: 'idle' })
  expect(await stateOf(call, IDLE)).toBe('idle')
})

test.each([
  ['only the name', { name: 'other' }],
  ['the size to its current value', { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 }],
  ['nothing', {}],
])('updating %s starts no operation', async (_what, endpoint) => {
  const { call } = await openSandbox()
  const answer = await call('PATCH', at(PRIMARY), { endpoint })
  expect(answer).toMatchObject({ status: 200, body: { endpoint, operations: [] } })
  expect(await stateOf(call, PRIMARY)).toBe('active')
})

test('settings in a request replace the existing ones as a whole', async () => {
  const { call, settle } = await openSandbox()
  const send = async (pg_settings: object) => {
    const { body } = await call('PATCH', at(PRIMARY), { endpoint: { settings: { pg_settings } } })
    await settle()
    return body.endpoint.settings.pg_settings
  }
  expect(await send({ work_mem: '8MB', jit: 'off' })).toEqual({ work_mem: '8MB', jit: 'off' })
  expect(await send({ jit: 'on' })).toEqual({ jit: 'on' })
  expect(await send({})).toEqual({})
})

test('the operations of a request run one after another', async () => {
  const { call, clock } = await openSandbox({ durations: { suspend_compute: 400, start_compute: 700 } })
  const answer = await call('POST', at(PRIMARY, '/restart'))
  expect(operationsOf(answer)).toEqual(['suspend_compute running', 'start_compute scheduling'])
  const now = async () => operationsOf(await call('GET', `${P}/operations`)).toReversed()
  expect(await stateOf(call, PRIMARY)).toBe('active → active')
  await clock.advance(450)
  expect(await now()).toEqual(['suspend_compute finished', 'start_compute running'])
  expect(await stateOf(call, PRIMARY)).toBe('idle → active')
  await clock.advance(800)
  expect(await now()).toEqual(['suspend_compute finished', 'start_compute finished'])
  expect(await stateOf(call, PRIMARY)).toBe('active')
})

test('restarting an idle compute is rejected', async () => {
  const { call } = await openSandbox()
  expect(await call('POST', at(IDLE, '/restart'))).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('not active') },
  })
  expect(await stateOf(call, IDLE)).toBe('idle')
})

test('start and suspend create an operation only if the state changes', async () => {
  const { call, settle } = await openSandbox()
  const started = await call('POST', at(IDLE, '/start'))
  expect(operationsOf(started)).toEqual(['start_compute running'])
  expect(await stateOf(call, IDLE)).toBe('idle → active')
  await settle()
  expect(await stateOf(call, IDLE)).toBe('active')
  expect(operationsOf(await call('POST', at(IDLE, '/start')))).toEqual([])
  expect(operationsOf(await call('POST', at(IDLE, '/suspend')))).toEqual(['suspend_compute running'])
  await settle()
  expect(await stateOf(call, IDLE)).toBe('idle')
  expect(operationsOf(await call('POST', at(IDLE, '/suspend')))).toEqual([])
})

test('disabling a compute suspends it, and neither a start nor a new configuration starts it', async () => {
  const { call, settle } = await openSandbox()
  const answer = await call('PATCH', at(PRIMARY), { endpoint: { disabled: true } })
  expect(answer.body.endpoint.disabled).toBe(true)
  expect(operationsOf(answer)).toEqual(['suspend_compute running'])
  await settle()
  expect(await stateOf(call, PRIMARY)).toBe('idle')
  expect(await call('POST', at(PRIMARY, '/start'))).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('disabled') },
  })
  expect(operationsOf(await call('PATCH', at(PRIMARY), { endpoint: SIZE_2 }))).toEqual([])
  expect(operationsOf(await call('PATCH', at(PRIMARY), { endpoint: { disabled: false } }))).toEqual([])
  expect(operationsOf(await call('POST', at(PRIMARY, '/start')))).toEqual(['start_compute running'])
})

test('a compute can move to a branch without a primary, and keeps its id, host and state', async () => {
  const { call } = await openSandbox()
  const { host } = (await call('GET', at(PRIMARY))).body.endpoint
  const moved = await call('PATCH', at(PRIMARY), { endpoint: { branch_id: EMPTY } })
  expect(moved).toMatchObject({
    status: 200,
    body: { endpoint: { id: PRIMARY, host, branch_id: EMPTY, current_state: 'active' }, operations: [] },
  })
  expect((await call('GET', `${P}/branches/${MAIN}/endpoints`)).body.endpoints).toEqual([])
})

test('a replica can move to a branch that has a primary, but a second primary cannot', async () => {
  const { call } = await openSandbox()
  expect(await call('PATCH', at(PRIMARY), { endpoint: { branch_id: STAGING } })).toMatchObject({
    status: 422,
    body: { code: 'ENDPOINTS_LIMIT_EXCEEDED', message: 'read_write endpoint already exists' },
  })
  expect(await call('PATCH', at(PRIMARY), { endpoint: { branch_id: 'br-none' } })).toMatchObject({ status: 404 })
  expect(await call('PATCH', at(REPLICA), { endpoint: { branch_id: MAIN } })).toMatchObject({ status: 200 })
})

test('deleting an active compute suspends it, and deleting an idle compute starts no operation', async () => {
  const { call, settle } = await openSandbox()
  const idle = await call('DELETE', at(IDLE))
  expect(idle).toMatchObject({ status: 200, body: { endpoint: { id: IDLE }, operations: [] } })
  const active = await call('DELETE', at(REPLICA))
  expect(active).toMatchObject({ status: 200, body: { endpoint: { id: REPLICA } } })
  expect(operationsOf(active)).toEqual(['suspend_compute running'])
  expect((await call('GET', at(REPLICA))).status).toBe(404)
  await settle()
  const again = await call('DELETE', at(REPLICA))
  expect(again).toMatchObject({ status: 204, body: undefined })
  const operation = `${P}/operations/${active.body.operations[0].id}`
  expect((await call('GET', operation)).body.operation).toMatchObject({ status: 'finished', endpoint_id: REPLICA })
})

test('a compute that is deleted and created again has a different host name', async () => {
  const { call, settle } = await openSandbox()
  const { host } = (await call('DELETE', at(PRIMARY))).body.endpoint
  await settle()
  const made = await call('POST', `${P}/endpoints`, { endpoint: { branch_id: MAIN, type: 'read_write' } })
  expect(made.body.endpoint.host).not.toBe(host)
})

test('computes of a protected branch cannot be deleted', async () => {
  const { call } = await openSandbox()
  expect(await call('DELETE', at(GUARDED_PRIMARY))).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('protected') },
  })
  expect((await call('GET', at(GUARDED_PRIMARY))).status).toBe(200)
})

test('every change to a project is rejected with 423 while an operation runs on it', async () => {
  const { call, settle } = await openSandbox()
  await call('POST', at(IDLE, '/start'))
  const before = (await call('GET', `${P}/endpoints`)).body
  for (const [method, path, body] of [
    ['POST', `${P}/endpoints`, { endpoint: { branch_id: EMPTY, type: 'read_write' } }],
    ['POST', `${P}/branches`, {}],
    ['DELETE', `${P}/branches/${EMPTY}`],
    ['PATCH', at(PRIMARY), { endpoint: { name: 'other' } }],
    ['DELETE', at(PRIMARY)],
    ['POST', at(PRIMARY, '/start')],
    ['POST', at(PRIMARY, '/suspend')],
    ['POST', at(PRIMARY, '/restart')],
  ] as const) {
    expect(await call(method, path, body), `${method} ${path}`).toMatchObject({
      status: 423,
      body: {
        message: expect.stringContaining('project already has running conflicting operations'),
      },
    })
  }
  expect((await call('GET', `${P}/endpoints`)).body).toEqual(before)
  // Other projects are not locked, and this one only until the operations finish.
  const other = { endpoint: { branch_id: 'br-tiny-pond-a0000001', type: 'read_write' } }
  expect((await call('POST', '/projects/tiny-pond-00000001/endpoints', other)).status).toBe(201)
  await settle()
  expect((await call('PATCH', at(PRIMARY), { endpoint: { name: 'other' } })).status).toBe(200)
})

test('one of two concurrent changes succeeds and the other is rejected with 423', async () => {
  const { call } = await openSandbox()
  const answers = await Promise.all(
    [2, 4].map((cu) =>
      call('PATCH', at(PRIMARY), { endpoint: { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu } }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 423])
})

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
    passwordless_access: false,
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
  expect(await send({ jit: 'on', search_path: 'app' })).toEqual({ jit: 'on', search_path: 'app' })
  const reordered = { settings: { pg_settings: { search_path: 'app', jit: 'on' } } }
  expect(operationsOf(await call('PATCH', at(PRIMARY), { endpoint: reordered }))).toEqual([])
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
  expect((await call('GET', `${P}/operations`)).body.operations[0].total_duration_ms).toBeGreaterThan(600)
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

test.each([IDLE, REPLICA])('deleting %s, whatever its state, starts no operation and locks nothing', async (id) => {
  const { call, sandbox } = await openSandbox()
  const connection = id === REPLICA ? await sandbox.control.connect(id) : undefined
  expect(await call('DELETE', at(id))).toMatchObject({ status: 200, body: { endpoint: { id }, operations: [] } })
  expect(sandbox.control.connections().find((one) => one.id === connection?.id)?.closedAt).toEqual(
    connection === undefined ? undefined : expect.any(Number),
  )
  expect((await call('GET', at(id))).status).toBe(404)
  expect(await call('DELETE', at(id))).toMatchObject({ status: 204, body: undefined })
  expect((await call('PATCH', at(PRIMARY), { endpoint: { name: 'unlocked' } })).status).toBe(200)
})

test('with the fault suspend-on-delete, deleting an active compute starts an operation', async () => {
  const { call, settle, sandbox } = await openSandbox()
  sandbox.control.addFault({ on: 'request', effect: { kind: 'suspend-on-delete' }, times: 0 })
  expect(operationsOf(await call('DELETE', at(IDLE)))).toEqual([])
  const active = await call('DELETE', at(REPLICA))
  expect(operationsOf(active)).toEqual(['suspend_compute running'])
  expect((await call('PATCH', at(PRIMARY), { endpoint: { name: 'locked' } })).status).toBe(423)
  await settle()
  const operation = `${P}/operations/${active.body.operations[0].id}`
  expect((await call('GET', operation)).body.operation).toMatchObject({ status: 'finished', endpoint_id: REPLICA })
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

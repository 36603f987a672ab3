import { expect, test } from 'vitest'
import { type Call, EMPTY, IDLE, openSandbox, operationsOf, P, PRIMARY } from './open-sandbox.ts'

const show = async (call: Call, id: string) => (await call('GET', `${P}/endpoints/${id}`)).body.endpoint

test('an unused active compute is suspended after five minutes by default', async () => {
  const { call, clock } = await openSandbox({ durations: { suspend_compute: 400, start_compute: 0 } })
  await call('POST', `${P}/endpoints/${IDLE}/start`)
  await clock.advance(0)
  await clock.advance(299_000)
  expect(await show(call, IDLE)).toMatchObject({ current_state: 'active', suspend_timeout_seconds: 0 })
  await clock.advance(1_000)
  expect(await show(call, IDLE)).toMatchObject({ current_state: 'active', pending_state: 'idle' })
  await clock.advance(1_000)
  const after = await show(call, IDLE)
  expect(after).toMatchObject({ current_state: 'idle', suspended_at: '2026-01-01T00:05:00Z' })
  expect(after).not.toHaveProperty('pending_state')
  const operations = await call('GET', `${P}/operations`)
  expect(operationsOf(operations)[0]).toBe('suspend_compute finished')
  expect(operations.body.operations[0].endpoint_id).toBe(IDLE)
})

// control-api (simulated): wake-time
test("the scale-to-zero timeout counts from the compute's last activity, and a connection wakes it within a second", async () => {
  const { sandbox, call, clock, settle } = await openSandbox()
  const set = async (suspend_timeout_seconds: number) => {
    await call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { suspend_timeout_seconds } })
    await settle()
  }
  await set(3_600)
  await clock.advance(3_500_000)
  expect((await show(call, PRIMARY)).current_state).toBe('active')
  await set(7_200)
  await clock.advance(3_600_000)
  expect((await show(call, PRIMARY)).current_state).toBe('active')
  await set(60)
  await settle()
  expect((await show(call, PRIMARY)).current_state).toBe('idle')
  const woken = sandbox.control.connect(PRIMARY)
  await settle()
  await woken
  const [start] = (await call('GET', `${P}/operations`)).body.operations
  expect(start).toMatchObject({ action: 'start_compute', status: 'finished' })
  expect(start.total_duration_ms).toBeGreaterThan(100)
  expect(start.total_duration_ms).toBeLessThan(1_000)
})

test("a compute above 16 CU is always active, whatever the project's default, until it becomes smaller", async () => {
  const { call, clock, settle } = await openSandbox()
  const fixed = (cu: number) => ({ autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu })
  const shown = async (): Promise<object> => {
    const { current_state, suspend_timeout_seconds } = await show(call, id)
    return { current_state, suspend_timeout_seconds }
  }
  await call('PATCH', P, { project: { default_endpoint_settings: { suspend_timeout_seconds: 600 } } })
  const made = await call('POST', `${P}/endpoints`, {
    endpoint: { ...fixed(18), branch_id: EMPTY, type: 'read_write' },
  })
  const { id } = made.body.endpoint
  await settle()
  await clock.advance(3_600_000)
  expect(await shown()).toEqual({ current_state: 'active', suspend_timeout_seconds: 0 })
  await call('PATCH', `${P}/endpoints/${id}`, { endpoint: fixed(2) })
  await clock.advance(290_000)
  expect((await show(call, id)).current_state).toBe('active')
  await clock.advance(15_000)
  expect(await shown()).toEqual({ current_state: 'idle', suspend_timeout_seconds: 0 })
})

test('scale to zero waits until running operations finish', async () => {
  const { call, clock } = await openSandbox({ durations: { start_compute: 0, apply_config: 60_000 } })
  await call('POST', `${P}/endpoints/${IDLE}/start`)
  await clock.advance(0)
  await clock.advance(290_000)
  const size = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }
  expect((await call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: size })).status).toBe(200)
  await clock.advance(30_000)
  expect((await show(call, IDLE)).current_state).toBe('active')
  await clock.advance(40_000)
  expect((await show(call, IDLE)).current_state).toBe('idle')
})

test('after a suspension that failed, the compute stays active for its scale-to-zero time', async () => {
  const { call, clock, sandbox } = await openSandbox()
  const suspensions = async (): Promise<number> => {
    const { body } = await call('GET', `${P}/operations`)
    return body.operations.filter(({ action }: { action: string }) => action === 'suspend_compute').length
  }
  sandbox.control.addFault({
    on: 'operation',
    endpoint_id: IDLE,
    action: 'suspend_compute',
    effect: { kind: 'error' },
    times: 0,
  })
  await call('POST', `${P}/endpoints/${IDLE}/start`)
  await clock.advance(310_000)
  expect(await suspensions()).toBe(1)
  await clock.advance(290_000)
  expect((await show(call, IDLE)).current_state).toBe('active')
  expect(await suspensions()).toBe(1)
  await clock.advance(20_000)
  expect(await suspensions()).toBe(2)
})

test('computes that are due at the same time are suspended one after another', async () => {
  const computes = Array.from({ length: 5 }, () => ({ type: 'read_only' as const, size: 1 }))
  const { call, clock } = await openSandbox({
    seed: { projects: [{ id: 'quiet-river-12345678', branches: [{ name: 'main', computes }] }] },
  })
  await clock.advance(320_000)
  const { body } = await call('GET', `${P}/endpoints`)
  expect(body.endpoints.map(({ current_state }: { current_state: string }) => current_state)).toEqual(
    Array(5).fill('idle'),
  )
})

import { expect, test } from 'vitest'
import { openSandbox } from './open-sandbox.ts'

const branches = (count: number, compute: object = {}) =>
  Array.from({ length: count }, (_, index) => ({
    id: `br-b${index}`,
    name: `b${index}`,
    computes: [{ id: `ep-b${index}`, ...compute }],
  }))
const open = (count: number, plan: 'free' | 'paid', compute: object = {}) =>
  openSandbox({ seed: { projects: [{ id: 'p', plan, branches: branches(count, compute) }] } })

test('the free plan allows ten branches, and the paid plan allows more', async () => {
  const free = await open(10, 'free')
  expect(await free.call('POST', '/projects/p/branches')).toMatchObject({
    status: 422,
    body: { code: 'BRANCHES_LIMIT_EXCEEDED', message: expect.stringContaining('10') },
  })
  const paid = await open(10, 'paid')
  expect((await paid.call('POST', '/projects/p/branches')).status).toBe(201)
})

test('the free plan allows no protected branches, and the paid plan allows five', async () => {
  const protect = { branch: { protected: true } }
  const free = await open(1, 'free')
  expect(await free.call('PATCH', '/projects/p/branches/br-b0', protect)).toMatchObject({
    status: 422,
    body: { code: 'BRANCHES_PROTECTED_LIMIT_EXCEEDED' },
  })
  const paid = await open(6, 'paid')
  for (let index = 0; index < 5; index += 1) {
    expect((await paid.call('PATCH', `/projects/p/branches/br-b${index}`, protect)).status).toBe(200)
  }
  expect((await paid.call('PATCH', '/projects/p/branches/br-b5', protect)).status).toBe(422)
  expect((await paid.call('PATCH', '/projects/p/branches/br-b0', protect)).status).toBe(200)
})

test('the free plan allows three replicas per project', async () => {
  const { call, settle } = await open(1, 'free')
  const replica = { endpoint: { branch_id: 'br-b0', type: 'read_only' } }
  for (let count = 0; count < 3; count += 1) {
    expect((await call('POST', '/projects/p/endpoints', replica)).status).toBe(201)
    await settle()
  }
  expect(await call('POST', '/projects/p/endpoints', replica)).toMatchObject({
    status: 422,
    body: { code: 'ENDPOINTS_LIMIT_EXCEEDED' },
  })
})

test('the free plan allows only the default scale-to-zero timeout', async () => {
  const { call, settle } = await open(1, 'free')
  const change = () => call('PATCH', '/projects/p/endpoints/ep-b0', { endpoint: { suspend_timeout_seconds: 600 } })
  await call('POST', '/projects/p/endpoints', { endpoint: { branch_id: 'br-b0', type: 'read_only' } })
  // As for every other invalid value, a locked project is reported instead of the limit.
  expect(await change()).toMatchObject({ status: 423 })
  await settle()
  expect(await change()).toMatchObject({
    status: 422,
    body: { message: 'suspend interval changing is not allowed for your account' },
  })
  const defaults = { project: { default_endpoint_settings: { suspend_timeout_seconds: 600 } } }
  expect(await call('PATCH', '/projects/p', defaults)).toMatchObject({ status: 422 })
})

test('the free plan allows twenty active computes, not counting the default branch', async () => {
  const { call, settle } = await openSandbox({
    seed: {
      projects: [
        {
          id: 'p',
          plan: 'free',
          branches: [
            { name: 'main', default: true, computes: [{ id: 'ep-main', state: 'idle' }] },
            ...branches(20, { scaleToZero: 'never' }),
            { name: 'late', computes: [{ id: 'ep-late', state: 'idle' }] },
          ],
        },
      ],
    },
  })
  expect(await call('POST', '/projects/p/endpoints/ep-late/start')).toMatchObject({
    status: 422,
    body: { code: 'ACTIVE_ENDPOINTS_LIMIT_EXCEEDED' },
  })
  expect((await call('POST', '/projects/p/endpoints/ep-main/start')).status).toBe(200)
  await settle()
  expect((await call('POST', '/projects/p/endpoints/ep-b0/suspend')).status).toBe(200)
  await settle()
  const two = { endpoints: [{ type: 'read_write' }, { type: 'read_only' }] }
  // One more compute is allowed, but not two.
  expect(await call('POST', '/projects/p/branches', two)).toMatchObject({ status: 422 })
  expect((await call('POST', '/projects/p/endpoints/ep-late/start')).status).toBe(200)
})

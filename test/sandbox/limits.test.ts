import { expect, test } from 'vitest'
import { EMPTY, openSandbox, P, PRIMARY, sharedSandbox } from './open-sandbox.ts'

const shared = sharedSandbox()
const patch = (min: number, max: number, timeout?: number) => ({
  endpoint: {
    autoscaling_limit_min_cu: min,
    autoscaling_limit_max_cu: max,
    ...(timeout === undefined ? {} : { suspend_timeout_seconds: timeout }),
  },
})

test.each([
  [0.1, 0.1, -1, 'autoscaling_limit_min_cu'],
  [0.75, 0.75, -1, '0.75 CU is not a valid compute size'],
  [1.5, 2, -1, 'the nearest is 1 CU'],
  [1, 2.5, -1, 'autoscaling_limit_max_cu: 2.5 CU'],
  [17, 17, -1, '17 CU is not a valid compute size'],
  [57, 57, -1, '57 CU is not a valid compute size'],
  [58, 58, -1, 'the nearest is 56 CU'],
  [4, 2, -1, 'above the maximum'],
  [0.25, 9, -1, 'exceeds 8 CU'],
  [1, 10, -1, 'exceeds 8 CU'],
  [16, 18, -1, 'up to 16 CU'],
  [18, 20, -1, 'up to 16 CU'],
  [18, 18, 60, 'suspend_timeout_seconds'],
  [56, 56, 300, 'cannot scale to zero: set it to -1 (never) or 0 (default)'],
  [1, 1, 1, 'suspend_timeout_seconds'],
  [1, 1, 59, '59 is not allowed: use -1 (never), 0 (default) or 60 to 604800 seconds'],
  [1, 1, -2, 'suspend_timeout_seconds'],
  [1, 1, 604_801, 'suspend_timeout_seconds'],
  [1, 1, 60.5, 'suspend_timeout_seconds'],
])('%d to %d CU with a timeout of %d is rejected with the message: %s', async (min, max, timeout, message) => {
  const { call } = shared()
  const before = (await call('GET', `${P}/endpoints/${PRIMARY}`)).body
  const refused = { status: 400, body: { code: '', message: expect.stringContaining(message) } }
  expect(await call('PATCH', `${P}/endpoints/${PRIMARY}`, patch(min, max, timeout))).toMatchObject(refused)
  expect((await call('GET', `${P}/endpoints/${PRIMARY}`)).body).toEqual(before)
  const { endpoint } = patch(min, max, timeout)
  const create = { endpoint: { ...endpoint, branch_id: EMPTY, type: 'read_write' } }
  expect(await call('POST', `${P}/endpoints`, create)).toMatchObject(refused)
})

test('a scale-to-zero timeout of -1, 0 or 60 to 604800 is accepted', async () => {
  const { call, settle } = await openSandbox()
  for (const suspend_timeout_seconds of [0, 60, 300, 604_800, -1]) {
    const answer = await call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { suspend_timeout_seconds } })
    expect(answer).toMatchObject({ status: 200, body: { endpoint: { suspend_timeout_seconds } } })
    await settle()
  }
})

test.each([
  ['minimum', { autoscaling_limit_max_cu: 10 }, 'exceeds 8 CU'],
  ['maximum', { autoscaling_limit_min_cu: 2 }, 'above the maximum'],
])("an update is checked against the compute's existing %s", async (_what, endpoint, message) => {
  const { call } = shared()
  expect(await call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining(message) },
  })
})

test('scale to zero cannot be turned on for a compute that is too large for it', async () => {
  const { call, settle } = await openSandbox()
  await call('PATCH', `${P}/endpoints/${PRIMARY}`, patch(18, 18))
  await settle()
  const answer = await call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { suspend_timeout_seconds: 300 } })
  expect(answer).toMatchObject({ status: 400 })
})

test('the free plan allows computes of up to 2 CU', async () => {
  const { call, settle } = await openSandbox()
  const path = '/projects/tiny-pond-00000001/endpoints'
  const create = { branch_id: 'br-tiny-pond-a0000001', type: 'read_write' }
  expect(await call('POST', path, { endpoint: { ...create, ...patch(3, 3).endpoint } })).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('free plan') },
  })
  const made = await call('POST', path, { endpoint: { ...create, ...patch(2, 2).endpoint } })
  expect(made.status).toBe(201)
  await settle()
  expect((await call('PATCH', `${path}/${made.body.endpoint.id}`, patch(1, 3))).status).toBe(422)
})

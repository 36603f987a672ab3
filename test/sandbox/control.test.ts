/** The sandbox's own API over HTTP, as tests in other languages use it. */
import { expect, test } from 'vitest'
import { caller, EMPTY, IDLE, MAIN, openSandbox, P, PRIMARY } from './open-sandbox.ts'

const open = async () => {
  const opened = await openSandbox()
  const { controlUrl, controlToken } = opened.sandbox
  return { ...opened, control: caller({ apiUrl: controlUrl, apiKey: controlToken }) }
}

test('the control API accepts the control token and rejects the API key', async () => {
  const { sandbox, control, call } = await open()
  const withKey = caller({ apiUrl: sandbox.controlUrl, apiKey: sandbox.apiKey })
  expect((await withKey('GET', '/world')).status).toBe(401)
  expect((await control('GET', '')).body).toMatchObject({ computes: 'simulated', clock: { scale: 0 } })
  expect((await caller({ apiUrl: sandbox.apiUrl, apiKey: sandbox.controlToken })('GET', P)).status).toBe(401)
  expect((await call('GET', P)).status).toBe(200)
})

test('POST /clock advances the clock and changes its speed', async () => {
  const { control, call } = await open()
  await call('POST', `${P}/endpoints/${IDLE}/start`)
  const before = (await control('GET', '/clock')).body
  const after = (await control('POST', '/clock', { advance: '10s' })).body
  expect(Date.parse(after.now) - Date.parse(before.now)).toBe(10_000)
  expect((await call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint.current_state).toBe('active')
  expect((await control('POST', '/clock', { scale: 50 })).body.scale).toBe(50)
  expect(await control('POST', '/clock', { advance: '0.5s' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('such as 90s, 5m or 7d') },
  })
})

test('a connection starts an idle compute, is counted, and can be closed', async () => {
  const { control, call, clock } = await open()
  const opening = control('POST', '/connections', { endpoint_id: IDLE })
  await expect
    .poll(async () => (await call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint.pending_state)
    .toBe('active')
  await clock.advance(2_000)
  const { connection } = (await opening).body
  const of = async (id: string) =>
    (await control('GET', '/computes')).body.computes.find((compute: { id: string }) => compute.id === id)
  expect(await of(IDLE)).toMatchObject({ state: 'active', connections: 1, branchName: 'staging' })
  await call('POST', `${P}/endpoints/${IDLE}/suspend`)
  expect(await of(IDLE)).toMatchObject({ connections: 0 })
  const { connections } = (await control('GET', '/connections')).body
  expect(connections).toMatchObject([{ id: connection.id, computeId: IDLE, closedAt: expect.any(Number) }])
})

// control-api (simulated): max-connections, max-connections-of-range
test.each([
  [{ min: 1, max: 1 }, 419],
  [{ min: 0.25, max: 2 }, 839],
])('a compute of %o accepts connections up to its limit of %i, of which seven are reserved', async (size, most) => {
  const branches = [{ name: 'main', computes: [{ id: PRIMARY, size }] }]
  const { sandbox } = await openSandbox({ seed: { projects: [{ id: 'shop', branches }] } })
  for (let open = 0; open < most - 7; open += 1) await sandbox.control.connect(PRIMARY)
  await expect(sandbox.control.connect(PRIMARY)).rejects.toMatchObject({ sqlState: '53300' })
  sandbox.control.disconnect(sandbox.control.connections()[0]?.id ?? '')
  await sandbox.control.connect(PRIMARY)
})

test("connecting to a missing or disabled compute fails with Postgres' error", async () => {
  const { control } = await open()
  expect(await control('POST', '/connections', { endpoint_id: 'ep-nobody' })).toMatchObject({
    status: 422,
    body: { code: '08004' },
  })
})

test('faults can be added, listed and removed, and the error for an invalid fault names the allowed values', async () => {
  const { control, call } = await open()
  const added = await control('POST', '/faults', { on: 'request', effect: { kind: 'lock' }, times: 0 })
  expect(added).toMatchObject({ status: 201, body: { fault: { times: 0, after: 0 }, struck: 0 } })
  expect((await call('GET', P)).status).toBe(423)
  expect((await control('GET', '/faults')).body.faults).toMatchObject([{ id: added.body.id, struck: 1 }])
  expect((await control('DELETE', `/faults/${added.body.id}`)).status).toBe(204)
  expect((await control('DELETE', `/faults/${added.body.id}`)).status).toBe(404)
  expect((await call('GET', P)).status).toBe(200)
  expect(await control('POST', '/faults', { on: 'request', effect: { kind: 'earthquake' } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('an effect of that kind') },
  })
})

test('loading a dump restores the state, including timers and operations', async () => {
  const { control, call, clock } = await open()
  // It also waits while the compute does not exist.
  await call('POST', `${P}/branches/${EMPTY}/roles`, { role: { name: 'sally' } })
  await call('POST', `${P}/endpoints/${IDLE}/start`)
  const world = (await control('GET', '/world')).body
  await clock.advance(5_000)
  await call('PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { name: 'changed' } })
  expect((await control('PUT', '/world', world)).status).toBe(204)
  expect((await control('GET', '/world')).body).toEqual(world)
  expect((await call('GET', `${P}/endpoints/${PRIMARY}`)).body.endpoint).not.toHaveProperty('name')
  expect((await call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint.pending_state).toBe('active')
  await clock.advance(5_000)
  expect((await call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint.current_state).toBe('active')
  const empty = world.changes.find(({ put }: { put: { id: string } }) => put.id === EMPTY).put
  expect(empty.changes).toMatchObject([{ kind: 'put-role', role: { name: 'sally' } }])
  for (const wrong of [
    { version: 2, changes: [] },
    { version: 1, changes: [{ put: { ...empty, changes: [{ kind: 'drop-role', name: 1 }] } }] },
    { version: 1, changes: [{}] },
    { version: 1, changes: [{ put: { kind: 'branch', id: 'br-x', projectId: 'nowhere' } }] },
  ]) {
    expect((await control('PUT', '/world', wrong)).status).toBe(400)
  }
  expect((await call('GET', `${P}/endpoints/${IDLE}`)).status).toBe(200)
})

// promise: keyless-client
test('requests are recorded until they are cleared', async () => {
  const { control, call, settle } = await open()
  await control('DELETE', '/requests')
  const made = await call('POST', `${P}/branches`, { branch: { name: 'seen', parent_id: MAIN } })
  await settle()
  await call('POST', `${P}/endpoints`, { endpoint: { branch_id: made.body.branch.id, type: 'read_write' } })
  await settle()
  await call('GET', `${P}/branches/${made.body.branch.id}?x=1`)
  const { requests } = (await control('GET', '/requests')).body
  expect(requests).toMatchObject([
    { method: 'POST', path: `${P}/branches`, status: 201, body: expect.stringContaining('seen') },
    { method: 'POST', path: `${P}/endpoints`, status: 201 },
    { method: 'GET', path: `${P}/branches/${made.body.branch.id}?x=1`, status: 200 },
  ])
  await control('DELETE', '/requests')
  await call('POST', `${P}/branches`, { branch: { name: 'x'.repeat(20_000) } })
  await call('POST', `${P}/branches`, { branch: {} }, { authorization: 'Bearer wrong' })
  // Long bodies and those of unauthenticated clients are not recorded, to save memory.
  const kept: readonly object[] = (await control('GET', '/requests')).body.requests
  expect(kept).toMatchObject([{ status: 400 }, { status: 401 }])
  for (const request of kept) expect(request).not.toHaveProperty('body')
  await control('DELETE', '/requests')
  expect((await control('GET', '/requests')).body).toEqual({ requests: [] })
})

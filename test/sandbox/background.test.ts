/** Background work of the control plane (docs/reference/control-api.md). */
import { expect, test } from 'vitest'
import { type Call, MAIN, openSandbox, P, PRIMARY, STAGING } from './open-sandbox.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const actions = async (call: Call, action: string): Promise<readonly { branch_id: string; status: string }[]> => {
  const { operations } = (await call('GET', `${P}/operations?limit=1000`)).body
  return operations.filter((operation: { action: string }) => operation.action === action)
}

test('the branches of a project are checked in turn, also if there are other projects', async () => {
  const branches = [MAIN, STAGING].map((id) => ({ id, name: id, computes: [{}] }))
  const others = [{ id: 'other', branches: [{ name: 'main', computes: [{}] }] }]
  const opened = await openSandbox({ seed: { projects: [{ id: 'quiet-river-12345678', branches }, ...others] } })
  await opened.clock.advance(DAY)
  const checked = new Set((await actions(opened.call, 'check_availability')).map(({ branch_id }) => branch_id))
  expect([...checked].sort()).toEqual([MAIN, STAGING].sort())
})

// control-api (simulated): check-finds-broken
test('a check fails if its idle compute cannot start, is not retried, and changes no compute', async () => {
  const { call, clock, sandbox } = await openSandbox({
    seed: { projects: [{ id: 'quiet-river-12345678', branches: [{ name: 'main', computes: [{ state: 'idle' }] }] }] },
  })
  sandbox.control.addFault({ on: 'operation', action: 'start_compute', effect: { kind: 'fail', message: 'no host' } })
  const computes = async () => (await call('GET', `${P}/endpoints`)).body
  const before = await computes()
  await clock.advance(12 * HOUR)
  expect(await actions(call, 'check_availability')).toMatchObject([
    { status: 'failed', failures_count: 1, error: 'no host' },
  ])
  expect(await computes()).toEqual(before)
  expect((await call('POST', `${P}/branches`, {})).status).toBe(201)
})

test('no background work runs if it is turned off, or within the first hours', async () => {
  const off = await openSandbox({ background: false })
  await off.clock.advance(10 * DAY)
  expect(await actions(off.call, 'check_availability')).toEqual([])
  const on = await openSandbox()
  await on.clock.advance(5 * HOUR)
  expect(await actions(on.call, 'check_availability')).toEqual([])
})

test('an unused branch is archived after two weeks and unarchived when its compute starts', async () => {
  const opened = await openSandbox()
  const { call, settle } = opened
  const made = await call('POST', `${P}/branches`, { branch: { name: 'old' }, endpoints: [{ type: 'read_write' }] })
  const { id } = made.body.branch
  const stateOf = async () => (await call('GET', `${P}/branches/${id}`)).body.branch.current_state
  await opened.clock.advance(13 * DAY)
  expect(await stateOf()).toBe('ready')
  await opened.clock.advance(2 * DAY)
  expect(await stateOf()).toBe('archived')
  // Branches in use, the default branch and protected ones are not archived.
  const { branches } = (await call('GET', `${P}/branches`)).body
  const archived = branches.filter((branch: { current_state: string }) => branch.current_state === 'archived')
  expect(archived.map((branch: { id: string }) => branch.id)).not.toEqual(expect.arrayContaining([MAIN, STAGING]))

  const started = await call('POST', `${P}/endpoints/${made.body.endpoints[0].id}/start`)
  expect(started.body.operations).toMatchObject([{ action: 'timeline_unarchive' }, { action: 'start_compute' }])
  await settle()
  expect(await stateOf()).toBe('ready')
})

test('an archived branch is unarchived before the configuration of its compute is applied', async () => {
  const { call, settle } = await openSandbox()
  const { branch } = (await call('POST', `${P}/branches`, { branch: { name: 'old', archived: true } })).body
  await settle()
  const endpoint = { branch_id: branch.id, type: 'read_write', disabled: true }
  const made = await call('POST', `${P}/endpoints`, { endpoint })
  const changes = { disabled: false, autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 }
  const updated = await call('PATCH', `${P}/endpoints/${made.body.endpoint.id}`, { endpoint: changes })
  const actions = updated.body.operations.map(({ action }: { action: string }) => action)
  expect(actions).toEqual(['timeline_unarchive', 'apply_config', 'suspend_compute'])
})

test('an unused project is detached from storage and reattached by the next request', async () => {
  const opened = await openSandbox({
    seed: {
      projects: [{ id: 'quiet-river-12345678', branches: [{ id: MAIN, name: 'main', computes: [{ id: PRIMARY }] }] }],
    },
  })
  const { call, settle } = opened
  await opened.clock.advance(32 * DAY)
  // This request attaches it again.
  expect(await actions(call, 'tenant_detach')).toMatchObject([{ status: 'finished', branch_id: MAIN }])
  expect(await actions(call, 'tenant_reattach')).toMatchObject([{ status: 'running' }])
  // A client must not be locked out by the operation that its own request started.
  expect((await call('POST', `${P}/endpoints/${PRIMARY}/start`)).status).toBe(200)
  await settle()
  expect(await actions(call, 'tenant_reattach')).toMatchObject([{ status: 'finished' }])
})

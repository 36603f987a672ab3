/** Background work of the control plane (docs/control-api.md). */
import { expect, test } from 'vitest'
import { type Call, MAIN, type Opened, openSandbox, P, PRIMARY, STAGING } from './open-sandbox.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const actions = async (call: Call, action: string): Promise<readonly { branch_id: string; status: string }[]> => {
  const { operations } = (await call('GET', `${P}/operations?limit=1000`)).body
  return operations.filter((operation: { action: string }) => operation.action === action)
}

/** Advances in steps without requests in between, which would count as use. */
const pass = async ({ clock }: Opened, ms: number): Promise<void> => clock.advance(ms)

test('only branches that have a compute are checked for availability', async () => {
  const opened = await openSandbox()
  await pass(opened, 2 * DAY)
  const checked = new Set((await actions(opened.call, 'check_availability')).map(({ branch_id }) => branch_id))
  expect(checked.size).toBeGreaterThan(1)
  const withComputes = (await opened.call('GET', `${P}/endpoints`)).body.endpoints.map(
    ({ branch_id }: { branch_id: string }) => branch_id,
  )
  for (const id of checked) expect(withComputes).toContain(id)
})

test('no background work runs if it is turned off, or within the first hours', async () => {
  const off = await openSandbox({ background: false })
  await pass(off, 10 * DAY)
  expect(await actions(off.call, 'check_availability')).toEqual([])
  const on = await openSandbox()
  await pass(on, 5 * HOUR)
  expect(await actions(on.call, 'check_availability')).toEqual([])
})

test('an unused branch is archived after two weeks and unarchived when its compute starts', async () => {
  const opened = await openSandbox()
  const { call, settle } = opened
  const made = await call('POST', `${P}/branches`, { branch: { name: 'old' }, endpoints: [{ type: 'read_write' }] })
  const { id } = made.body.branch
  const stateOf = async () => (await call('GET', `${P}/branches/${id}`)).body.branch.current_state
  await pass(opened, 13 * DAY)
  expect(await stateOf()).toBe('ready')
  await pass(opened, 2 * DAY)
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

test('an unused project is detached from storage and reattached by the next request', async () => {
  const opened = await openSandbox({
    seed: {
      projects: [{ id: 'quiet-river-12345678', branches: [{ id: MAIN, name: 'main', computes: [{ id: PRIMARY }] }] }],
    },
  })
  const { call, settle } = opened
  await pass(opened, 32 * DAY)
  // This request attaches it again.
  expect(await actions(call, 'tenant_detach')).toMatchObject([{ status: 'finished', branch_id: MAIN }])
  expect(await actions(call, 'tenant_reattach')).toMatchObject([{ status: 'running' }])
  expect((await call('POST', `${P}/endpoints/${PRIMARY}/start`)).status).toBe(423)
  await settle()
  expect((await call('POST', `${P}/endpoints/${PRIMARY}/start`)).status).toBe(200)
  expect(await actions(call, 'tenant_reattach')).toHaveLength(1)
})

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manualClock } from '../../src/sandbox/index.ts'
import { GUARDED, MAIN, openSandbox, P, STAGING } from './open-sandbox.ts'

const DAY = 86_400_000
const TOMORROW = '2026-01-02T00:00:00Z'
const branch = (id: string, rest = ''): string => `${P}/branches/${id}${rest}`

test('a branch is deleted with its computes when it expires', async () => {
  const { call, clock, settle } = await openSandbox()
  const made = await call('POST', `${P}/branches`, {
    branch: { name: 'preview', expires_at: '2026-01-02T01:00:00.500+01:00' },
    endpoints: [{ type: 'read_write' }],
  })
  const { id, expires_at, ttl_interval_seconds } = made.body.branch
  expect({ expires_at, ttl_interval_seconds }).toEqual({ expires_at: TOMORROW, ttl_interval_seconds: 86_400 })
  await settle()
  await clock.advance(DAY - 20_000)
  expect((await call('GET', branch(id))).status).toBe(200)
  await clock.advance(20_000)
  expect((await call('GET', branch(id))).status).toBe(404)
  await settle()
  const { operations } = (await call('GET', `${P}/operations?limit=1`)).body
  expect(operations).toMatchObject([{ action: 'delete_timeline', branch_id: id, status: 'finished' }])
})

test('an expired branch is deleted only after running operations finish', async () => {
  const { call, clock } = await openSandbox({ durations: { start_compute: 90_000 }, background: false })
  await call('PATCH', branch(STAGING), { branch: { expires_at: TOMORROW } })
  await clock.advance(DAY - 1_000)
  const { endpoints } = (await call('GET', branch(STAGING, '/endpoints'))).body
  expect((await call('POST', `${P}/endpoints/${endpoints[0].id}/start`)).body.operations).toHaveLength(1)
  await clock.advance(2_000)
  expect((await call('GET', branch(STAGING))).status).toBe(200)
  await clock.advance(180_000)
  expect((await call('GET', branch(STAGING))).status).toBe(404)
})

test("a branch's expiration time can be changed and removed", async () => {
  const { call, clock } = await openSandbox()
  await call('PATCH', branch(STAGING), { branch: { expires_at: TOMORROW } })
  await call('PATCH', branch(STAGING), { branch: { expires_at: '2026-01-03T00:00:00Z' } })
  await clock.advance(DAY + 60_000)
  const back = await call('PATCH', branch(STAGING), { branch: { expires_at: null } })
  expect(back.body.branch).not.toHaveProperty('expires_at')
  expect(back.body.branch).not.toHaveProperty('ttl_interval_seconds')
  await clock.advance(5 * DAY)
  expect((await call('GET', branch(STAGING))).status).toBe(200)
})

test('a branch that expired while the sandbox was stopped is deleted at the next start', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'espalier-expiry-'))
  const first = await openSandbox({ stateDir })
  await first.call('PATCH', branch(STAGING), { branch: { expires_at: TOMORROW } })
  await first.sandbox.close()
  const clock = manualClock(Date.UTC(2026, 0, 5))
  const later = await openSandbox({ stateDir, clock })
  await clock.advance(1)
  expect((await later.call('GET', branch(STAGING))).status).toBe(404)
})

test('restoring a branch restarts its expiration period', async () => {
  const { call, clock } = await openSandbox()
  await call('PATCH', branch(STAGING), { branch: { expires_at: TOMORROW } })
  await clock.advance(DAY / 2)
  const restored = await call('POST', branch(STAGING, '/restore'), { source_branch_id: MAIN })
  expect(restored.body.branch).toMatchObject({ expires_at: '2026-01-02T12:00:00Z', ttl_interval_seconds: 86_400 })
})

test.each([
  ['in the past', STAGING, { expires_at: '2025-12-31T00:00:00Z' }, 400, 'must be in the future'],
  ['in 31 days', STAGING, { expires_at: '2026-02-01T00:00:01Z' }, 400, 'within the next 30 days'],
  ['without a time zone', STAGING, { expires_at: '2026-01-02T00:00:00' }, 400, 'branch.expires_at'],
  ['for a protected branch', GUARDED, { expires_at: TOMORROW }, 422, 'a protected branch cannot expire'],
  ['for the default branch', MAIN, { expires_at: TOMORROW }, 422, 'the default branch cannot expire'],
  ['combined with protection', STAGING, { expires_at: TOMORROW, protected: true }, 422, 'a protected branch'],
])('an expiration time %s is rejected', async (_what, id, change, status, message) => {
  const { call } = await openSandbox()
  expect(await call('PATCH', branch(id), { branch: change })).toMatchObject({
    status,
    body: { message: expect.stringContaining(message) },
  })
})

test('a branch with an expiration time cannot have children or become the default', async () => {
  const { call, settle } = await openSandbox()
  await call('PATCH', branch(STAGING), { branch: { expires_at: TOMORROW } })
  expect(await call('POST', `${P}/branches`, { branch: { parent_id: STAGING } })).toMatchObject({ status: 422 })
  const other = await call('POST', `${P}/branches`, { branch: { name: 'other' } })
  await settle()
  const restore = (more: object) =>
    call('POST', branch(other.body.branch.id, '/restore'), { source_branch_id: STAGING, ...more })
  expect(await restore({})).toMatchObject({ status: 422, body: { message: expect.stringContaining('children') } })
  expect(await restore({ preserve_under_name: 'before' })).toMatchObject({ status: 200 })
  await settle()
  expect(await call('POST', branch(STAGING, '/set_as_default'))).toMatchObject({ status: 422 })
})

import { expect, test } from 'vitest'
import { type Answer, GUARDED, IDLE, MAIN, openSandbox, operationsOf, P, REPLICA, STAGING } from './open-sandbox.ts'

const HOUR = 3_600_000
const branch = (id: string, rest = ''): string => `${P}/branches/${id}${rest}`
const refusal = ({ status, body: { code, message } }: Answer) => ({ status, code, message })

test('resetting a branch suspends its running computes and starts them again', async () => {
  const { call, settle, clock } = await openSandbox()
  await clock.advance(HOUR)
  const restored = await call('POST', branch(STAGING, '/restore'), { source_branch_id: MAIN })
  expect(restored).toMatchObject({
    status: 200,
    body: {
      branch: { id: STAGING, parent_id: MAIN, current_state: 'resetting', last_reset_at: '2026-01-01T01:00:00Z' },
    },
  })
  expect(operationsOf(restored)).toEqual([
    'suspend_compute running',
    'create_branch scheduling',
    'start_compute scheduling',
  ])
  expect(await call('POST', branch(STAGING, '/restore'), { source_branch_id: MAIN })).toMatchObject({ status: 423 })
  await settle()
  expect((await call('GET', branch(STAGING))).body.branch.current_state).toBe('ready')
  const { endpoints } = (await call('GET', branch(STAGING, '/endpoints'))).body
  expect(endpoints).toMatchObject([
    { id: IDLE, current_state: 'idle' },
    { id: REPLICA, current_state: 'active' },
  ])
  expect((await call('GET', `${P}/branches`)).body.branches).toHaveLength(4)
})

test('preserve_under_name keeps the old data as a branch that becomes the parent of the restored branch and its children', async () => {
  const { call, settle, clock } = await openSandbox()
  const child = await call('POST', `${P}/branches`, { branch: { name: 'child', parent_id: STAGING } })
  await settle()
  await clock.advance(HOUR)
  const restored = await call('POST', branch(STAGING, '/restore'), {
    source_branch_id: STAGING,
    source_timestamp: '2026-01-01T00:30:00Z',
    preserve_under_name: 'staging_old',
  })
  const old = restored.body.branch.parent_id
  await settle()
  expect((await call('GET', branch(old))).body.branch).toMatchObject({
    name: 'staging_old',
    parent_id: MAIN,
    current_state: 'ready',
  })
  expect((await call('GET', branch(STAGING))).body.branch).toMatchObject({
    id: STAGING,
    name: 'staging',
    parent_timestamp: '2026-01-01T00:30:00Z',
  })
  expect((await call('GET', branch(child.body.branch.id))).body.branch.parent_id).toBe(old)
  expect((await call('GET', branch(old, '/endpoints'))).body.endpoints).toEqual([])
})

test('preserving the data of a root branch creates another root branch', async () => {
  const { call, settle, clock } = await openSandbox()
  await clock.advance(HOUR)
  const restored = await call('POST', branch(MAIN, '/restore'), {
    source_branch_id: MAIN,
    source_timestamp: '2026-01-01T00:10:00Z',
    preserve_under_name: 'main_old',
  })
  await settle()
  expect(restored.body.branch).toMatchObject({ id: MAIN, default: true })
  expect(restored.body.branch).not.toHaveProperty('parent_id')
  const { branches } = (await call('GET', `${P}/branches?search=main_old`)).body
  expect(branches).toMatchObject([{ default: false }])
  expect(branches[0]).not.toHaveProperty('parent_id')
})

test.each([
  [
    'a branch from its own current state',
    STAGING,
    { source_branch_id: STAGING },
    400,
    'source_timestamp or source_lsn is required',
  ],
  [
    'a branch from its own past without preserve_under_name',
    STAGING,
    { source_branch_id: STAGING, source_timestamp: '2026-01-01T00:00:00Z' },
    400,
    'preserve_under_name is required',
  ],
  [
    'a branch with children without preserve_under_name',
    MAIN,
    { source_branch_id: STAGING },
    400,
    'because the branch has children',
  ],
  ['from a source that does not exist', STAGING, { source_branch_id: 'br-none' }, 404, 'branch not found'],
  ['a protected branch', GUARDED, { source_branch_id: MAIN }, 422, 'cannot restore a protected branch'],
  [
    'with a preserve_under_name that is taken',
    STAGING,
    { source_branch_id: MAIN, preserve_under_name: 'empty' },
    409,
    'branch already exists; branch_name:"empty"',
  ],
  ['without a source', STAGING, {}, 400, 'source_branch_id'],
])('restoring %s is rejected and changes nothing', async (_what, id, body, status, message) => {
  const { call } = await openSandbox()
  const before = (await call('GET', `${P}/branches`)).body
  expect(await call('POST', branch(id, '/restore'), body)).toMatchObject({
    status,
    body: { message: expect.stringContaining(message) },
  })
  expect((await call('GET', `${P}/branches`)).body).toEqual(before)
})

test("a branch can start from its parent's past state, selected by time or LSN", async () => {
  const { call, settle, clock } = await openSandbox()
  await clock.advance(2 * HOUR)
  const early = await call('POST', `${P}/branches`, { branch: { parent_timestamp: '2026-01-01T01:00:00Z' } })
  expect(early.body.branch).toMatchObject({ parent_id: MAIN, parent_timestamp: '2026-01-01T01:00:00Z' })
  await settle()
  const { parent_lsn } = early.body.branch
  const again = await call('POST', `${P}/branches`, { branch: { parent_lsn } })
  expect(again.body.branch).toMatchObject({ parent_lsn, parent_timestamp: '2026-01-01T01:00:00Z' })
  await settle()
  const head = await call('POST', `${P}/branches`, {})
  expect(head.body.branch.parent_timestamp > '2026-01-01T02:00:00Z').toBe(true)
})

test.each([
  ['a time in the future', { parent_timestamp: '2999-01-01T00:00:00Z' }, 'outside of the available history'],
  [
    'a time before its parent existed',
    { parent_timestamp: '2025-12-31T23:59:59Z' },
    'outside of the available history',
  ],
  ['a malformed time', { parent_timestamp: 'not-a-time' }, 'branch.parent_timestamp'],
  ['an LSN far in the past', { parent_lsn: '0/123456' }, 'outside of the available history'],
  ['a malformed LSN', { parent_lsn: '123456' }, 'branch.parent_lsn'],
  ['both a time and an LSN', { parent_lsn: '0/1', parent_timestamp: '2026-01-01T00:00:00Z' }, 'mutually exclusive'],
])('creating a branch from %s is rejected with 400', async (_what, moment, message) => {
  const { call, clock } = await openSandbox()
  await clock.advance(HOUR)
  expect(await call('POST', `${P}/branches`, { branch: moment })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining(message) },
  })
})

test("a branch's history goes back as far as the project's restore window", async () => {
  const { call, settle, clock } = await openSandbox()
  await call('PATCH', P, { project: { history_retention_seconds: 3_600 } })
  await clock.advance(3 * HOUR)
  const from = (time: string) => call('POST', `${P}/branches`, { branch: { parent_timestamp: time } })
  expect(await from('2026-01-01T01:30:00Z')).toMatchObject({ status: 400 })
  expect(await from('2026-01-01T02:30:00Z')).toMatchObject({ status: 201 })
  await settle()
})

test('a schema-only branch is a root branch', async () => {
  const { call } = await openSandbox()
  const made = await call('POST', `${P}/branches`, { branch: { parent_id: STAGING, init_source: 'schema-only' } })
  expect(made.body.branch).toMatchObject({ init_source: 'schema-only' })
  expect(made.body.branch).not.toHaveProperty('parent_id')
  expect(await call('POST', `${P}/branches`, { branch: { init_source: 'thin-air' } })).toMatchObject({ status: 400 })
})

test('the free plan allows three root branches', async () => {
  const { call, settle } = await openSandbox()
  const make = () => call('POST', '/projects/tiny-pond-00000001/branches', { branch: { init_source: 'schema-only' } })
  for (const status of [201, 201]) {
    expect((await make()).status).toBe(status)
    await settle()
  }
  expect(refusal(await make())).toMatchObject({ status: 422, code: 'ROOT_BRANCHES_LIMIT_EXCEEDED' })
})

test('a branch can be created as archived', async () => {
  const { call, settle } = await openSandbox()
  const made = await call('POST', `${P}/branches`, { branch: { archived: true } })
  expect(operationsOf(made)).toEqual(['create_branch running', 'timeline_archive scheduling'])
  await settle()
  expect((await call('GET', branch(made.body.branch.id))).body.branch.current_state).toBe('archived')
  const both = { branch: { archived: true }, endpoints: [{ type: 'read_write' }] }
  expect(await call('POST', `${P}/branches`, both)).toMatchObject({ status: 422 })
})

test('annotations are returned with a single branch and in the branch list', async () => {
  const { call } = await openSandbox()
  const made = await call('POST', `${P}/branches`, { annotation_value: { 'git-ref': 'feature/7' } })
  const { id } = made.body.branch
  const noted = {
    object: { type: 'console/branch', id },
    value: { 'git-ref': 'feature/7' },
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  }
  expect((await call('GET', branch(id))).body.annotation).toEqual(noted)
  expect((await call('GET', `${P}/branches`)).body.annotations).toEqual({ [id]: noted })
  const project = await call('POST', '/projects', { project: { branch: { annotations: { team: 'books' } } } })
  const first = `/projects/${project.body.project.id}/branches/${project.body.branch.id}`
  expect((await call('GET', first)).body.annotation.value).toEqual({ team: 'books' })
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`key-${index}`, '']))
  expect(await call('POST', `${P}/branches`, { annotation_value: many })).toMatchObject({ status: 400 })
})

import { expect, test } from 'vitest'
import { EMPTY, GUARDED, MAIN, openSandbox, operationsOf, P, STAGING } from './open-sandbox.ts'

const namesOf = (branches: readonly { name: string }[]): readonly string[] => branches.map(({ name }) => name)

test('GET returns the parent of a branch, and whether it is the default or protected', async () => {
  const { call } = await openSandbox()
  const show = async (id: string) => (await call('GET', `${P}/branches/${id}`)).body.branch
  expect(await show(MAIN)).toMatchObject({ id: MAIN, name: 'main', default: true, protected: false })
  expect(await show(MAIN)).not.toHaveProperty('parent_id')
  expect(await show(STAGING)).toMatchObject({ parent_id: MAIN, default: false, current_state: 'ready' })
  expect(await show(GUARDED)).toMatchObject({ protected: true })
})

test('the operation that creates a branch runs before its computes start', async () => {
  const { call, clock } = await openSandbox({ durations: { create_branch: 1_000, start_compute: 700 } })
  const made = await call('POST', `${P}/branches`, {
    branch: { name: 'preview/7' },
    endpoints: [
      { type: 'read_write', autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2 },
      { type: 'read_only' },
    ],
  })
  expect(made).toMatchObject({
    status: 201,
    body: {
      branch: { id: expect.stringMatching(/^br-[a-z]+-[a-z]+-[a-z0-9]{8}$/), name: 'preview/7', current_state: 'init' },
      endpoints: [
        { type: 'read_write', autoscaling_limit_min_cu: 1, current_state: 'init' },
        { type: 'read_only', autoscaling_limit_min_cu: 0.25, pending_state: 'active' },
      ],
    },
  })
  expect(made.body.branch.parent_id).toBe(MAIN)
  expect(operationsOf(made)).toEqual(['create_branch running', 'start_compute scheduling', 'start_compute scheduling'])
  const { id } = made.body.branch
  await clock.advance(1_200)
  const ready = (await call('GET', `${P}/branches/${id}`)).body.branch
  expect(ready.current_state).toBe('ready')
  await clock.advance(3_000)
  const renamed = await call('PATCH', `${P}/branches/${id}`, { branch: { name: 'preview/8' } })
  expect(renamed.body.branch.state_changed_at).toBe(ready.state_changed_at)
  const { body } = await call('GET', `${P}/branches/${id}/endpoints`)
  expect(body.endpoints).toMatchObject([{ current_state: 'active' }, { current_state: 'active' }])
})

test('a branch created without a request body gets a generated name and no compute', async () => {
  const { call } = await openSandbox()
  const made = await call('POST', `${P}/branches`)
  expect(made).toMatchObject({ status: 201, body: { endpoints: [], branch: { parent_id: MAIN } } })
  expect(operationsOf(made)).toEqual(['create_branch running'])
})

test.each([
  ['a name that is taken', { branch: { name: 'main' } }, 409, 'branch already exists; branch_name:"main"'],
  ['a parent that does not exist', { branch: { parent_id: 'br-none' } }, 404, 'branch not found'],
  ['two primaries', { endpoints: [{ type: 'read_write' }, { type: 'read_write' }] }, 422, 'read_write endpoint'],
  [
    'an invalid size',
    { endpoints: [{ type: 'read_write', autoscaling_limit_max_cu: 1.5 }] },
    400,
    'autoscaling_limit_max_cu',
  ],
])('creating a branch with %s is rejected and creates nothing', async (_what, body, status, message) => {
  const { call } = await openSandbox()
  const refused = { status, body: { message: expect.stringContaining(message) } }
  expect(await call('POST', `${P}/branches`, body)).toMatchObject(refused)
  expect((await call('GET', `${P}/branches`)).body.branches).toHaveLength(4)
  expect((await call('GET', `${P}/operations`)).body.operations).toEqual([])
})

test('deleting a branch deletes its computes', async () => {
  const { call, settle } = await openSandbox()
  const deleted = await call('DELETE', `${P}/branches/${STAGING}`)
  expect(deleted).toMatchObject({ status: 200, body: { branch: { id: STAGING } } })
  expect(operationsOf(deleted)).toEqual(['suspend_compute running', 'delete_timeline scheduling'])
  expect((await call('GET', `${P}/branches/${STAGING}`)).status).toBe(404)
  expect((await call('GET', `${P}/endpoints`)).body.endpoints).toHaveLength(2)
  await settle()
  expect((await call('DELETE', `${P}/branches/${STAGING}`)).status).toBe(204)
})

test.each([
  ['the default branch', MAIN, 'default'],
  ['a protected branch', GUARDED, 'protected'],
])('%s cannot be deleted', async (_what, id, message) => {
  const { call } = await openSandbox()
  const refused = { status: 422, body: { message: expect.stringContaining(message) } }
  expect(await call('DELETE', `${P}/branches/${id}`)).toMatchObject(refused)
})

test('a branch with children cannot be deleted', async () => {
  const { call, settle } = await openSandbox()
  await call('POST', `${P}/branches`, { branch: { parent_id: EMPTY } })
  await settle()
  expect(await call('DELETE', `${P}/branches/${EMPTY}`)).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('children') },
  })
})

test.each([1, 2, 3, 4, 100])('with pages of %d branches, each branch is listed once and in order', async (limit) => {
  const { call } = await openSandbox()
  const names: string[] = []
  let next: string | undefined = ''
  while (next !== undefined) {
    const { body } = await call('GET', `${P}/branches?sort_by=name&sort_order=asc&limit=${limit}&cursor=${next}`)
    names.push(...namesOf(body.branches))
    next = body.pagination.next
  }
  expect(names).toEqual(['empty', 'guarded', 'main', 'staging'])
})

test('branches are sorted by their last change and can be searched by name', async () => {
  const { call, clock, settle } = await openSandbox()
  await clock.advance(60_000)
  await call('POST', `${P}/branches`, { branch: { name: 'newest' } })
  await settle()
  const { body } = await call('GET', `${P}/branches`)
  expect(namesOf(body.branches)[0]).toBe('newest')
  expect(body).toMatchObject({ annotations: {}, pagination: { sort_by: 'updated_at', sort_order: 'DESC' } })
  expect(namesOf((await call('GET', `${P}/branches?search=stag`)).body.branches)).toEqual(['staging'])
})

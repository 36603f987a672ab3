import { expect, test } from 'vitest'
import { EMPTY, GUARDED, IDLE, MAIN, openSandbox, operationsOf, P, STAGING } from './open-sandbox.ts'

test('a new project creates a default branch and then starts its primary', async () => {
  const { call, settle } = await openSandbox()
  const made = await call('POST', '/projects', { project: { name: 'books' } })
  expect(made).toMatchObject({
    status: 201,
    body: {
      project: { name: 'books', id: expect.stringMatching(/^[a-z]+-[a-z]+-\d{8}$/) },
      branch: { name: 'main', default: true, current_state: 'init' },
      endpoints: [{ type: 'read_write', current_state: 'init', autoscaling_limit_max_cu: 2 }],
    },
  })
  expect(operationsOf(made)).toEqual(['create_timeline running', 'start_compute scheduling'])
  await settle()
  const { id } = made.body.project
  expect((await call('GET', `/projects/${id}/endpoints`)).body.endpoints).toMatchObject([{ current_state: 'active' }])
  expect((await call('GET', `/projects/${id}/branches`)).body.branches).toMatchObject([{ current_state: 'ready' }])
})

test('new defaults apply only to computes that are created later', async () => {
  const { call, settle } = await openSandbox()
  const before = (await call('GET', `${P}/endpoints`)).body
  const changed = await call('PATCH', P, {
    project: {
      name: 'store',
      default_endpoint_settings: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 },
    },
  })
  expect(changed).toMatchObject({ status: 200, body: { project: { name: 'store' }, operations: [] } })
  expect((await call('GET', `${P}/endpoints`)).body).toEqual(before)
  const { body } = await call('POST', `${P}/endpoints`, { endpoint: { branch_id: EMPTY, type: 'read_write' } })
  expect(body.endpoint).toMatchObject({ autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 })
  await settle()
  const wrong = { default_endpoint_settings: { autoscaling_limit_max_cu: 17 } }
  expect(await call('PATCH', P, { project: wrong })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('project.default_endpoint_settings.autoscaling_limit_max_cu') },
  })
})

test('changing the restore window starts an apply_storage_config operation', async () => {
  const { call } = await openSandbox()
  const changed = await call('PATCH', P, { project: { history_retention_seconds: 3_600 } })
  expect(changed.body.project.history_retention_seconds).toBe(3_600)
  expect(operationsOf(changed)).toEqual(['apply_storage_config running'])
})

test('a deleted project is hidden immediately and its data is deleted later, and a protected branch prevents the deletion', async () => {
  const { call, settle, sandbox } = await openSandbox()
  expect(await call('DELETE', P)).toMatchObject({ status: 422 })
  expect((await call('GET', P)).status).toBe(200)
  await call('PATCH', `${P}/branches/${GUARDED}`, { branch: { protected: false } })
  expect(await call('DELETE', P)).toMatchObject({ status: 200, body: { project: { name: 'shop' } } })
  for (const path of ['', '/branches', '/endpoints', `/branches/${MAIN}`]) {
    expect(await call('GET', `${P}${path}`)).toMatchObject({ status: 404, body: { message: 'project not found' } })
  }
  expect((await call('GET', '/projects')).body.projects).toHaveLength(1)
  await settle()
  expect(await sandbox.control.computes()).toEqual([])
})

// Responses recorded from the service: PATCH and DELETE succeed in the second in which the project was created.
test('a new project can be changed and deleted while its operations run, which end as cancelled and remain readable', async () => {
  const { call, settle } = await openSandbox()
  const { project, operations } = (await call('POST', '/projects', { project: {} })).body
  const path = `/projects/${project.id}`
  const change = { name: 'books', settings: { quota: { active_time_seconds: 60 } }, history_retention_seconds: 60 }
  expect(await call('PATCH', path, { project: change })).toMatchObject({ status: 200, body: { project: change } })
  expect((await call('DELETE', path)).status).toBe(200)
  const statusesOf = async () => {
    const { body } = await call('GET', `${path}/operations`)
    return body.operations.map(({ action, status }: { action: string; status: string }) => `${action} ${status}`)
  }
  const created = ['apply_storage_config cancelled', 'start_compute cancelled', 'create_timeline cancelled']
  expect(await statusesOf()).toEqual(['tenant_detach running', ...created])
  await settle()
  expect(await statusesOf()).toEqual(['tenant_detach finished', ...created])
  for (const { id } of operations) {
    const { body } = await call('GET', `${path}/operations/${id}`)
    expect(body.operation).toMatchObject({ status: 'cancelled', total_duration_ms: expect.any(Number) })
  }
})

test('a project that was deleted while a branch was created can be recovered at once, with the branch', async () => {
  const { call, settle } = await openSandbox()
  const { project } = (await call('POST', '/projects', { project: {} })).body
  const path = `/projects/${project.id}`
  await settle()
  await call('POST', `${path}/branches`, { branch: { name: 'dev' }, endpoints: [{ type: 'read_write' }] })
  await call('DELETE', path)
  expect((await call('POST', `${path}/recover`)).status).toBe(200)
  expect((await call('POST', `${path}/branches`, {})).status).toBe(423)
  await settle()
  const { branches } = (await call('GET', `${path}/branches`)).body
  expect(branches.map(({ current_state }: { current_state: string }) => current_state)).toEqual(['ready', 'ready'])
  const { endpoints } = (await call('GET', `${path}/endpoints`)).body
  expect(endpoints).toMatchObject([{ current_state: 'idle' }, { current_state: 'idle' }])
  expect((await call('POST', `${path}/endpoints/${endpoints[1].id}/start`)).status).toBe(200)
})

test('a branch can be renamed, protected and set to expire', async () => {
  const { call } = await openSandbox()
  const path = `${P}/branches/${STAGING}`
  const end = '2026-01-31T00:00:00Z'
  const changed = await call('PATCH', path, { branch: { name: 'qa', expires_at: end } })
  expect(changed).toMatchObject({ status: 200, body: { branch: { name: 'qa', expires_at: end }, operations: [] } })
  expect((await call('PATCH', path, { branch: { expires_at: null } })).body.branch).not.toHaveProperty('expires_at')
  expect((await call('PATCH', path, { branch: { protected: true } })).body.branch).toMatchObject({ protected: true })
  expect(await call('PATCH', path, { branch: { name: 'qa' } })).toMatchObject({
    status: 400,
    body: { message: 'cannot set branch to the same name' },
  })
  expect((await call('PATCH', path, { branch: { name: 'main' } })).status).toBe(409)
  expect((await call('PATCH', `${P}/branches/br-none`, { branch: { name: 'x' } })).status).toBe(404)
})

test('another branch can become the default', async () => {
  const { call } = await openSandbox()
  expect((await call('POST', `${P}/branches/${STAGING}/set_as_default`)).body.branch).toMatchObject({ default: true })
  const { branches } = (await call('GET', `${P}/branches`)).body
  const defaults = branches.filter((branch: { default: boolean }) => branch.default)
  expect(defaults.map(({ id }: { id: string }) => id)).toEqual([STAGING])
  expect((await call('DELETE', `${P}/branches/${EMPTY}`)).status).toBe(200)
})

test.each([
  [`${P}/branches/count`, { count: 4 }],
  [`${P}/branches/count?search=sta`, { count: 1 }],
  [`${P}/branches/${MAIN}/roles`, { roles: [{ name: 'neondb_owner', branch_id: MAIN }] }],
  [`${P}/branches/${MAIN}/databases`, { databases: [{ name: 'neondb', owner_name: 'neondb_owner' }] }],
  ['/projects/shared', { projects: [] }],
  ['/users/me', { id: 'sandbox' }],
  ['/users/me/organizations', { organizations: [] }],
])('GET %s returns %j', async (path, body) => {
  const { call } = await openSandbox()
  expect(await call('GET', path)).toMatchObject({ status: 200, body })
})

test('the libraries can be listed', async () => {
  const { call } = await openSandbox()
  const { libraries } = (await call('GET', `${P}/available_preload_libraries`)).body
  expect(libraries).toContainEqual(expect.objectContaining({ library_name: 'pg_stat_statements', is_default: true }))
})

test('a 423 response names the running operation', async () => {
  const { call } = await openSandbox()
  const { body } = await call('POST', `${P}/endpoints/${IDLE}/start`)
  expect((await call('POST', `${P}/endpoints/${IDLE}/start`)).body.message).toBe(
    'project already has running conflicting operations, scheduling of new ones is prohibited: ' +
      `start_compute of ${IDLE} is running (operation ${body.operations[0].id})`,
  )
})

/** The service's official npm clients, unmodified, call every served route of the sandbox. */
import { createNeonClient, raw } from '@neon/sdk'
import { createApiClient, EndpointType } from '@neondatabase/api-client'
import { expect, onTestFinished, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { OPERATIONS } from '../sandbox/openapi.ts'
import { operationIdOf } from './official.ts'

const PROJECT = 'quiet-river-12345678'
const MAIN = 'br-calm-lake-a0000001'
const PRIMARY = 'ep-calm-lake-a0000001'
/** Operations that need real computes: test/long/catalog.test.ts tests them. */
const REAL_ONLY = new Set(['getProjectBranchSchema', 'getProjectBranchSchemaComparison'])
/** The served operations, except those that always return an error. */
const SERVED = OPERATIONS.filter(({ operation }) => Object.keys(operation.responses).some((status) => status < '3'))
  .map(({ operation }) => operation.operationId)
  .sort()

const open = async (): Promise<Sandbox> => {
  const sandbox = await startSandbox({
    // Fast, so that waiting for operations takes almost no real time.
    timeScale: 1_000,
    background: false,
    seed: {
      projects: [
        {
          id: PROJECT,
          org: 'org-acme',
          operations: 5,
          branches: [{ id: MAIN, name: 'main', computes: [{ id: PRIMARY, size: 1, scaleToZero: 'never' }] }],
        },
      ],
    },
  })
  onTestFinished(() => sandbox.close())
  return sandbox
}

test('@neondatabase/api-client can call every route', async () => {
  const sandbox = await open()
  const api = createApiClient({ apiKey: sandbox.apiKey, baseURL: sandbox.apiUrl })
  const called = new Set<string>()
  api.instance.interceptors.response.use((response) => {
    called.add(operationIdOf((response.config.method ?? '').toUpperCase(), String(response.config.url)))
    return response
  })
  const settle = async (operations: readonly { id: string; project_id: string }[]): Promise<void> => {
    for (const { id, project_id } of operations) {
      await expect
        .poll(async () => (await api.getProjectOperation(project_id, id)).data.operation.status)
        .toBe('finished')
    }
  }

  expect((await api.getAuthDetails()).data.auth_method).toBe('api_key_user')
  expect((await api.getCurrentUserInfo()).data.login).toBe('sandbox')
  expect((await api.getCurrentUserOrganizations()).data.organizations).toMatchObject([{ id: 'org-acme' }])
  expect((await api.getActiveRegions({})).data.regions.length).toBeGreaterThan(5)
  expect((await api.listProjects({})).data.projects).toMatchObject([{ id: PROJECT }])
  expect((await api.listSharedProjects({})).data.projects).toEqual([])
  expect((await api.getProject(PROJECT)).data.project.org_id).toBe('org-acme')
  expect((await api.getAvailablePreloadLibraries(PROJECT)).data.libraries?.length).toBeGreaterThan(1)
  await settle((await api.updateProject(PROJECT, { project: { history_retention_seconds: 7_200 } })).data.operations)

  const made = await api.createProjectBranch(PROJECT, {
    branch: { name: 'dev', parent_id: MAIN },
    // Scale to zero is off: on this fast clock, its five minutes pass in a third of a second.
    endpoints: [
      {
        type: EndpointType.ReadWrite,
        autoscaling_limit_min_cu: 0.5,
        autoscaling_limit_max_cu: 1,
        suspend_timeout_seconds: -1,
      },
    ],
  })
  const { branch } = made.data
  await settle(made.data.operations)
  expect(
    (await api.listProjectBranches({ projectId: PROJECT, sort_by: 'name', sort_order: 'asc' })).data.branches,
  ).toMatchObject([{ name: 'dev' }, { name: 'main' }])
  expect((await api.countProjectBranches({ projectId: PROJECT })).data.count).toBe(2)
  expect((await api.getProjectBranch(PROJECT, branch.id)).data.branch.parent_id).toBe(MAIN)
  await api.updateProjectBranch(PROJECT, branch.id, { branch: { name: 'development' } })
  await api.setDefaultProjectBranch(PROJECT, branch.id)
  await api.setDefaultProjectBranch(PROJECT, MAIN)
  const restored = await api.restoreProjectBranch(PROJECT, branch.id, { source_branch_id: MAIN })
  await settle(restored.data.operations)

  const sally = await api.createProjectBranchRole(PROJECT, MAIN, { role: { name: 'sally' } })
  await settle(sally.data.operations)
  expect((await api.listProjectBranchRoles(PROJECT, MAIN)).data.roles).toHaveLength(2)
  expect((await api.getProjectBranchRole(PROJECT, MAIN, 'sally')).data.role.protected).toBe(false)
  const { password } = (await api.getProjectBranchRolePassword(PROJECT, MAIN, 'sally')).data
  expect(password).toBe(sally.data.role.password)
  await settle((await api.resetProjectBranchRolePassword(PROJECT, MAIN, 'sally')).data.operations)
  const store = { database: { name: 'store', owner_name: 'sally' } }
  await settle((await api.createProjectBranchDatabase(PROJECT, MAIN, store)).data.operations)
  expect((await api.listProjectBranchDatabases(PROJECT, MAIN)).data.databases).toHaveLength(2)
  expect((await api.getProjectBranchDatabase(PROJECT, MAIN, 'store')).data.database.owner_name).toBe('sally')
  const renamed = { database: { name: 'shop' } }
  await settle((await api.updateProjectBranchDatabase(PROJECT, MAIN, 'store', renamed)).data.operations)
  const login = { projectId: PROJECT, role_name: 'sally', database_name: 'shop' }
  expect((await api.getConnectionUri(login)).data.uri).toMatch(/^postgresql:\/\/sally:/)
  const schema = { projectId: PROJECT, branchId: MAIN, db_name: 'shop' }
  await expect(api.getProjectBranchSchema(schema)).rejects.toMatchObject({ status: 501 })
  const compared = { ...schema, base_branch_id: MAIN }
  await expect(api.getProjectBranchSchemaComparison(compared)).rejects.toMatchObject({ status: 501 })
  await settle((await api.deleteProjectBranchDatabase(PROJECT, MAIN, 'shop')).data.operations)
  await settle((await api.deleteProjectBranchRole(PROJECT, MAIN, 'sally')).data.operations)
  expect((await api.listProjectBranchEndpoints(PROJECT, branch.id)).data.endpoints).toMatchObject([
    { autoscaling_limit_min_cu: 0.5 },
  ])

  const replica = await api.createProjectEndpoint(PROJECT, {
    endpoint: { branch_id: MAIN, type: EndpointType.ReadOnly, suspend_timeout_seconds: -1 },
  })
  const { id } = replica.data.endpoint
  await settle(replica.data.operations)
  expect((await api.listProjectEndpoints(PROJECT)).data.endpoints).toHaveLength(3)
  await settle(
    (await api.updateProjectEndpoint(PROJECT, id, { endpoint: { autoscaling_limit_max_cu: 4 } })).data.operations,
  )
  await settle((await api.restartProjectEndpoint(PROJECT, id)).data.operations)
  await settle((await api.suspendProjectEndpoint(PROJECT, id)).data.operations)
  await settle((await api.startProjectEndpoint(PROJECT, id)).data.operations)
  expect((await api.getProjectEndpoint(PROJECT, id)).data.endpoint.current_state).toBe('active')
  await settle((await api.deleteProjectEndpoint(PROJECT, id)).data.operations)
  expect((await api.deleteProjectEndpoint(PROJECT, id)).status).toBe(204)
  await settle((await api.deleteProjectBranch({ projectId: PROJECT, branchId: branch.id })).data.operations)
  expect((await api.listProjectOperations({ projectId: PROJECT, limit: 3 })).data.operations).toHaveLength(3)

  const fresh = await api.createProject({ project: { name: 'fresh' } })
  await settle(fresh.data.operations)
  await api.deleteProject(fresh.data.project.id)
  await expect
    .poll(async () => (await api.recoverProject(fresh.data.project.id).catch(() => undefined))?.data.project.name)
    .toBe('fresh')

  const mine = (await api.createApiKey({ key_name: 'laptop' })).data
  expect((await api.listApiKeys()).data).toMatchObject([{ id: mine.id, name: 'laptop', last_used_at: null }])
  expect((await api.revokeApiKey(mine.id)).data.revoked).toBe(true)
  expect((await api.getOrganization('org-acme')).data.id).toBe('org-acme')
  const scoped = (await api.createOrgApiKey('org-acme', { key_name: 'ci', project_id: PROJECT })).data
  expect((await api.listOrgApiKeys('org-acme')).data).toMatchObject([{ id: scoped.id, project_id: PROJECT }])
  expect((await api.revokeOrgApiKey('org-acme', scoped.id)).data.project_id).toBe(PROJECT)
  expect([...called].sort()).toEqual(SERVED.filter((id) => !REAL_ONLY.has(id)))
})

test('@neon/sdk can call every route, waits for operations, and recognizes the errors', async () => {
  const sandbox = await open()
  const called = new Set<string>()
  const watching: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    called.add(operationIdOf(request.method, new URL(request.url).pathname.replace('/api/v2', '')))
    return fetch(request)
  }
  const neon = createNeonClient({
    apiKey: sandbox.apiKey,
    baseUrl: sandbox.apiUrl,
    fetch: watching,
    throwOnError: true,
    waitForReadiness: true,
    wait: { pollIntervalMs: 5, timeoutMs: 10_000 },
  })
  const { client } = neon
  const projectId = PROJECT

  expect(await neon.projects.list().all()).toMatchObject([{ id: PROJECT }])
  expect(await neon.projects.get({ projectId })).toMatchObject({ id: PROJECT })
  // Scale to zero is off: on this fast clock, its five minutes pass in a third of a second.
  await neon.projects.update({ projectId, default_endpoint_settings: { suspend_timeout_seconds: -1 } })
  const branch = await neon.branches.create({ projectId, name: 'dev' })
  const page = await neon.branches.list({ projectId }).all()
  expect(page.map(({ name }) => name).sort()).toEqual(['dev', 'main'])
  const endpoints = neon.postgres.endpoints
  expect(await endpoints.list({ projectId })).not.toHaveLength(0)
  const made = await endpoints.create({ projectId, branch_id: MAIN, type: 'read_only', autoscaling_limit_max_cu: 1 })
  const at = { projectId, endpointId: made.id }
  expect(await endpoints.get(at)).toMatchObject({ current_state: 'active' })
  await endpoints.update({ ...at, suspend_timeout_seconds: 600 })
  await endpoints.restart(at)
  await endpoints.suspend(at)
  expect(await endpoints.get(at)).toMatchObject({ current_state: 'idle' })
  await endpoints.start(at)
  await endpoints.delete(at)
  expect((await neon.operations.list({ projectId }).all()).length).toBeGreaterThan(5)
  await neon.projects.update({ projectId, name: 'renamed' })
  const fresh = await neon.projects.create({ name: 'fresh' })
  await neon.projects.delete({ projectId: fresh.id })

  const path = { project_id: projectId }
  const ofBranch = { project_id: projectId, branch_id: branch.id }
  await raw.getAuthDetails({ client, throwOnError: true })
  await raw.getCurrentUserInfo({ client, throwOnError: true })
  await raw.getCurrentUserOrganizations({ client, throwOnError: true })
  await raw.getActiveRegions({ client, throwOnError: true })
  await raw.listSharedProjects({ client, throwOnError: true })
  await raw.getAvailablePreloadLibraries({ client, path, throwOnError: true })
  await raw.countProjectBranches({ client, path, throwOnError: true })
  await raw.getProjectBranch({ client, path: ofBranch, throwOnError: true })
  await raw.updateProjectBranch({ client, path: ofBranch, body: { branch: { name: 'qa' } }, throwOnError: true })
  await raw.setDefaultProjectBranch({ client, path: ofBranch, throwOnError: true })
  await raw.setDefaultProjectBranch({ client, path: { ...path, branch_id: MAIN }, throwOnError: true })
  await raw.listProjectBranchEndpoints({ client, path: ofBranch, throwOnError: true })

  const inBranch = { projectId, branchId: MAIN }
  const { roles, databases } = neon.postgres
  const sally = { ...inBranch, roleName: 'sally' }
  await roles.create({ ...inBranch, name: 'sally' })
  expect(await roles.list(inBranch)).toHaveLength(2)
  expect(await roles.get(sally)).toMatchObject({ name: 'sally' })
  const before = await roles.password(sally)
  await roles.resetPassword(sally)
  expect(await roles.password(sally)).not.toBe(before)
  await databases.create({ ...inBranch, name: 'store', owner_name: 'sally' })
  expect(await databases.list(inBranch)).toHaveLength(2)
  expect(await databases.get({ ...inBranch, databaseName: 'store' })).toMatchObject({ owner_name: 'sally' })
  await databases.update({ ...inBranch, databaseName: 'store', name: 'shop' })
  const uri = await neon.postgres.connectionString({ ...inBranch, roleName: 'sally', databaseName: 'shop' })
  expect(uri).toMatch(/^postgresql:\/\/sally:/)
  await databases.delete({ ...inBranch, databaseName: 'shop' })
  await roles.delete(sally)
  const schema = { client, path: { ...path, branch_id: MAIN } }
  expect((await raw.getProjectBranchSchema({ ...schema, query: { db_name: 'neondb' } })).error).toMatchObject({
    message: expect.stringContaining('simulates this compute'),
  })
  const compared = { db_name: 'neondb', base_branch_id: MAIN }
  expect((await raw.getProjectBranchSchemaComparison({ ...schema, query: compared })).error).toBeDefined()
  await raw.restoreProjectBranch({ client, path: ofBranch, body: { source_branch_id: MAIN }, throwOnError: true })
  await neon.branches.delete({ projectId, branchId: branch.id })
  await raw.recoverProject({ client, path: { project_id: fresh.id }, throwOnError: true })
  const org = { org_id: 'org-acme' }
  await raw.getOrganization({ client, path: org, throwOnError: true })
  const mine = await raw.createApiKey({ client, body: { key_name: 'laptop' }, throwOnError: true })
  await raw.listApiKeys({ client, throwOnError: true })
  await raw.revokeApiKey({ client, path: { key_id: mine.id }, throwOnError: true })
  const theirs = await raw.createOrgApiKey({ client, path: org, body: { key_name: 'ci' }, throwOnError: true })
  await raw.listOrgApiKeys({ client, path: org, throwOnError: true })
  await raw.revokeOrgApiKey({ client, path: { ...org, key_id: theirs.id }, throwOnError: true })
  expect([...called].sort()).toEqual(SERVED)

  const told = await neon.projects.get({ projectId: 'nobody' }, { throwOnError: false })
  expect(told.error).toMatchObject({ kind: 'not_found', status: 404 })
  const stranger = createNeonClient({ apiKey: 'wrong', baseUrl: sandbox.apiUrl })
  expect((await stranger.projects.get({ projectId })).error).toMatchObject({ kind: 'auth', status: 401 })
})

/** POST and PATCH /projects. */
import { expect, test } from 'vitest'
import { openSandbox, operationsOf, P, PRIMARY } from './open-sandbox.ts'

const SETTINGS = {
  quota: { active_time_seconds: 100, logical_size_bytes: 30_000 },
  allowed_ips: { ips: ['192.0.2.1', '198.51.100.0/24'], protected_branches_only: true },
  enable_logical_replication: true,
  maintenance_window: { weekdays: [1, 3], start_time: '02:00', end_time: '04:30' },
  block_public_connections: true,
  block_vpc_connections: true,
  audit_log_level: 'extended',
  hipaa: true,
  preload_libraries: { enabled_libraries: ['pg_cron'] },
}

test('a new project has the requested attributes, and the response shows everything that was created', async () => {
  const { call, settle } = await openSandbox()
  const asked = {
    name: 'books',
    pg_version: 16,
    region_id: 'aws-us-west-2',
    history_retention_seconds: 100,
    branch: { name: 'prod', role_name: 'app-role', database_name: 'app' },
    default_endpoint_settings: {
      autoscaling_limit_min_cu: 0.5,
      autoscaling_limit_max_cu: 4,
      suspend_timeout_seconds: 90,
      pg_settings: { work_mem: '8MB' },
    },
    settings: SETTINGS,
  }
  const { status, body } = await call('POST', '/projects', { project: asked })
  const { branch: _branch, ...shown } = asked
  expect({ status, body }).toMatchObject({
    status: 201,
    body: {
      project: { ...shown, store_passwords: true },
      branch: { name: 'prod', default: true },
      endpoints: [
        {
          autoscaling_limit_min_cu: 0.5,
          autoscaling_limit_max_cu: 4,
          suspend_timeout_seconds: 90,
          settings: { pg_settings: { work_mem: '8MB' } },
        },
      ],
      roles: [{ name: 'app-role', branch_id: body.branch.id, password: expect.any(String) }],
      databases: [{ name: 'app', owner_name: 'app-role' }],
    },
  })
  const { password } = body.roles[0]
  const { host } = body.endpoints[0]
  expect(body.connection_uris).toEqual([
    {
      connection_uri: `postgresql://app-role:${password}@${host}/app?sslmode=require`,
      connection_parameters: {
        database: 'app',
        role: 'app-role',
        password,
        host,
        pooler_host: host.replace(/^([^.]+)/, '$1-pooler'),
      },
    },
  ])
  await settle()
  expect((await call('GET', `/projects/${body.project.id}`)).body.project).toMatchObject(shown)
})

test('a new project has a role, a database, Postgres 17 and complete settings by default', async () => {
  const { call } = await openSandbox()
  const { body } = await call('POST', '/projects', { project: {} })
  expect(body).toMatchObject({
    project: {
      pg_version: 17,
      settings: {
        quota: {},
        allowed_ips: { ips: [], protected_branches_only: false },
        enable_logical_replication: false,
        hipaa: false,
        block_public_connections: false,
        block_vpc_connections: false,
      },
    },
    roles: [{ name: 'neondb_owner' }],
    databases: [{ name: 'neondb', owner_name: 'neondb_owner' }],
  })
  expect((await call('GET', P)).body.project.settings.allowed_ips).toEqual({ ips: [], protected_branches_only: false })
})

test('updating a project changes only the given fields', async () => {
  const { call } = await openSandbox()
  await call('PATCH', P, {
    project: { settings: { allowed_ips: { ips: ['192.0.2.1'] }, quota: { active_time_seconds: 5 } } },
  })
  await call('PATCH', P, { project: { settings: { allowed_ips: { protected_branches_only: true } } } })
  expect((await call('GET', P)).body.project.settings).toMatchObject({
    allowed_ips: { ips: ['192.0.2.1'], protected_branches_only: true },
    quota: { active_time_seconds: 5 },
  })
})

test('enabling logical replication suspends running computes, and neither it nor HIPAA can be disabled', async () => {
  const { call, settle } = await openSandbox()
  const on = await call('PATCH', P, { project: { settings: { enable_logical_replication: true, hipaa: true } } })
  expect(operationsOf(on)[0]).toBe('suspend_compute running')
  await settle()
  expect((await call('GET', `${P}/endpoints/${PRIMARY}`)).body.endpoint.current_state).toBe('idle')
  for (const [name, message] of [
    ['enable_logical_replication', 'cannot be disabled'],
    ['hipaa', 'disabling HIPAA is not allowed'],
  ] as const) {
    expect(await call('PATCH', P, { project: { settings: { [name]: false } } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message) },
    })
  }
})

test.each([
  [{ pg_version: 13 }, 'project.pg_version: Postgres 13 is not available here; available: 14, 15, 16, 17, 18'],
  [{ store_passwords: false }, 'project.store_passwords: must be true: the sandbox always stores passwords'],
  [{ branch: { annotations: { a: 1 } } }, 'project.branch.annotations.a'],
  [{ branch: { role_name: 'pg_monitor' } }, 'project.branch.role_name: is a reserved name'],
  [{ branch: { database_name: 'é'.repeat(32) } }, 'project.branch.database_name: must have at most 63 bytes'],
  [
    { branch: { database_name: 'pg' } },
    'project.branch.role_name: is required: the default, pg_owner, is a reserved name',
  ],
  [{ branch: { database_name: 'd'.repeat(58) } }, 'must have at most 63 bytes'],
  [{ branch: { role_name: 'a\nb' } }, 'project.branch.role_name: must not contain control characters'],
  [
    { default_endpoint_settings: { pgbouncer_settings: {} } },
    'project.default_endpoint_settings.pgbouncer_settings: is not supported by the sandbox',
  ],
  [{ settings: { allowed_ips: { ips: ['everyone'] } } }, 'project.settings.allowed_ips.ips[0]: must be an IP address'],
  [
    { settings: { quota: { active_time_seconds: -1 } } },
    'project.settings.quota.active_time_seconds: must be at least 0',
  ],
  [
    { settings: { maintenance_window: { weekdays: [8], start_time: '04:00', end_time: '05:00' } } },
    'project.settings.maintenance_window.weekdays[0]: must be at most 7',
  ],
  [{ region_id: 'Not A Region' }, 'project.region_id: must have 1 to 60 lower-case letters'],
])('creating a project with %j is rejected and creates nothing', async (project, message) => {
  const { call } = await openSandbox()
  expect(await call('POST', '/projects', { project })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining(message) },
  })
  expect((await call('GET', '/projects')).body.projects).toHaveLength(2)
})

test('a project can be created only in a region of the service, and its hosts are in that region', async () => {
  const { call } = await openSandbox()
  const { regions } = (await call('GET', '/regions')).body
  expect(regions.map(({ region_id }: { region_id: string }) => region_id)).toContain('azure-gwc')
  const made = (await call('POST', '/projects', { project: { region_id: 'azure-gwc' } })).body
  expect(made).toMatchObject({
    project: { platform_id: 'azure' },
    endpoints: [{ host: expect.stringMatching(/^ep-[^.]+\.gwc\.azure\.neon\.tech$/) }],
  })
  expect(await call('POST', '/projects', { project: { region_id: 'aws-nowhere-1' } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('project.region_id: aws-nowhere-1 is not a region') },
  })
})

import { expect, test } from 'vitest'
import { type Answer, EMPTY, IDLE, MAIN, openSandbox, P, PRIMARY, REPLICA, sharedSandbox } from './open-sandbox.ts'

const shared = sharedSandbox()
const refusal = ({ status, body: { code, message } }: Answer) => ({ status, code, message })

test.each([
  ['GET', '/projects'],
  ['GET', `${P}/endpoints`],
  ['POST', `${P}/endpoints`],
  ['DELETE', `${P}/endpoints/${PRIMARY}`],
])('%s %s without a valid key returns 401', async (method, path) => {
  const { call, sandbox } = shared()
  for (const authorization of ['', 'Bearer wrong', 'Basic abc', sandbox.apiKey]) {
    const answer = await call(method, path, undefined, { authorization })
    expect(refusal(answer)).toEqual({
      status: 401,
      code: '',
      message: 'supplied credentials do not pass authentication',
    })
  }
  expect((await call('GET', `${P}/endpoints/${PRIMARY}`)).status).toBe(200)
})

test('a request id sent by the client is returned in the header and in error bodies', async () => {
  const { call } = shared()
  const chosen = await call('GET', '/projects/nowhere', undefined, { 'x-request-id': 'mine-1' })
  expect(chosen.body).toEqual({ request_id: 'mine-1', code: '', message: 'project not found' })
  expect(chosen.headers.get('x-neon-ret-request-id')).toBe('mine-1')
  const made = await call('GET', '/projects/nowhere')
  expect(made.body.request_id).toMatch(/^[0-9a-f-]{36}$/)
  expect(made.headers.get('x-neon-ret-request-id')).toBe(made.body.request_id)
  expect((await call('GET', '/projects')).headers.get('x-neon-ret-request-id')).toMatch(/^[0-9a-f-]{36}$/)
})

test.each([
  ['GET', `${P}/endpoints/%E0%A4%A`, 'endpoint not found'],
  ['GET', '/projects/nowhere', 'project not found'],
  ['GET', '/projects/nowhere/branches', 'project not found'],
  ['GET', '/projects/nowhere/endpoints', 'project not found'],
  ['GET', '/projects/nowhere/operations', 'project not found'],
  ['GET', `${P}/branches/br-none`, 'branch not found'],
  ['GET', `${P}/branches/br-none/endpoints`, 'branch not found'],
  ['GET', `${P}/endpoints/ep-none`, 'endpoint not found'],
  ['PATCH', `${P}/endpoints/ep-none`, 'endpoint not found'],
  ['POST', `${P}/endpoints/ep-none/start`, 'endpoint not found'],
  ['GET', `${P}/operations/none`, 'operation not found'],
  ['GET', `/projects/tiny-pond-00000001/endpoints/${PRIMARY}`, 'endpoint not found'],
])('%s %s returns 404 with the message: %s', async (method, path, message) => {
  const { call } = shared()
  expect(refusal(await call(method, path, method === 'PATCH' ? { endpoint: {} } : undefined))).toEqual({
    status: 404,
    code: '',
    message,
  })
})

// promise: shell-on-postgres
test.each([
  ['POST', `${P}/endpoints`, '{', 'request body is not valid JSON'],
  ['POST', `${P}/endpoints`, '', 'endpoint'],
  ['POST', `${P}/endpoints`, '[]', 'request body'],
  ['POST', `${P}/endpoints`, { endpoint: { type: 'read_write' } }, 'endpoint.branch_id'],
  ['POST', `${P}/endpoints`, { endpoint: { branch_id: EMPTY } }, 'endpoint.type'],
  ['POST', `${P}/endpoints`, { endpoint: { branch_id: EMPTY, type: 'replica' } }, 'endpoint.type'],
  ['POST', `${P}/endpoints`, { endpoint: { branch_id: EMPTY, type: 'read_only', region_id: 'x' } }, 'region_id'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, {}, 'endpoint'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { name: '' } }, 'endpoint.name'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { name: 'n'.repeat(65) } }, 'endpoint.name'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { disabled: 'yes' } }, 'endpoint.disabled'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { pooler_mode: 'session' } }, 'endpoint.pooler_mode'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { provisioner: 'vm' } }, 'endpoint.provisioner'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { settings: { pg_settings: { a: 1 } } } }, 'pg_settings.a'],
  ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { settings: {} } }, 'settings must not be nil'],
  [
    'POST',
    `${P}/endpoints`,
    {
      endpoint: { branch_id: EMPTY, type: 'read_only', settings: { preload_libraries: { enabled_libraries: ['a'] } } },
    },
    'settings must not be nil',
  ],
  [
    'PATCH',
    `${P}/endpoints/${PRIMARY}`,
    { endpoint: { settings: { pgbouncer_settings: {} } } },
    'endpoint.settings.pgbouncer_settings: is not supported by the sandbox',
  ],
  ...[
    'archive_command',
    'Local_Preload_Libraries',
    'jit_provider',
    'include_dir',
    'hba_file',
    'plperl.on_init',
  ].flatMap((name): [string, string, object, string][] => [
    ['PATCH', `${P}/endpoints/${PRIMARY}`, { endpoint: { settings: { pg_settings: { [name]: 'x' } } } }, name],
    ['PATCH', P, { project: { default_endpoint_settings: { pg_settings: { [name]: 'x' } } } }, name],
  ]),
  ['POST', `${P}/branches`, { branch: { name: '' } }, 'branch.name'],
  ['POST', `${P}/branches`, { endpoints: [{}] }, 'endpoints[0].type'],
  ['GET', `${P}/operations?limit=0`, undefined, 'limit'],
  ['GET', `${P}/operations?limit=1001`, undefined, 'limit'],
  ['GET', `${P}/operations?cursor=yesterday`, undefined, 'cursor'],
  ['GET', `${P}/branches?sort_by=size`, undefined, 'sort_by'],
  ['GET', `${P}/branches?sort_order=up`, undefined, 'sort_order'],
  ['GET', `${P}/branches?cursor=x`, undefined, 'cursor'],
  ['GET', '/projects?limit=401', undefined, 'limit'],
])('%s %s with %j returns 400 and names %s', async (method, path, body, field) => {
  const { call } = shared()
  const answer = await call(method, path, body)
  expect(refusal(answer)).toEqual({ status: 400, code: '', message: expect.stringContaining(field) })
})

// promise: keyless-client
test('a request body over 1 MiB is rejected', async () => {
  const { call, sandbox } = shared()
  expect(await call('PATCH', `${P}/endpoints/${PRIMARY}`, ' '.repeat(2 ** 20 + 1))).toMatchObject({ status: 413 })
  // An endless body without a content length.
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
  const answer = await fetch(`${sandbox.apiUrl}${P}`, { method: 'PATCH', body: endless, duplex: 'half' } as RequestInit)
  expect(answer.status).toBe(413)
})

test("GET /auth reports the sandbox's default key as a personal key", async () => {
  const { call } = shared()
  expect(await call('GET', '/auth')).toMatchObject({ status: 200, body: { auth_method: 'api_key_user' } })
})

test('projects are listed by id with pagination, and can be searched', async () => {
  const ids = Array.from({ length: 25 }, (_, index) => `wide-field-${String(index).padStart(8, '0')}`)
  const { call } = await openSandbox({ seed: { projects: ids.map((id) => ({ id, branches: [{ name: 'main' }] })) } })
  const seen: string[] = []
  let cursor = ''
  for (;;) {
    const { body } = await call('GET', `/projects?limit=10&cursor=${cursor}`)
    seen.push(...body.projects.map(({ id }: { id: string }) => id))
    cursor = body.pagination.cursor
    if (body.projects.length < 10) break
  }
  expect(seen).toEqual(ids)
  expect((await call('GET', '/projects')).body.projects).toHaveLength(10)
  const found = await call('GET', '/projects?search=0017')
  expect(found.body.projects).toMatchObject([{ id: ids[17], name: ids[17] }])
})

test("GET returns a project's name, region and default compute settings", async () => {
  const { call } = shared()
  expect(await call('GET', P)).toMatchObject({
    status: 200,
    body: {
      project: {
        id: 'quiet-river-12345678',
        name: 'shop',
        region_id: 'aws-eu-central-1',
        default_endpoint_settings: {
          autoscaling_limit_min_cu: 0.25,
          autoscaling_limit_max_cu: 2,
          suspend_timeout_seconds: 0,
        },
      },
    },
  })
})

test('GET returns all documented fields of a compute', async () => {
  const { call } = shared()
  const { body } = await call('GET', `${P}/endpoints/${REPLICA}`)
  expect(body.endpoint).toEqual({
    id: REPLICA,
    host: `${REPLICA}.eu-central-1.aws.neon.tech`,
    proxy_host: 'eu-central-1.aws.neon.tech',
    project_id: 'quiet-river-12345678',
    branch_id: expect.stringMatching(/^br-/),
    region_id: 'aws-eu-central-1',
    type: 'read_only',
    name: 'reporting',
    current_state: 'active',
    autoscaling_limit_min_cu: 2,
    autoscaling_limit_max_cu: 2,
    settings: { pg_settings: {} },
    pooler_enabled: false,
    pooler_mode: 'transaction',
    disabled: false,
    passwordless_access: true,
    creation_source: 'console',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    started_at: '2026-01-01T00:00:00Z',
    last_active: '2026-01-01T00:00:00Z',
    suspend_timeout_seconds: -1,
    provisioner: 'k8s-neonvm',
  })
})

test('computes can be listed for the project and for a branch', async () => {
  const { call } = shared()
  const idsAt = async (path: string) =>
    (await call('GET', path)).body.endpoints.map(({ id }: { id: string }) => id).sort()
  expect(await idsAt(`${P}/endpoints`)).toHaveLength(4)
  expect(await idsAt(`${P}/branches/${MAIN}/endpoints`)).toEqual([PRIMARY])
  expect(await idsAt(`${P}/branches/${EMPTY}/endpoints`)).toEqual([])
  expect((await call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint).toMatchObject({
    current_state: 'idle',
    suspended_at: '2026-01-01T00:00:00Z',
  })
})

test('each request is counted, reported to onRequest, and logged', async () => {
  const lines: string[] = []
  const told: string[] = []
  const { call, sandbox } = await openSandbox({
    log: (line) => lines.push(line),
    onRequest: (...request) => told.push(request.join(' ')),
  })
  await call('GET', '/projects?limit=1')
  await call('POST', `${P}/endpoints/${IDLE}/start`)
  expect(sandbox.requests).toBe(2)
  expect(told).toEqual(['GET /api/v2/projects 200', `POST /api/v2${P}/endpoints/${IDLE}/start 200`])
  expect(lines).toEqual([
    told[0],
    expect.stringMatching(new RegExp(`^operation  \\S+  quiet-river-12345678  start_compute  ${IDLE}  running$`)),
    told[1],
  ])
})

test('requests over the published rate limits return 429 until enough time has passed', async () => {
  const { call, clock } = await openSandbox({ rateLimits: true })
  const statuses = async (count: number, path: string) =>
    (await Promise.all(Array.from({ length: count }, () => call('GET', path)))).map(({ status }) => status)
  expect((await statuses(41, P)).filter((status) => status === 429)).toHaveLength(1)
  expect(await statuses(1, '/projects')).toEqual([200])
  await clock.advance(1_000)
  expect(await statuses(40, P)).not.toContain(429)
})

test('requests are not rate-limited by default', async () => {
  const { call } = shared()
  const answers = await Promise.all(Array.from({ length: 45 }, () => call('GET', P)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
})

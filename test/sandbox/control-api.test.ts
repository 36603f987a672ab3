/** What the control API's documentation says (test/control-api.yaml), with both kinds of computes. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SIZE_TABLE } from '../../src/model/index.ts'
import { manualClock, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { isOver } from '../../src/sandbox/world/records.ts'
import { POSTGRES_BIN } from '../e2e/real-computes.ts'
import { part } from '../long-runs.ts'
import { type Answer, type Call, caller, operationsOf } from './open-sandbox.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const SEED: SandboxOptions['seed'] = {
  projects: [
    {
      id: 'shop',
      org: 'org-acme',
      branches: [
        { id: 'br-main', name: 'main', computes: [{ id: 'ep-main', size: 0.25, scaleToZero: 'never', state: 'idle' }] },
        { id: 'br-bare', name: 'bare', parent: 'main' },
        { id: 'br-other', name: 'other', computes: [{ id: 'ep-other', size: 0.25, disabled: true }] },
      ],
    },
    { id: 'free', plan: 'free', branches: [{ id: 'br-free', name: 'main' }] },
    { id: 'elsewhere', branches: [{ id: 'br-else', name: 'main' }] },
  ],
  keys: [
    { kind: 'personal', key: 'key-personal' },
    { kind: 'organization', org: 'org-acme', key: 'key-organization' },
    { kind: 'project', project: 'shop', key: 'key-project' },
  ],
}

// By default with simulated computes only, because the tests of real computes rely on the same rules.
describe.each(part(['simulated', 'postgres'] as const, 2))('%s', (kind) => {
  let sandbox: Sandbox
  let call: Call
  beforeAll(async () => {
    sandbox = await startSandbox(
      kind === 'simulated'
        ? { seed: SEED, clock: manualClock() }
        : { seed: SEED, computes: { kind, bin: POSTGRES_BIN } },
    )
    // Only the tests let time pass.
    sandbox.clock.scale = 0
    call = caller(sandbox)
  })
  afterAll(() => sandbox.close())

  /** Lets time pass, and real computes work, until something is true. */
  const passUntil = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isDone())) {
      await sandbox.clock.advance(100)
      if (kind === 'postgres') await pause(10)
    }
  }
  const settle = (): Promise<void> =>
    passUntil(() =>
      sandbox.control.dump().changes.every((one) => !('put' in one) || one.put.kind !== 'operation' || isOver(one.put)),
    )
  const settled = async (method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await call(method, path, body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    await settle()
    return answer
  }
  const endpoint = async (id: string) => (await call('GET', `/projects/shop/endpoints/${id}`)).body.endpoint
  const operation = async (id: string) => (await call('GET', `/projects/shop/operations/${id}`)).body.operation
  const actions = async (): Promise<readonly string[]> =>
    (await call('GET', '/projects/shop/operations?limit=1000')).body.operations.map(
      ({ action }: { action: string }) => action,
    )
  /** A connection like an application's, as soon as the compute runs. */
  const connect = async (id: string): Promise<string> => {
    const opening = sandbox.control.connect(id)
    if (kind === 'simulated') await sandbox.clock.advance(5_000)
    return (await opening).id
  }
  const isOpen = (connection: string): boolean =>
    sandbox.control.connections().some(({ id, closedAt }) => id === connection && closedAt === undefined)
  const size = (min: number, max = min) => ({
    endpoint: { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max },
  })

  // control-api (both): version-in-path, bearer-key, three-keys
  test('every request needs one of the three kinds of keys', async () => {
    expect(new URL(sandbox.apiUrl).pathname).toBe('/api/v2')
    expect((await fetch(`${sandbox.apiUrl}/projects`)).status).toBe(401)
    const with_ = (key: string, path: string) => caller({ apiUrl: sandbox.apiUrl, apiKey: key })('GET', path)
    expect((await with_('key-nobody', '/projects/shop')).status).toBe(401)
    for (const key of ['key-personal', 'key-organization', 'key-project']) {
      expect((await with_(key, '/projects/shop')).status, key).toBe(200)
    }
    expect((await with_('key-personal', '/projects/elsewhere')).status).toBe(200)
    expect((await with_('key-organization', '/projects/elsewhere')).status).toBe(404)
    expect((await with_('key-project', '/projects/elsewhere')).status).toBe(403)
  })

  // control-api (both): project-contents, default-primary, create-timeline, operation-fields, operation-ids, operation-of-compute, duration-while-running, no-failures, compute-fields, compute-ids, host-below-proxy, region, never-active
  test('a new project has a branch with a database and a primary', async () => {
    const { body } = await call('POST', '/projects', { project: { name: 'new' } })
    const { id } = body.project
    const [compute] = body.endpoints
    expect(body.branch).toMatchObject({ id: expect.stringMatching(/^br-/), default: true })
    expect(body.databases).toMatchObject([{ branch_id: body.branch.id }])
    expect(compute).toEqual({
      id: expect.stringMatching(/^ep-[a-z]+-[a-z]+-[a-z0-9]{8}$/),
      host: `${compute.id}.${compute.proxy_host}`,
      proxy_host: expect.any(String),
      project_id: id,
      branch_id: body.branch.id,
      region_id: 'aws-eu-central-1',
      type: 'read_write',
      current_state: 'init',
      pending_state: 'active',
      autoscaling_limit_min_cu: 0.25,
      autoscaling_limit_max_cu: 2,
      settings: expect.any(Object),
      pooler_enabled: false,
      pooler_mode: 'transaction',
      disabled: false,
      passwordless_access: true,
      creation_source: 'console',
      created_at: expect.stringMatching(SECOND),
      updated_at: expect.stringMatching(SECOND),
      suspend_timeout_seconds: 0,
      provisioner: expect.any(String),
    })
    const common = {
      id: expect.stringMatching(UUID),
      project_id: id,
      branch_id: body.branch.id,
      failures_count: 0,
      created_at: expect.stringMatching(SECOND),
      updated_at: expect.stringMatching(SECOND),
      total_duration_ms: 0,
    }
    expect(body.operations).toEqual([
      { ...common, action: 'create_timeline', status: 'running' },
      { ...common, action: 'start_compute', status: 'scheduling', endpoint_id: compute.id },
    ])
    await settle()
    expect((await call('GET', `/projects/${id}/endpoints/${compute.id}`)).body.endpoint).toMatchObject({
      current_state: 'active',
      last_active: expect.stringMatching(SECOND),
    })
    await call('DELETE', `/projects/${id}`)
  })

  // control-api (both): create-compute, create-compute-minimal, create-compute-attributes, new-compute-state, new-compute-operation, operation-finishes, one-primary, many-replicas, replica-type, list-computes, pending-state
  test('a branch gets one primary, with a request that names only branch and type, and any number of replicas', async () => {
    const wanted = { branch_id: 'br-bare', type: 'read_write' }
    const made = await call('POST', '/projects/shop/endpoints', { endpoint: wanted })
    expect(made.body.endpoint).toMatchObject({ ...wanted, current_state: 'init', pending_state: 'active' })
    expect(made.body.endpoint).not.toHaveProperty('last_active')
    expect(operationsOf(made)).toEqual(['start_compute running'])
    await settle()
    const { id } = made.body.endpoint
    expect(await endpoint(id)).toMatchObject({ current_state: 'active', last_active: expect.any(String) })
    expect(await endpoint(id)).not.toHaveProperty('pending_state')
    expect((await operation(made.body.operations[0].id)).status).toBe('finished')
    expect((await call('POST', '/projects/shop/endpoints', { endpoint: wanted })).status).toBe(422)
    const replica = { branch_id: 'br-bare', type: 'read_only', pooler_enabled: true, ...size(0.25, 0.5).endpoint }
    const more = { suspend_timeout_seconds: 600, settings: { pg_settings: { work_mem: '8MB' } } }
    for (const attributes of [{}, more]) {
      const { body } = await settled('POST', '/projects/shop/endpoints', { endpoint: { ...replica, ...attributes } })
      expect(body.endpoint).toMatchObject({ ...replica, ...attributes })
    }
    const { endpoints } = (await call('GET', '/projects/shop/endpoints')).body
    const onBare = endpoints.filter(({ branch_id }: { branch_id: string }) => branch_id === 'br-bare')
    expect(onBare.map(({ type }: { type: string }) => type).sort()).toEqual(['read_only', 'read_only', 'read_write'])
    for (const { id: each } of onBare) await call('DELETE', `/projects/shop/endpoints/${each}`)
  })

  // control-api (both): create-branch, create-branch-statuses, answers-before-done, dependent-request, get-operation, apply-config-catalog, inspect-operations, connection-needs-compute
  test('a client polls the operations of a new branch before it creates a database there', async () => {
    const made = await call('POST', '/projects/shop/branches', { endpoints: [{ type: 'read_write' }] })
    expect(operationsOf(made)).toEqual(['create_branch running', 'start_compute scheduling'])
    const databases = `/projects/shop/branches/${made.body.branch.id}/databases`
    const wanted = { database: { name: 'orders', owner_name: 'neondb_owner' } }
    expect((await call('POST', databases, wanted)).status).toBe(423)
    await settle()
    for (const { id } of made.body.operations) expect(await operation(id)).toMatchObject({ id, status: 'finished' })
    expect(operationsOf(await settled('POST', databases, wanted))).toEqual(['apply_config running'])
    const update = { database: { name: 'invoices' } }
    expect(operationsOf(await settled('PATCH', `${databases}/orders`, update))[0]).toBe('apply_config running')
    expect(operationsOf(await settled('DELETE', `${databases}/invoices`))[0]).toBe('apply_config running')
    const roles = `/projects/shop/branches/${made.body.branch.id}/roles`
    expect(operationsOf(await settled('POST', roles, { role: { name: 'app' } }))[0]).toBe('apply_config running')
    expect(operationsOf(await settled('DELETE', `${roles}/app`))[0]).toBe('apply_config running')
    await settled('DELETE', `/projects/shop/endpoints/${made.body.endpoints[0].id}`)
    await expect(sandbox.control.connect(made.body.endpoints[0].id)).rejects.toThrow()
    await settled('DELETE', `/projects/shop/branches/${made.body.branch.id}`)
  })

  // control-api (both): suspends-when-inactive, suspend-operation, suspended-at, wakes-on-connection, start-call, scale-to-zero-off, own-operations, above-16-active
  test('a compute is suspended after five minutes without activity, and a connection or a request wakes it', async () => {
    await connect('ep-main')
    await sandbox.clock.advance(30 * MINUTE)
    await settle()
    expect((await endpoint('ep-main')).current_state).toBe('active')
    const large = { endpoint: { ...size(18).endpoint, suspend_timeout_seconds: 0 } }
    await settled('PATCH', '/projects/shop/endpoints/ep-main', large)
    await sandbox.clock.advance(30 * MINUTE)
    await settle()
    expect((await endpoint('ep-main')).current_state).toBe('active')
    await settled('PATCH', '/projects/shop/endpoints/ep-main', size(0.25))
    await connect('ep-main')
    await settle()
    await sandbox.clock.advance(4 * MINUTE)
    expect((await endpoint('ep-main')).current_state).toBe('active')
    await sandbox.clock.advance(2 * MINUTE)
    await expect.poll(async () => (await actions())[0]).toBe('suspend_compute')
    await settle()
    expect(await endpoint('ep-main')).toMatchObject({
      current_state: 'idle',
      suspended_at: expect.stringMatching(SECOND),
    })
    await connect('ep-main')
    await settle()
    expect((await actions())[0]).toBe('start_compute')
    expect((await endpoint('ep-main')).current_state).toBe('active')
    await settled('POST', '/projects/shop/endpoints/ep-main/suspend')
    expect(operationsOf(await settled('POST', '/projects/shop/endpoints/ep-main/start'))).toEqual([
      'start_compute running',
    ])
  })

  // control-api (both): restart-interrupts, restart-idle
  test('a restart interrupts connections, and needs an active compute', async () => {
    const open = await connect('ep-main')
    await settled('POST', '/projects/shop/endpoints/ep-main/restart')
    expect(isOpen(open)).toBe(false)
    expect((await endpoint('ep-main')).current_state).toBe('active')
    await settled('POST', '/projects/shop/endpoints/ep-main/suspend')
    expect((await call('POST', '/projects/shop/endpoints/ep-main/restart')).status).toBe(422)
    await settled('POST', '/projects/shop/endpoints/ep-main/start')
  })

  // control-api (both): resize-restarts, range-restarts, edits-at-once, apply-config-compute, update-compute
  test.each([
    ['fixed size', size(0.5), false],
    ['autoscaling minimum', size(0.25, 0.5), false],
    ['autoscaling maximum', size(0.25, 1), false],
    ['scale to zero', { endpoint: { suspend_timeout_seconds: -1 } }, true],
  ])('a new %s takes effect at once', async (_what, change, survives) => {
    const open = await connect('ep-main')
    const answer = await call('PATCH', '/projects/shop/endpoints/ep-main', change)
    expect(answer).toMatchObject({ status: 200, body: change })
    expect(operationsOf(answer)).toEqual(['apply_config running'])
    expect(await endpoint('ep-main')).toMatchObject(change.endpoint)
    await settle()
    expect(isOpen(open)).toBe(survives)
    sandbox.control.disconnect(open)
  })

  // control-api (both): move-compute, move-needs-free-branch, one-branch
  test('a compute moves to another branch without operations, unless both have a primary', async () => {
    const move = (id: string, branch_id: string) =>
      call('PATCH', `/projects/shop/endpoints/${id}`, { endpoint: { branch_id } })
    const { host } = await endpoint('ep-main')
    const moved = await move('ep-main', 'br-bare')
    expect(moved).toMatchObject({
      status: 200,
      body: { endpoint: { id: 'ep-main', branch_id: 'br-bare', host, current_state: 'active' }, operations: [] },
    })
    await settled('GET', '/projects/shop')
    expect((await call('GET', '/projects/shop/branches/br-main/endpoints')).body.endpoints).toEqual([])
    expect(await move('ep-other', 'br-bare')).toMatchObject({
      status: 422,
      body: { code: 'ENDPOINTS_LIMIT_EXCEEDED', message: 'read_write endpoint already exists' },
    })
    expect((await move('ep-other', 'br-none')).status).toBe(404)
    const replica = { endpoint: { branch_id: 'br-main', type: 'read_only', disabled: true } }
    const { id } = (await settled('POST', '/projects/shop/endpoints', replica)).body.endpoint
    expect((await move(id, 'br-other')).status).toBe(200)
    await settled('DELETE', `/projects/shop/endpoints/${id}`)
    expect((await move('ep-main', 'br-main')).status).toBe(200)
  })

  // control-api (both): delete-compute, delete-echoes, new-connection-details
  test.each(['active', 'idle'])('deleting an %s compute returns it without operations', async (state) => {
    const wanted = { endpoint: { branch_id: 'br-bare', type: 'read_only', disabled: state === 'idle' } }
    const made = (await settled('POST', '/projects/shop/endpoints', wanted)).body.endpoint
    expect((await endpoint(made.id)).current_state).toBe(state)
    expect(await call('DELETE', `/projects/shop/endpoints/${made.id}`)).toMatchObject({
      status: 200,
      body: { endpoint: { id: made.id, host: made.host }, operations: [] },
    })
    expect((await call('GET', `/projects/shop/endpoints/${made.id}`)).status).toBe(404)
    const again = (await settled('POST', '/projects/shop/endpoints', wanted)).body.endpoint
    expect(again.host).not.toBe(made.host)
    await settled('DELETE', `/projects/shop/endpoints/${again.id}`)
  })

  // control-api (both): list-operations, list-limit, list-cursor, cursor-format
  test('operations are listed newest first, and the cursor of a page is the time of its last operation', async () => {
    const all = (await call('GET', '/projects/shop/operations')).body.operations
    const times = all.map(({ created_at }: { created_at: string }) => created_at)
    expect(times).toEqual(times.toSorted().reverse())
    const paged: string[] = []
    let cursor = ''
    while (paged.length < 5) {
      const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page = (await call('GET', `/projects/shop/operations?limit=1${query}`)).body
      expect(page.operations).toHaveLength(1)
      paged.push(page.operations[0].id)
      cursor = page.pagination.cursor
      expect(cursor).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      expect(cursor.slice(0, 19)).toBe(page.operations[0].created_at.slice(0, 19))
    }
    expect(paged).toEqual(all.slice(0, 5).map(({ id }: { id: string }) => id))
  })

  // control-api (both): sizes, fixed-limit, above-16-fixed, range-limit, range-spread, free-size
  test('computes have one of the documented sizes, or a range of up to 8 CU below 16', async () => {
    const patch = async (min: number, max: number) =>
      (
        await call('PATCH', '/projects/shop/endpoints/ep-other', {
          endpoint: { ...size(min, max).endpoint, suspend_timeout_seconds: -1 },
        })
      ).status
    for (const { cu } of SIZE_TABLE.steps) expect(await patch(cu, cu), `${cu} CU`).toBe(200)
    for (const cu of [0.1, 0.75, 1.5, 17, 39, 57, 58]) expect(await patch(cu, cu), `${cu} CU`).toBe(400)
    for (const [min, max] of [
      [0.25, 8],
      [8, 16],
    ] as const)
      expect(await patch(min, max)).toBe(200)
    for (const [min, max] of [
      [0.25, 9],
      [16, 18],
      [18, 20],
      [4, 2],
    ] as const)
      expect(await patch(min, max)).toBe(400)
    const free = { branch_id: 'br-free', type: 'read_write', disabled: true }
    const create = async (cu: number) =>
      (await call('POST', '/projects/free/endpoints', { endpoint: { ...free, ...size(cu).endpoint } })).status
    expect([await create(3), await create(2)]).toEqual([422, 201])
  })

  // control-api (both): statuses, terminal-statuses, failed-retried, failures-counted
  test.each([
    ['fail', 'failed', 'finished'],
    ['cancel', 'cancelling', 'cancelled'],
    ['skip', 'running', 'skipped'],
  ] as const)('the fault %s gives an operation the status %s, and at last %s', async (effect, during, last) => {
    await settled('POST', '/projects/shop/endpoints/ep-main/suspend')
    sandbox.control.addFault({ on: 'operation', action: 'start_compute', effect: { kind: effect } })
    const { id, status } = (await call('POST', '/projects/shop/endpoints/ep-main/start')).body.operations[0]
    const seen = new Set([status])
    await passUntil(async () => {
      const { status: now } = await operation(id)
      seen.add(now)
      return now === last
    })
    expect(seen).toContain(during)
    expect((await operation(id)).failures_count).toBe(effect === 'fail' ? 1 : 0)
    // Nothing happens after a terminal status.
    await sandbox.clock.advance(MINUTE)
    expect((await operation(id)).status).toBe(last)
    await settle()
    if (effect !== 'fail') await settled('POST', '/projects/shop/endpoints/ep-main/start')
  })

  // control-api (both): check-availability, no-check-without-compute, tenant-detach, tenant-reattach, timeline-archive, timeline-unarchive, apply-storage-config, tenant-attach
  test('over weeks, the control plane checks computes, archives branches and detaches the project', async () => {
    await settled('PATCH', '/projects/shop', { project: { history_retention_seconds: 7_200 } })
    expect((await actions())[0]).toBe('apply_storage_config')
    const body = { branch: { name: 'old' }, endpoints: [{ type: 'read_write' }] }
    const old = (await settled('POST', '/projects/shop/branches', body)).body
    for (const id of ['ep-main', old.endpoints[0].id]) {
      await settled('POST', `/projects/shop/endpoints/${id}/suspend`)
    }
    for (const hours of [12, 6, 6, 6, 33 * 24]) {
      await sandbox.clock.advance(hours * HOUR)
      await settle()
    }
    expect((await call('GET', '/projects/shop')).status).toBe(200)
    await settle()
    const { operations } = (await call('GET', '/projects/shop/operations?limit=1000')).body
    const branchesOf = (wanted: string) =>
      new Set(
        operations.flatMap((one: { action: string; branch_id: string }) =>
          one.action === wanted ? one.branch_id : [],
        ),
      )
    expect(branchesOf('check_availability')).toContain('br-main')
    expect(branchesOf('check_availability')).not.toContain('br-bare')
    expect(branchesOf('timeline_archive')).toContain(old.branch.id)
    expect(branchesOf('tenant_detach').size).toBe(1)
    expect(operations[0].action).toBe('tenant_reattach')
    expect(operationsOf(await settled('POST', `/projects/shop/endpoints/${old.endpoints[0].id}/start`))[0]).toBe(
      'timeline_unarchive running',
    )
    expect((await call('DELETE', '/projects/shop')).status).toBe(200)
    expect((await call('POST', '/projects/shop/recover')).status).toBe(200)
    await settle()
    expect((await actions())[0]).toBe('tenant_attach')
  })
})

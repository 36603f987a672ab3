import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type ApiError,
  createReadApi,
  createWriteApi,
  pastOperations,
  snapshot,
  streamOperations,
  type WriteApi,
} from '../../src/api/index.ts'
import { type Clock, systemClock } from '../../src/base/index.ts'
import { fakeClock } from '../apply/fake-api.ts'
import { send } from './send.ts'
import { type Answer, type Asked, type ScriptedServer, scriptedServer } from './server.ts'

const KEY = 'secret-key-that-nobody-may-see'
const endpoint = {
  id: 'ep-1',
  host: 'ep-1.test',
  branch_id: 'br-1',
  type: 'read_write',
  current_state: 'active',
  autoscaling_limit_min_cu: 1,
  autoscaling_limit_max_cu: 2,
  suspend_timeout_seconds: 0,
  settings: {},
}
const operation = {
  id: 'op-1',
  project_id: 'p',
  action: 'brand_new_action',
  status: 'running',
  failures_count: 0,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:02Z',
}
const ok: Answer = { status: 200, json: { endpoint, operations: [operation] } }
const patch = { method: 'PATCH', path: '/projects/p/endpoints/ep-1', body: { endpoint: { name: 'x' } } } as const
const create = {
  method: 'POST',
  path: '/projects/p/endpoints',
  body: { endpoint: { branch_id: 'br-1', type: 'read_only' } },
} as const

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

interface Setup {
  readonly server: ScriptedServer
  readonly api: WriteApi
  readonly clock: ReturnType<typeof fakeClock>
  readonly lines: string[]
}

const setup = async (
  answers: readonly Answer[] | ((asked: Asked) => Answer),
  lockTimeoutMs = 600_000,
): Promise<Setup> => {
  const server = await scriptedServer(answers)
  const clock = fakeClock()
  const lines: string[] = []
  const api = createWriteApi({
    baseUrl: server.url,
    apiKey: KEY,
    clock,
    lockTimeoutMs,
    random: () => 0.5,
    debug: (line) => lines.push(line),
  })
  opened.push(server, api)
  return { server, api, clock, lines }
}

const failure = async (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => {
      throw new Error('it should have failed')
    },
    (error: ApiError) => error,
  )

describe('requests and responses', () => {
  test('a request carries the key, and the response is converted to the model', async () => {
    const { server, api } = await setup([{ status: 200, json: { endpoints: [endpoint] } }])
    expect(await api.listComputes('p')).toMatchObject([
      {
        id: 'ep-1',
        branchId: 'br-1',
        state: 'active',
        attributes: { size: { min: 1, max: 2 }, scaleToZero: 0, postgresSettings: {} },
      },
    ])
    expect(server.asked).toMatchObject([
      { method: 'GET', path: '/api/v2/projects/p/endpoints', authorization: `Bearer ${KEY}` },
    ])
  })

  test('a finished request leaves no listener on its abort signal', async () => {
    const { api } = await setup([{ status: 200, json: { endpoint } }])
    const stopping = new AbortController()
    /** Listeners, and dependent signals of `AbortSignal.any`. */
    const left = (): number => {
      const symbol = Object.getOwnPropertySymbols(stopping.signal).find(
        ({ description }) => description === 'kDependantSignals',
      )
      const dependants = symbol === undefined ? undefined : (Reflect.get(stopping.signal, symbol) as Set<unknown>)
      return getEventListeners(stopping.signal, 'abort').length + (dependants?.size ?? 0)
    }
    await api.getCompute('p', 'ep-1', { signal: stopping.signal })
    expect(left()).toBe(0)
  })

  test('undeclared parts of `settings` are kept', async () => {
    const settings = {
      pg_settings: { jit: 'off' },
      preload_libraries: { use_defaults: true, later: 1 },
      pgbouncer_settings: { pool_size: 5 },
    }
    const { api } = await setup([{ status: 200, json: { endpoint: { ...endpoint, settings } } }])
    expect((await api.getCompute('p', 'ep-1'))?.settings).toEqual(settings)
  })

  test('an empty error of an operation counts as none, so that no message ends with an empty reason', async () => {
    const operations = [{ ...operation, status: 'error', error: ' ' }]
    const { api } = await setup([{ status: 200, json: { operations, pagination: {} } }])
    expect((await api.listOperations('p')).operations[0]).not.toHaveProperty('error')
  })

  test('unknown fields, actions and statuses are accepted', async () => {
    const { api } = await setup([
      { status: 200, json: { operations: [{ ...operation, status: 'odd', more: 1 }], pagination: {} } },
    ])
    expect((await api.listOperations('p')).operations).toMatchObject([{ action: 'brand_new_action', status: 'odd' }])
  })

  test('fields of a compute that are only displayed are read, and ignored if they are absent or invalid', async () => {
    const read = async (fields: object) => {
      const { api } = await setup([{ status: 200, json: { endpoints: [{ ...endpoint, ...fields }] } }])
      return (await api.listComputes('p'))[0]
    }
    const bare = await read({})
    expect(await read({ region_id: 'aws-x', updated_at: 't1', suspended_at: 't2', proxy_host: 'h' })).toEqual({
      ...bare,
      ...{ regionId: 'aws-x', updatedAt: 't1', suspendedAt: 't2', proxyHost: 'h' },
    })
    expect(await read({ region_id: null, updated_at: 5, provisioner: {}, creation_source: [] })).toEqual(bare)
  })

  test('the error for a missing required field names the field and the request', async () => {
    const { host: _gone, ...incomplete } = endpoint
    const { api } = await setup([{ status: 200, json: { endpoints: [incomplete] } }])
    expect((await failure(api.listComputes('p'))).message).toMatch(
      /compute ep-1: `host` is missing.*GET \/projects\/p\/endpoints/,
    )
  })

  test('a DELETE with an empty response (204) succeeds', async () => {
    const { api } = await setup([{ status: 204 }])
    expect(await send(api, { method: 'DELETE', path: '/projects/p/endpoints/ep-1' })).toEqual({ operations: [] })
  })

  test('getCompute returns undefined for a deleted compute', async () => {
    const { api } = await setup([{ status: 404, json: { code: '', message: 'endpoint not found' } }])
    expect(await api.getCompute('p', 'ep-1')).toBeUndefined()
  })

  // promise: plan-changes-nothing
  test('the read client has no methods that write', async () => {
    const api = createReadApi({ baseUrl: 'http://127.0.0.1:9/api/v2', apiKey: KEY })
    opened.push(api)
    expect(Object.keys(api).sort()).toEqual([
      'account',
      'close',
      'getCompute',
      'getOperation',
      'listBranches',
      'listComputes',
      'listOperations',
      'listProjects',
      'projectDetails',
      'searchProjects',
      'serviceTime',
    ])
  })
})

test.each([
  ['missing', {}],
  ['empty', { apiKey: '' }],
])('an API key that is %s is rejected with E_KEY', (_, key) => {
  // As in an untyped program that passes an unset environment variable.
  expect(() => createReadApi(key as { apiKey: string })).toThrow(expect.objectContaining({ code: 'E_KEY' }))
})

describe('paging', () => {
  test('branches are read from every page', async () => {
    const branch = (id: string) => ({ id, name: id, default: false })
    const { server, api } = await setup([
      { status: 200, json: { branches: [branch('br-1')], pagination: { next: 'a b' } } },
      { status: 200, json: { branches: [branch('br-2')], pagination: {} } },
    ])
    expect((await api.listBranches('p')).map(({ id }) => id)).toEqual(['br-1', 'br-2'])
    expect(server.asked[1]?.path).toContain('cursor=a+b')
  })

  // promise: endless-list
  test.each([
    ['branches', 'next', (api: WriteApi) => api.listBranches('p')],
    [
      'operations',
      'cursor',
      async (api: WriteApi, clock: Clock) => {
        for await (const one of streamOperations(api, 'p', clock)) expect(one.id).toMatch(/^x-/)
      },
    ],
  ] as const)('reading a list of %s that never ends stops after ten minutes', async (list, cursor, read) => {
    let page = 0
    const { server, api, clock } = await setup(() => {
      page += 1
      void clock.sleep(30_000)
      const item = { ...operation, id: `x-${page}`, name: 'x' }
      return { status: 200, json: { [list]: [item], pagination: { [cursor]: `${page}` } } }
    })
    await expect(read(api, clock)).rejects.toThrow('has no end after ten minutes')
    expect(server.asked.length).toBeLessThan(30)
  })

  // promise: odd-pages
  test('a branch that appears on two pages is returned once', async () => {
    const page = (ids: readonly string[], next?: string): Answer => ({
      status: 200,
      json: { branches: ids.map((id) => ({ id, name: id })), pagination: next === undefined ? {} : { next } },
    })
    const { api } = await setup([page(['br-1', 'br-2'], 'a'), page(['br-2', 'br-3'])])
    expect((await api.listBranches('p')).map(({ id }) => id)).toEqual(['br-1', 'br-2', 'br-3'])
  })

  test('a compute that is listed twice is returned once', async () => {
    const { api } = await setup([{ status: 200, json: { endpoints: [endpoint, endpoint] } }])
    expect(await api.listComputes('p')).toHaveLength(1)
  })

  // promise: odd-pages, endless-list
  test.each([
    ['branches', 'next', (api: WriteApi) => api.listBranches('p')],
    ['projects', 'cursor', (api: WriteApi) => api.listProjects()],
  ])('reading %s stops when a cursor repeats, even if the page has new items', async (list, cursor, read) => {
    let count = 0
    const { server, api } = await setup(({ path }) => {
      count += 1
      const id = `x-${count}`
      const next = path.includes('cursor=a') ? 'b' : 'a'
      return { status: 200, json: { [list]: [{ id, name: id }], pagination: { [cursor]: next } } }
    })
    expect(await read(api)).toHaveLength(3)
    expect(server.asked).toHaveLength(3)
  })

  // promise: odd-pages
  test('a page that is shorter than requested does not end the list of projects', async () => {
    const page = (ids: readonly string[]): Answer => ({
      status: 200,
      json: { projects: ids.map((id) => ({ id, name: id })), pagination: { cursor: ids.join() } },
    })
    const { api } = await setup([page(['a', 'b']), page(['c']), page([])])
    expect((await api.listProjects()).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  // promise: odd-pages
  test('all operations are read even if the pages are shorter than requested', async () => {
    const all = Array.from({ length: 250 }, (_, index) => ({ ...operation, id: `op-${index}` }))
    const { server, api } = await setup(({ path }) => {
      const from = Number(new URL(path, 'http://x').searchParams.get('cursor') ?? 0)
      const operations = all.slice(from, from + 100)
      return { status: 200, json: { operations, pagination: { cursor: String(from + operations.length) } } }
    })
    const listed: string[] = []
    for await (const { id } of streamOperations(api, 'p', systemClock)) listed.push(id)
    expect(listed).toEqual(all.map(({ id }) => id))
    expect(server.asked).toHaveLength(4)
  })

  test('reading operations stops when the service returns the same page again', async () => {
    let count = 0
    const { api } = await setup(() => {
      count += 1
      return { status: 200, json: { operations: [operation], pagination: { cursor: String(count) } } }
    })
    const listed: string[] = []
    for await (const { id } of streamOperations(api, 'p', systemClock)) listed.push(id)
    expect(listed).toEqual(['op-1'])
  })
})

describe('retries after a wait', () => {
  test.each([
    [423, 'locked'],
    [429, 'rate-limited'],
    [503, 'unavailable'],
  ])('a response with status %i is retried, and the wait is reported', async (status, why) => {
    const busy: Answer = { status, json: { code: '', message: 'busy' } }
    const { server, api } = await setup(({ method }) =>
      method === 'PATCH' && server.asked.length < 4 ? busy : method === 'PATCH' ? ok : { status: 500 },
    )
    const waits: string[] = []
    await send(api, patch, { onWait: (wait) => void waits.push(wait.why) })
    expect(waits.length).toBeGreaterThan(0)
    expect(new Set(waits)).toEqual(new Set([why]))
  })

  test('the message about a lock names the operation that holds it', async () => {
    const held = { status: 200, json: { operations: [{ ...operation, action: 'apply_config', endpoint_id: 'ep-9' }] } }
    let first = true
    const { api } = await setup(({ method }) => {
      if (method === 'GET') return held
      if (!first) return ok
      first = false
      return { status: 423, json: { message: 'locked' } }
    })
    const messages: string[] = []
    await send(api, patch, { onWait: ({ message }) => void messages.push(message) })
    expect(messages).toEqual(['the project is locked by operation op-1 (apply_config on ep-9, running)'])
  })

  test.each([
    ['is running, rather than one that failed', ['scheduling', 'running', 'failed'], 'op-1'],
    ['is scheduled, if none is running', ['scheduling', 'failed'], 'op-0'],
    ['failed and will be retried, if none is running or scheduled', ['finished', 'failed'], 'op-1'],
  ])('the message about a lock names the operation that %s', async (_what, statuses, named) => {
    const operations = statuses.map((status, index) => ({
      ...{ ...operation, id: `op-${index}`, status },
      ...(status === 'failed' ? { retry_at: '2026-01-01T00:00:10Z' } : {}),
    }))
    const answers = [{ status: 423, json: {} }, ok]
    const { api } = await setup(({ method }) =>
      method === 'GET' ? { status: 200, json: { operations } } : (answers.shift() ?? ok),
    )
    const messages: string[] = []
    await send(api, patch, { onWait: ({ message }) => void messages.push(message) })
    expect(messages).toEqual([expect.stringContaining(`locked by operation ${named} `)])
  })

  const FAILED = { ...operation, status: 'failed', failures_count: 3 }

  test.each([
    [
      'has failed for good',
      { status: 200, json: { operations: [FAILED] } },
      ', but the API lists no running operation',
    ],
    [
      'should have been retried an hour ago',
      {
        status: 200,
        json: {
          operations: [{ ...FAILED, updated_at: '2025-12-31T23:00:00Z', retry_at: '2025-12-31T23:00:10Z' }],
        },
      },
      ', but the API lists no running operation',
    ],
    ['cannot be read', { status: 404, json: { message: 'no' } }, ''],
  ])('an operation that %s is not named as the holder of a lock', async (_what, list, words) => {
    const answers = [{ status: 423, json: { message: 'busy' } }, ok]
    const { api } = await setup(({ method }) => (method === 'GET' ? list : (answers.shift() ?? ok)))
    const messages: string[] = []
    await send(api, patch, { onWait: ({ message }) => void messages.push(message) })
    expect(messages).toEqual([`the project is locked${words}: busy`])
  })

  const httpDate = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toUTCString()

  test.each(['99999999999999999999', '9'.repeat(400)])('an absurd Retry-After is not repeated: %s', async (value) => {
    const { api } = await setup([{ status: 429, headers: { 'retry-after': value }, json: {} }])
    expect((await failure(send(api, patch))).hint).toContain('waiting for more than a day would exceed the 2m limit')
  })

  // promise: long-retry-after
  test.each([
    [423, 'Gave up after 0s: waiting another 1h would exceed the 10m limit of --timeout.'],
    [429, 'Gave up after 0s: waiting another 1h would exceed the 2m limit for rate limiting.'],
    [503, 'Gave up after 0s: waiting another 1h would exceed the 2m limit for outages.'],
  ])(
    'a request fails without waiting after a response with status %i and a Retry-After above the limit',
    async (status, words) => {
      const { api, clock } = await setup([{ status, headers: { 'retry-after': '3600' }, json: {} }])
      expect((await failure(send(api, patch))).hint).toContain(words)
      expect(clock.slept).toEqual([])
    },
  )

  test.each([
    ['sends the returned request', 3, { send: { endpoint: {} } }],
    ['returns the result that replaces the request', 2, { instead: 'replaced' }],
  ])('sendUnless calls back before every attempt and %s', async (_what, attempts, third) => {
    const busy: Answer = { status: 423, json: {} }
    const { server, api } = await setup(({ method }) =>
      method === 'GET'
        ? { status: 200, json: { operations: [] } }
        : server.asked.filter((one) => one.method === 'PATCH').length < 3
          ? busy
          : ok,
    )
    let asked = 0
    const answer = await api.sendUnless(patch, async () => {
      asked += 1
      return asked === 3 ? third : { send: patch.body }
    })
    expect(asked).toBe(3)
    expect(server.asked.filter(({ method }) => method === 'PATCH')).toHaveLength(attempts)
    expect(answer === 'replaced').toBe(attempts === 2)
  })

  test.each([
    ['seconds', '7', 7_000],
    ['a date', httpDate(9_000), 9_000, httpDate(0)],
    ['a date by a clock that is an hour ahead', httpDate(3_609_000), 9_000, httpDate(3_600_000)],
    ['a date, without a usable date of the response', httpDate(9_000), 9_000, 'today'],
  ])('Retry-After as %s overrides the default delay', async (_form, value, ms, date = httpDate(0)) => {
    const { api, clock } = await setup([{ status: 429, headers: { 'retry-after': value, date } }, ok])
    await send(api, patch)
    expect(clock.slept).toEqual([ms])
  })

  test('a request for a locked project fails after the lock timeout, with the reason', async () => {
    const { api } = await setup(
      ({ method }) =>
        method === 'GET' ? { status: 200, json: { operations: [] } } : { status: 423, json: { message: 'held' } },
      5_000,
    )
    const error = await failure(send(api, patch))
    expect(error).toMatchObject({ status: 423, hint: expect.stringContaining('--timeout') })
    expect(error.message).toContain('held')
  })
})

describe('repeated requests', () => {
  test.each(['reset', { status: 500 }, { status: 524, text: '<html>timeout</html>' }] as const)(
    'a GET is repeated after %j',
    async (broken) => {
      const { server, api } = await setup([broken, { status: 200, json: { endpoints: [] } }])
      expect(await api.listComputes('p')).toEqual([])
      expect(server.asked).toHaveLength(2)
    },
  )

  test.each([
    ['POST', create, 'reset'],
    ['POST', create, { status: 502 }],
    ['PATCH', patch, 'reset'],
    ['PATCH', patch, { status: 500, json: { message: 'oops' } }],
  ] as const)(
    'a %s is not repeated after a connection reset or a 5xx response, and the error is marked ambiguous',
    async (_method, request, broken) => {
      const { server, api } = await setup([broken as Answer])
      expect(await failure(send(api, request))).toMatchObject({ ambiguous: true })
      expect(server.asked).toHaveLength(1)
    },
  )

  test('rate-limited attempts do not count towards the retry limit', async () => {
    const limited: Answer = { status: 429, json: { message: 'slow down' } }
    const { api } = await setup([
      limited,
      limited,
      limited,
      limited,
      { status: 502 },
      { status: 200, json: { endpoints: [] } },
    ])
    expect(await api.listComputes('p')).toEqual([])
  })

  test.each([400, 404, 409, 422])('a response with status %i is not retried', async (status) => {
    const { server, api } = await setup([
      { status, json: { request_id: 'r-1', code: 'SOME_CODE', message: 'its own words' } },
    ])
    const error = await failure(send(api, patch))
    expect(error).toMatchObject({ status, apiCode: 'SOME_CODE', requestId: 'r-1', ambiguous: false })
    expect(error.message).toContain('its own words')
    expect(server.asked).toHaveLength(1)
  })
})

describe('waits that end early', () => {
  /** Waits never end by themselves while `isStopped`. */
  const stoppable = async (answers: readonly Answer[]) => {
    const server = await scriptedServer(answers)
    const waits = { isStopped: true, count: 0 }
    const clock = {
      ...systemClock,
      sleep: (_ms: number, signal?: AbortSignal) => {
        waits.count += 1
        return systemClock.sleep(waits.isStopped ? 60_000 : 0, signal)
      },
    }
    const api = createReadApi({ baseUrl: server.url, apiKey: KEY, clock })
    return { server, api, waits }
  }

  test('the first request that gives up on an address that refuses connections ends all others', async () => {
    const { server, api, waits } = await stoppable([])
    await server.close()
    const others = ['a', 'b'].map((id) => failure(api.listComputes(id)))
    await expect.poll(() => waits.count).toBe(2)
    waits.isStopped = false
    const error = await failure(api.listComputes('c'))
    expect(error.message).toContain(`The control API at ${server.url} refuses connections`)
    expect(await Promise.all(others)).toEqual([error, error])
    expect(waits.count, 'two repeats of the request that gave up').toBe(4)
    expect((await failure(api.listComputes('later'))).code).toBe('E_NETWORK')
    expect(waits.count, 'a later request is not repeated').toBe(4)
  })

  test('after a response, a refused connection is repeated as often as other failures', async () => {
    const { server, api, waits } = await stoppable([{ status: 200, json: { endpoints: [] } }])
    waits.isStopped = false
    await api.listComputes('p')
    await server.close()
    expect((await failure(api.listComputes('p'))).code).toBe('E_NETWORK')
    expect(waits.count).toBe(4)
  })

  test('closing the client ends the waits of its requests, and no request is sent afterwards', async () => {
    const { server, api, waits } = await stoppable([{ status: 503, headers: { 'retry-after': '60' } }])
    opened.push(server)
    const waiting = failure(api.listComputes('p'))
    await expect.poll(() => waits.count).toBe(1)
    await api.close()
    expect((await waiting).name).toBe('AbortError')
    expect((await failure(api.listComputes('p'))).name).toBe('AbortError')
    expect(server.asked).toHaveLength(1)
  })
})

describe('key and base URL', () => {
  test('errors and debug lines never contain the key, even if the response does', async () => {
    const { api, lines } = await setup([{ status: 401, json: { message: `bad key ${KEY}` } }])
    const error = await failure(send(api, patch))
    expect(`${error.message} ${error.hint} ${lines.join(' ')}`).not.toContain(KEY)
    expect(lines).toEqual(['PATCH /projects/p/endpoints/ep-1 → 401'])
  })

  test('a redirect is not followed', async () => {
    const other = await scriptedServer([{ status: 200, json: { endpoints: [] } }])
    opened.push(other)
    const { api } = await setup([{ status: 302, headers: { location: other.url } }])
    await failure(api.listComputes('p'))
    expect(other.asked).toEqual([])
  })

  test.each([
    ['http://example.test/api/v2', 'unencrypted'],
    ['ftp://127.0.0.1/', 'not an http or https URL'],
    ['nonsense', 'not an http or https URL'],
    ['https://user:pass@example.test', 'not contain a user or password'],
  ])('the base URL %s is rejected', (baseUrl, words) => {
    expect(() => createReadApi({ baseUrl, apiKey: KEY })).toThrow(words)
  })

  test.each(['http://localhost:1/api', 'http://127.8.9.1:1', 'http://[::1]:1', 'https://example.test'])(
    'the base URL %s is accepted',
    (baseUrl) => {
      const api = createReadApi({ baseUrl, apiKey: KEY })
      opened.push(api)
    },
  )
})

test('at most 40 requests per second per route and 700 per minute are sent', async () => {
  const { server, api, clock } = await setup([{ status: 200, json: { endpoints: [] } }])
  const begun = clock.now()
  await Promise.all(Array.from({ length: 41 }, () => api.listComputes('p')))
  expect(clock.now() - begun).toBeGreaterThanOrEqual(1_000)
  for (let count = 41; count < 701; count += 1) await api.listComputes('p')
  expect(clock.now() - begun).toBeGreaterThanOrEqual(60_000)
  expect(server.asked).toHaveLength(701)
})

test('requests to one route are not delayed by the per-second limit of another route', async () => {
  const { api, clock } = await setup(({ path }) => ({
    status: 200,
    json: path.includes('/operations') ? { operations: [] } : { endpoints: [] },
  }))
  const begun = clock.now()
  for (let count = 0; count < 40; count += 1) await api.listComputes(`p${count}`)
  await api.listOperations('p')
  expect(clock.now()).toBe(begun)
  await api.listComputes('p')
  expect(clock.now() - begun).toBe(1_000)
})

test('a request counts towards the rate limit when it is sent, not when it is prepared', async () => {
  const { api, clock } = await setup(() => ok)
  const begun = clock.now()
  await api.sendUnless(patch, async () => {
    await clock.sleep(900)
    return { send: patch.body }
  })
  for (let count = 1; count <= 40; count += 1) await api.sendUnless(patch, async () => ({ send: patch.body }))
  // The first request is sent at 0.9 s, so the 40th after it exceeds the limit of that second.
  expect(clock.now() - begun).toBe(1_900)
})

test('sendUnless calls back once for a request, after waiting for the rate limit', async () => {
  const { api, clock } = await setup(() => ok)
  const begun = clock.now()
  for (let count = 0; count < 40; count += 1) await api.sendUnless(patch, async () => ({ send: patch.body }))
  const asked: number[] = []
  await api.sendUnless(patch, async () => {
    asked.push(clock.now())
    return { send: patch.body }
  })
  expect(asked).toEqual([begun + 1_000])
})

test('a request that is not sent after all does not count towards the rate limit', async () => {
  const { api, clock } = await setup(() => ok)
  const begun = clock.now()
  for (let count = 0; count < 41; count += 1) await api.sendUnless(patch, async () => ({ instead: undefined }))
  expect(clock.now()).toBe(begun)
})

test.each([2, 100, 200, 700])(
  '%i clients that read before they write make progress and respect their shares',
  async (clients) => {
    const times: number[] = []
    const server = await scriptedServer(({ method }) => {
      times.push(clock.now())
      return method === 'GET' ? { status: 200, json: { endpoints: [] } } : ok
    })
    const clock = fakeClock()
    const api = createWriteApi({ baseUrl: server.url, apiKey: KEY, clock, clients })
    opened.push(server, api)
    const change = () =>
      api.sendUnless(patch, async () => {
        await Promise.all([api.listComputes('p'), api.listComputes('p')])
        return { send: patch.body }
      })
    const begun = clock.now()
    for (let count = 0; count < 10; count += 1) await change()
    expect(times).toHaveLength(30)
    const share = Math.floor(700 / clients)
    expect(clock.now() - begun).toBeLessThanOrEqual((30 / share + 1) * 60_000)
    // A share of a single request has no room to hold a slot.
    const most = Math.max(3, share)
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(most)
  },
)

test('each of several clients uses only its share of the rate limit', async () => {
  const { server } = await setup([{ status: 200, json: { endpoints: [] } }])
  const clock = fakeClock()
  const api = createReadApi({ baseUrl: server.url, apiKey: KEY, clock, clients: 7 })
  opened.push(api)
  const begun = clock.now()
  for (let count = 0; count < 101; count += 1) await api.listComputes('p')
  expect(clock.now() - begun).toBeGreaterThanOrEqual(60_000)
})

test('a snapshot reads the branches and computes of each project, and lists missing projects', async () => {
  const { server, api } = await setup(({ path }) => {
    if (path.includes('gone')) return { status: 404, json: { message: 'project not found' } }
    return path.includes('branches')
      ? { status: 200, json: { branches: [], pagination: {} } }
      : { status: 200, json: { endpoints: [] } }
  })
  const observed = await snapshot(api, ['a', 'b', 'gone'])
  expect(observed.projects.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(observed.missing).toEqual(['gone'])
  expect(server.asked.filter(({ path }) => /\/projects\/[ab]\//.test(path))).toHaveLength(4)
})

test('pastOperations returns only finished operations, with their durations', async () => {
  const { api } = await setup([
    {
      status: 200,
      json: {
        operations: [
          operation,
          { ...operation, status: 'finished', total_duration_ms: 900 },
          { ...operation, status: 'finished' },
        ],
      },
    },
  ])
  const { pastOperations: past } = await pastOperations(api, 'p')
  expect(past.map(({ durationMs }) => durationMs)).toEqual([900, 2_000])
})

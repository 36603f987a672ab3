import { afterEach, describe, expect, test } from 'vitest'
import {
  type ApiError,
  createReadApi,
  createWriteApi,
  type Operation,
  pastOperations,
  snapshot,
  streamOperations,
  type WriteApi,
} from '../../src/api/index.ts'
import { fakeClock } from '../apply/fake-api.ts'
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

describe('requests and answers', () => {
  test('carry the key, and speak of computes in our words', async () => {
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

  test('unknown fields, actions and statuses pass', async () => {
    const { api } = await setup([
      { status: 200, json: { operations: [{ ...operation, status: 'odd', more: 1 }], pagination: {} } },
    ])
    expect((await api.listOperations('p')).operations).toMatchObject([{ action: 'brand_new_action', status: 'odd' }])
  })

  test('a missing required field is named, with the request', async () => {
    const { host: _gone, ...incomplete } = endpoint
    const { api } = await setup([{ status: 200, json: { endpoints: [incomplete] } }])
    expect((await failure(api.listComputes('p'))).message).toMatch(/endpoints\.0\.host.*GET \/projects\/p\/endpoints/)
  })

  test('an answer without a body is a compute that was gone already', async () => {
    const { api } = await setup([{ status: 204 }])
    expect(await api.send({ method: 'DELETE', path: '/projects/p/endpoints/ep-1' })).toEqual({ operations: [] })
  })

  test('a compute that is gone reads as undefined', async () => {
    const { api } = await setup([{ status: 404, json: { code: '', message: 'endpoint not found' } }])
    expect(await api.getCompute('p', 'ep-1')).toBeUndefined()
  })

  test('the reading client cannot write', async () => {
    const api = createReadApi({ baseUrl: 'http://127.0.0.1:9/api/v2', apiKey: KEY })
    opened.push(api)
    expect(Object.keys(api).sort()).toEqual([
      'close',
      'getCompute',
      'getOperation',
      'getProject',
      'listBranches',
      'listComputes',
      'listOperations',
      'listProjects',
    ])
  })
})

describe('paging', () => {
  test('branches go on while there is a next page', async () => {
    const branch = (id: string) => ({ id, name: id, default: false })
    const { server, api } = await setup([
      { status: 200, json: { branches: [branch('br-1')], pagination: { next: 'a b' } } },
      { status: 200, json: { branches: [branch('br-2')], pagination: {} } },
    ])
    expect((await api.listBranches('p')).map(({ id }) => id)).toEqual(['br-1', 'br-2'])
    expect(server.asked[1]?.path).toContain('cursor=a+b')
  })

  test.each([
    ['two that lead to each other', (page: number) => (page % 2 === 0 ? 'A' : 'B')],
    ['many, the last of which leads to the second', (page: number) => String(page % 7)],
  ])('pages that go round in a circle end: %s', async (_what, cursorOf) => {
    let page = 0
    const { server, api } = await setup(() => {
      const json = { branches: [{ id: `br-${page}`, name: 'x' }], pagination: { next: cursorOf(page) } }
      page += 1
      return { status: 200, json }
    })
    await expect(api.listBranches('p')).rejects.toThrow('goes round in a circle')
    expect(server.asked.length).toBeLessThan(10)
    const one: Operation = {
      id: 'op',
      projectId: 'p',
      action: 'x',
      status: 'x',
      failuresCount: 0,
      createdAt: '',
      updatedAt: '',
    }
    const listOperations = async () => ({ operations: [one], cursor: cursorOf(page++) })
    const read = async (): Promise<void> => {
      for await (const { id } of streamOperations({ ...api, listOperations }, 'p')) expect(id).toBe('op')
    }
    await expect(read()).rejects.toThrow('goes round in a circle')
  })

  test('pages without end, each with something new, have ten minutes', async () => {
    let page = 0
    const { server, api, clock } = await setup(() => {
      page += 1
      void clock.sleep(30_000)
      return { status: 200, json: { branches: [{ id: `br-${page}`, name: 'x' }], pagination: { next: `${page}` } } }
    })
    await expect(api.listBranches('p')).rejects.toThrow('has no end after ten minutes')
    expect(server.asked.length).toBeLessThan(30)
  })

  test('a page of operations that is not full is the last, though it has a cursor', async () => {
    const { api } = await setup([{ status: 200, json: { operations: [operation], pagination: { cursor: 'x' } } }])
    expect((await api.listOperations('p', { limit: 2 })).cursor).toBeUndefined()
    expect((await api.listOperations('p', { limit: 1 })).cursor).toBe('x')
  })
})

describe('waiting out', () => {
  test.each([
    [423, 'locked'],
    [429, 'rate-limited'],
    [503, 'unavailable'],
  ])('status %i is waited for, and said', async (status, why) => {
    const busy: Answer = { status, json: { code: '', message: 'busy' } }
    const { server, api } = await setup(({ method }) =>
      method === 'PATCH' && server.asked.length < 4 ? busy : method === 'PATCH' ? ok : { status: 500 },
    )
    const waits: string[] = []
    await api.send(patch, { onWait: (wait) => void waits.push(wait.why) })
    expect(waits.length).toBeGreaterThan(0)
    expect(new Set(waits)).toEqual(new Set([why]))
  })

  test('a lock is named by the operation that holds it', async () => {
    const held = { status: 200, json: { operations: [{ ...operation, action: 'apply_config', endpoint_id: 'ep-9' }] } }
    let first = true
    const { api } = await setup(({ method }) => {
      if (method === 'GET') return held
      if (!first) return ok
      first = false
      return { status: 423, json: { message: 'locked' } }
    })
    const messages: string[] = []
    await api.send(patch, { onWait: ({ message }) => void messages.push(message) })
    expect(messages).toEqual(['the project is locked by operation op-1 (apply_config on ep-9, running)'])
  })

  test.each([
    ['seconds', '7', 7_000],
    ['a date', new Date(Date.UTC(2026, 0, 1) + 9_000).toUTCString(), 9_000],
  ])('Retry-After in %s comes before our own patience', async (_form, value, ms) => {
    const { api, clock } = await setup([{ status: 429, headers: { 'retry-after': value } }, ok])
    await api.send(patch)
    expect(clock.slept).toEqual([ms])
  })

  test('the wait for a lock ends in time, with the reason', async () => {
    const { api } = await setup(
      ({ method }) =>
        method === 'GET' ? { status: 200, json: { operations: [] } } : { status: 423, json: { message: 'held' } },
      5_000,
    )
    const error = await failure(api.send(patch))
    expect(error).toMatchObject({ status: 423, hint: expect.stringContaining('--lock-timeout') })
    expect(error.message).toContain('held')
  })
})

describe('repeating', () => {
  test.each(['reset', { status: 500 }, { status: 524, text: '<html>timeout</html>' }] as const)(
    'a GET is sent again after %j',
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
  ] as const)('a %s is not: whether it took effect has to be read', async (_method, request, broken) => {
    const { server, api } = await setup([broken as Answer])
    expect(await failure(api.send(request))).toMatchObject({ ambiguous: true })
    expect(server.asked).toHaveLength(1)
  })

  test('waits for the rate limit do not use up the repeats', async () => {
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

  test.each([400, 404, 409, 422])('status %i is an answer, and final', async (status) => {
    const { server, api } = await setup([
      { status, json: { request_id: 'r-1', code: 'SOME_CODE', message: 'its own words' } },
    ])
    const error = await failure(api.send(patch))
    expect(error).toMatchObject({ status, apiCode: 'SOME_CODE', requestId: 'r-1', ambiguous: false })
    expect(error.message).toContain('its own words')
    expect(server.asked).toHaveLength(1)
  })
})

describe('safety', () => {
  test('the key is in no error and no debug line, even when the server says it back', async () => {
    const { api, lines } = await setup([{ status: 401, json: { message: `bad key ${KEY}` } }])
    const error = await failure(api.send(patch))
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
    ['https://user:pass@example.test', 'no user or password'],
  ])('%s is refused', (baseUrl, words) => {
    expect(() => createReadApi({ baseUrl, apiKey: KEY })).toThrow(words)
  })

  test.each(['http://localhost:1/api', 'http://127.8.9.1:1', 'http://[::1]:1', 'https://example.test'])(
    '%s is accepted',
    (baseUrl) => {
      const api = createReadApi({ baseUrl, apiKey: KEY })
      opened.push(api)
    },
  )
})

test('requests stay within 40 a second and 700 a minute', async () => {
  const { server, api, clock } = await setup([{ status: 200, json: { endpoints: [] } }])
  const begun = clock.now()
  await Promise.all(Array.from({ length: 41 }, () => api.listComputes('p')))
  expect(clock.now() - begun).toBeGreaterThanOrEqual(1_000)
  for (let count = 41; count < 701; count += 1) await api.listComputes('p')
  expect(clock.now() - begun).toBeGreaterThanOrEqual(60_000)
  expect(server.asked).toHaveLength(701)
})

test('what is done before an attempt does not make the limits count it too early', async () => {
  const { api, clock } = await setup(({ method }) => (method === 'GET' ? { status: 200, json: { endpoints: [] } } : ok))
  const begun = clock.now()
  await api.send(patch, { onAttempt: () => clock.sleep(900) })
  for (let count = 1; count <= 40; count += 1) await api.listComputes('p')
  // Sent at 0.9 s, and the fortieth after it is the first one too many of that second.
  expect(clock.now() - begun).toBe(1_900)
})

test('of several clients that share the limits each keeps to its part', async () => {
  const { server } = await setup([{ status: 200, json: { endpoints: [] } }])
  const clock = fakeClock()
  const api = createReadApi({ baseUrl: server.url, apiKey: KEY, clock, clients: 7 })
  opened.push(api)
  const begun = clock.now()
  for (let count = 0; count < 101; count += 1) await api.listComputes('p')
  expect(clock.now() - begun).toBeGreaterThanOrEqual(60_000)
})

test('a snapshot costs two requests a project, and tells the projects that are not there', async () => {
  const { server, api } = await setup(({ path }) => {
    if (path.includes('gone')) return { status: 404, json: { message: 'project not found' } }
    return path.includes('branches')
      ? { status: 200, json: { branches: [], pagination: {} } }
      : { status: 200, json: { endpoints: [] } }
  })
  const observed = await snapshot(api, ['a', 'b', 'gone'])
  expect(observed.projects.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(observed.missing).toEqual(['gone'])
  expect(server.asked.filter(({ path }) => !path.includes('gone'))).toHaveLength(4)
})

test('past operations are the finished ones, with their durations', async () => {
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
  expect((await pastOperations(api, 'p')).map(({ durationMs }) => durationMs)).toEqual([900, 2_000])
})

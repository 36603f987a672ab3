/** Undocumented responses: which are rejected with which message, and which are accepted. */
import { afterEach, describe, expect, test } from 'vitest'
import { createWriteApi, snapshot, type WriteApi } from '../../src/api/index.ts'
import { apiPath, projectOf } from '../../src/model/index.ts'
import { fakeClock } from '../apply/fake-api.ts'
import { type Answer, type Asked, scriptedServer } from './server.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

const open = async (answers: (asked: Asked) => Answer, root = '/api/v2'): Promise<WriteApi> => {
  const server = await scriptedServer(answers)
  const baseUrl = server.url.replace('/api/v2', root)
  const api = createWriteApi({ baseUrl, apiKey: 'a-key-of-the-test', clock: fakeClock() })
  opened.push(server, api)
  return api
}

const ok = (json: unknown): Answer => ({ status: 200, json })
const endpoint = {
  id: 'ep-1',
  host: 'ep-1.test',
  branch_id: 'br-1',
  type: 'read_write',
  current_state: 'active',
  autoscaling_limit_min_cu: 1,
  autoscaling_limit_max_cu: 2,
}

describe('undocumented values', () => {
  // promise: impossible-values
  test.each([
    [
      'a size that is a string',
      { autoscaling_limit_min_cu: '0.25' },
      '`autoscaling_limit_min_cu` is "0.25"; expected a size',
    ],
    ['a negative size', { autoscaling_limit_max_cu: -1 }, '`autoscaling_limit_max_cu` is -1; expected a size'],
    ['a size of 0', { autoscaling_limit_min_cu: 0 }, '`autoscaling_limit_min_cu` is 0; expected a size'],
    ['a tiny size', { autoscaling_limit_min_cu: 1e-320 }, '`autoscaling_limit_min_cu` is 1e-320; expected a size'],
    ['a huge size', { autoscaling_limit_max_cu: 1e21 }, '`autoscaling_limit_max_cu` is 1e+21; expected a size'],
    ['a size of null', { autoscaling_limit_min_cu: null }, '`autoscaling_limit_min_cu` is null; expected a size'],
    [
      'a missing size',
      { autoscaling_limit_max_cu: undefined },
      '`autoscaling_limit_max_cu` is missing; expected a size',
    ],
    [
      'a minimum above the maximum',
      { autoscaling_limit_min_cu: 4 },
      'is 4; expected at most `autoscaling_limit_max_cu`',
    ],
    ['an unknown type', { type: 'analytics' }, '`type` is "analytics"; expected read_write or read_only'],
    [
      'a time that is a string',
      { suspend_timeout_seconds: '300' },
      '`suspend_timeout_seconds` is "300"; expected a whole number',
    ],
    ['a flag that is a string', { disabled: 'no' }, '`disabled` is "no"; expected true or false'],
    [
      'a Postgres setting that is a number',
      { settings: { pg_settings: { a: 1 } } },
      '`settings.pg_settings.a` is 1; expected a string',
    ],
    ['an invalid branch id', { branch_id: '../x' }, '`branch_id` is "../x"; expected an id'],
  ])('the error for %s names the compute and the field', async (_what, odd, words) => {
    const api = await open(() =>
      ok({
        endpoints: [
          { ...endpoint, id: 'ep-0' },
          { ...endpoint, ...odd },
        ],
      }),
    )
    await expect(api.listComputes('shop')).rejects.toMatchObject({
      code: 'E_ANSWER',
      message: expect.stringMatching(/undocumented response for project shop: compute ep-1: /),
    })
    await expect(api.listComputes('shop')).rejects.toThrow(words)
  })

  test.each([
    ['an object instead of a list', { endpoints: {} }, 'the body: `endpoints` is {}; expected a list'],
    ['a missing list', {}, 'the body: `endpoints` is missing; expected a list'],
    ['a number instead of a compute', { endpoints: [endpoint, 7] }, 'compute 2 in the list: is 7; expected an object'],
    ['control characters', { endpoints: [{ ...endpoint, type: '\u001b[2J' }] }, '\\u001b[2J'],
  ])('the error for %s names the part of the body', async (_what, json, words) => {
    const api = await open(() => ok(json))
    await expect(api.listComputes('shop')).rejects.toThrow(words)
  })

  test.each([
    ['sizes outside the size table', { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 17 }],
    ['a negative scale-to-zero time', { suspend_timeout_seconds: -5 }],
    ['unknown states and fields', { current_state: 'hibernating', brand_new: { a: [1] } }],
    ['null in every optional field', { name: null, settings: null, disabled: null, suspend_timeout_seconds: null }],
  ])('a response with %s is accepted', async (_what, odd) => {
    const api = await open(() => ok({ endpoints: [{ ...endpoint, ...odd }] }))
    expect(await api.listComputes('shop')).toHaveLength(1)
  })
})

const BAD_IDS = [
  '../../other',
  '..',
  '.',
  'ep-x?y=z',
  '',
  'ep/../../../../admin',
  'EP-1',
  'ep 1',
  'x'.repeat(61),
  '%2e%2e',
]

describe('an invalid id never becomes part of a request path', () => {
  // promise: id-as-path
  test.each(BAD_IDS)('%j as a compute id is rejected', async (id) => {
    const api = await open(({ path }) =>
      ok(path.includes('branches') ? { branches: [] } : { endpoints: [{ ...endpoint, id }] }),
    )
    await expect(snapshot(api, ['shop'])).rejects.toMatchObject({ code: 'E_ANSWER' })
  })

  test.each(BAD_IDS)('%j as a branch or project id is rejected', async (id) => {
    const api = await open(({ path }) => {
      if (path.includes('branches')) return ok({ branches: [{ id, name: 'main' }] })
      return ok({ projects: [{ id, name: 'shop' }] })
    })
    await expect(api.listBranches('shop')).rejects.toMatchObject({ code: 'E_ANSWER' })
    await expect(api.listProjects()).rejects.toMatchObject({ code: 'E_ANSWER' })
  })

  test.each(BAD_IDS.filter((id) => id !== 'EP-1'))('%j as an operation id is rejected', async (id) => {
    const times = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }
    const api = await open(() =>
      ok({ operations: [{ id, project_id: 'p', action: 'a', status: 's', failures_count: 0, ...times }] }),
    )
    await expect(api.listOperations('shop')).rejects.toMatchObject({ code: 'E_ANSWER' })
  })

  // promise: id-as-path
  test.each(['../admin', 'a?b', 'a#b', 'a/b', '%2e'])('%j in a command is encoded', (id) => {
    const path = apiPath(id, 'endpoints', id)
    expect(new URL(path, 'http://x.test').pathname.split('/').slice(1)).toHaveLength(4)
    expect(path).toMatch(/^\/projects\/[^/?#]+\/endpoints\/[^/?#]+$/)
    expect(projectOf(path)).toBe(id)
  })

  test.each(['..', '.', ''])('%j in a command is rejected, since URLs resolve it even if it is encoded', (id) => {
    expect(() => apiPath(id)).toThrow('is not an id')
    expect(() => apiPath('shop', 'endpoints', id)).toThrow('is not an id')
  })
})

// promise: other-object
test.each([
  ['an operation', (api: WriteApi) => api.getOperation('shop', 'op-1')],
  ['a compute', (api: WriteApi) => api.getCompute('shop', 'ep-9')],
])('a response that contains %s other than the one requested is rejected', async (_what, read) => {
  const times = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }
  const api = await open(() =>
    ok({
      operation: { id: 'op-2', project_id: 'p', action: 'a', status: 'finished', failures_count: 0, ...times },
      endpoint,
      project: { id: 'other', name: 'other' },
    }),
  )
  await expect(read(api)).rejects.toThrow(/responded with (op-2|ep-1|other) instead of (op-1|ep-9|shop)/)
})

describe('wrong base URLs', () => {
  test.each([
    ['without its version', '', 404, 'this route does not exist'],
    ['with another path', '/v2', 404, 'this route does not exist'],
    ['with half of the path', '/api', 400, 'unknown resource'],
  ])('a base URL %s is reported as wrong, not as a missing project', async (_how, root, status, message) => {
    const api = await open(() => ({ status, json: { code: '', message } }), root)
    await expect(snapshot(api, ['shop'])).rejects.toMatchObject({
      code: 'E_BASE_URL',
      message: expect.stringMatching(new RegExp(`at http://127.0.0.1:\\d+${root || '/'} responded: ${message}`)),
      hint: expect.stringContaining('/api/v2'),
    })
  })

  test('a 404 for a project still counts as a missing project', async () => {
    const api = await open(() => ({ status: 404, json: { code: '', message: 'project not found' } }))
    expect(await snapshot(api, ['shop'])).toMatchObject({ projects: [], missing: ['shop'] })
  })
})

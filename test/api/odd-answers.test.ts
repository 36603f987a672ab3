/** Answers that are not as documented: what is refused, in which words, and what passes. */
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

describe('an odd value names the compute and the field', () => {
  test.each([
    ['a size as text', { autoscaling_limit_min_cu: '0.25' }, '`autoscaling_limit_min_cu` is "0.25"; expected a size'],
    ['a negative size', { autoscaling_limit_max_cu: -1 }, '`autoscaling_limit_max_cu` is -1; expected a size'],
    ['a size of 0', { autoscaling_limit_min_cu: 0 }, '`autoscaling_limit_min_cu` is 0; expected a size'],
    ['a tiny size', { autoscaling_limit_min_cu: 1e-320 }, '`autoscaling_limit_min_cu` is 1e-320; expected a size'],
    ['a huge size', { autoscaling_limit_max_cu: 1e21 }, '`autoscaling_limit_max_cu` is 1e+21; expected a size'],
    ['a size of null', { autoscaling_limit_min_cu: null }, '`autoscaling_limit_min_cu` is null; expected a size'],
    ['no size', { autoscaling_limit_max_cu: undefined }, '`autoscaling_limit_max_cu` is missing; expected a size'],
    [
      'limits the wrong way round',
      { autoscaling_limit_min_cu: 4 },
      'is 4; expected at most `autoscaling_limit_max_cu`',
    ],
    ['an unknown type', { type: 'analytics' }, '`type` is "analytics"; expected read_write or read_only'],
    [
      'a time as text',
      { suspend_timeout_seconds: '300' },
      '`suspend_timeout_seconds` is "300"; expected a whole number',
    ],
    ['a flag as text', { disabled: 'no' }, '`disabled` is "no"; expected true or false'],
    [
      'a setting as a number',
      { settings: { pg_settings: { a: 1 } } },
      '`settings.pg_settings.a` is 1; expected a string',
    ],
    ['an odd branch id', { branch_id: '../x' }, '`branch_id` is "../x"; expected an id'],
  ])('%s', async (_what, odd, words) => {
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
    ['a list that is none', { endpoints: {} }, 'the body: `endpoints` is {}; expected a list'],
    ['no list', {}, 'the body: `endpoints` is missing; expected a list'],
    ['an item that is none', { endpoints: [endpoint, 7] }, 'compute 2 in the list: is 7; expected an object'],
    ['control characters', { endpoints: [{ ...endpoint, type: '\u001b[2J' }] }, '\\u001b[2J'],
  ])('%s', async (_what, json, words) => {
    const api = await open(() => ok(json))
    await expect(api.listComputes('shop')).rejects.toThrow(words)
  })

  test.each([
    ['sizes that no table has', { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 17 }],
    ['odd times of scaling to zero', { suspend_timeout_seconds: -5 }],
    ['states and fields of a later version', { current_state: 'hibernating', brand_new: { a: [1] } }],
    ['null in every optional field', { name: null, settings: null, disabled: null, suspend_timeout_seconds: null }],
  ])('%s pass', async (_what, odd) => {
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

describe('an invalid id never becomes part of a path', () => {
  test.each(BAD_IDS)('%j, of a compute', async (id) => {
    const api = await open(({ path }) =>
      ok(path.includes('branches') ? { branches: [] } : { endpoints: [{ ...endpoint, id }] }),
    )
    await expect(snapshot(api, ['shop'])).rejects.toMatchObject({ code: 'E_ANSWER' })
  })

  test.each(BAD_IDS)('%j, of a branch and of a project', async (id) => {
    const api = await open(({ path }) => {
      if (path.includes('branches')) return ok({ branches: [{ id, name: 'main' }] })
      return ok({ projects: [{ id, name: 'shop' }] })
    })
    await expect(api.listBranches('shop')).rejects.toMatchObject({ code: 'E_ANSWER' })
    await expect(api.listProjects()).rejects.toMatchObject({ code: 'E_ANSWER' })
  })

  test.each(BAD_IDS.filter((id) => id !== 'EP-1'))('%j, of an operation', async (id) => {
    const times = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }
    const api = await open(() =>
      ok({ operations: [{ id, project_id: 'p', action: 'a', status: 's', failures_count: 0, ...times }] }),
    )
    await expect(api.listOperations('shop')).rejects.toMatchObject({ code: 'E_ANSWER' })
  })

  test.each(['../admin', 'a?b', 'a#b', 'a/b', '%2e'])('%j, typed by a person', (id) => {
    const path = apiPath(id, 'endpoints', id)
    expect(new URL(path, 'http://x.test').pathname.split('/').slice(1)).toHaveLength(4)
    expect(path).toMatch(/^\/projects\/[^/?#]+\/endpoints\/[^/?#]+$/)
    expect(projectOf(path)).toBe(id)
  })

  test.each(['..', '.', ''])('%j, typed by a person, is refused: a URL resolves it however it is encoded', (id) => {
    expect(() => apiPath(id)).toThrow('is not an id')
    expect(() => apiPath('shop', 'endpoints', id)).toThrow('is not an id')
  })
})

test.each([
  ['an operation', (api: WriteApi) => api.getOperation('shop', 'op-1')],
  ['a compute', (api: WriteApi) => api.getCompute('shop', 'ep-9')],
])('%s that is another one than was asked for is not taken for it', async (_what, read) => {
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

describe('a base URL that leads past the API', () => {
  test.each([
    ['without its version', '', 404, 'this route does not exist'],
    ['with another path', '/v2', 404, 'this route does not exist'],
    ['with half of its path', '/api', 400, 'unknown resource'],
  ])(
    '%s is named, with the words of the service, and not taken for a project that is not there',
    async (_how, root, status, message) => {
      const api = await open(() => ({ status, json: { code: '', message } }), root)
      await expect(snapshot(api, ['shop'])).rejects.toMatchObject({
        code: 'E_BASE_URL',
        message: expect.stringMatching(new RegExp(`at http://127.0.0.1:\\d+${root || '/'} responded: ${message}`)),
        hint: expect.stringContaining('/api/v2'),
      })
    },
  )

  test('a project that is not there is still that', async () => {
    const api = await open(() => ({ status: 404, json: { code: '', message: 'project not found' } }))
    expect(await snapshot(api, ['shop'])).toMatchObject({ projects: [], missing: ['shop'] })
  })
})

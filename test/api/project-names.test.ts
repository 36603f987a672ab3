/** What the names of projects cost, and that a plan does without them. */
import { afterEach, expect, test } from 'vitest'
import { createReadApi } from '../../src/api/index.ts'
import { fakeClock } from '../apply/fake-api.ts'
import { type Answer, scriptedServer } from './server.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

/** @param refused what the service says instead of a list. */
const open = async (projects: Readonly<Record<string, string>>, refused?: number) => {
  const all = Object.entries(projects).map(([id, name]) => ({ id, name }))
  const server = await scriptedServer((request): Answer => {
    const path = request.path.replace('/api/v2', '')
    if (path.startsWith('/projects?')) {
      return refused === undefined ? { status: 200, json: { projects: all } } : { status: refused, json: {} }
    }
    const project = all.find(({ id }) => path === `/projects/${id}`)
    return project === undefined ? { status: 503, json: {} } : { status: 200, json: { project } }
  })
  const api = createReadApi({ baseUrl: server.url, apiKey: 'key', clock: fakeClock() })
  opened.push(server, api)
  return { api, asked: () => server.asked.map(({ path }) => path.replace(/^\/api\/v2|\?.*$/g, '')) }
}

const FLEET = { a: 'Alpha', b: 'Beta', c: 'Gamma' }
const NAMES = new Map(Object.entries(FLEET))

test('one request for one project', async () => {
  const { api, asked } = await open(FLEET)
  expect(await api.projectNames(['a'])).toEqual(new Map([['a', 'Alpha']]))
  expect(asked()).toEqual(['/projects/a'])
})

test('one request for many projects, and none the second time', async () => {
  const { api, asked } = await open(FLEET)
  expect(await api.projectNames(['a', 'b', 'c'])).toEqual(NAMES)
  expect(await api.projectNames(['c', 'b', 'a'])).toEqual(NAMES)
  expect(asked()).toEqual(['/projects'])
})

test.each([400, 403, 503])('where the list is refused with %i, one request a project', async (status) => {
  const { api, asked } = await open(FLEET, status)
  expect(await api.projectNames(['a', 'b', 'c'])).toEqual(NAMES)
  expect(asked()).toEqual(['/projects', '/projects/a', '/projects/b', '/projects/c'])
})

test('a name that the service does not give is left out, and not waited for', async () => {
  const { api, asked } = await open({ a: 'Alpha' })
  expect(await api.projectNames(['a', 'hidden'])).toEqual(new Map([['a', 'Alpha']]))
  expect(asked()).toEqual(['/projects/a', '/projects/hidden'])
})

/** An unreadable project does not hide the others; problems that affect all projects fail the snapshot. */
import { expect, test } from 'vitest'
import { ApiError, type ReadApi, snapshot, streamOperations } from '../../src/api/index.ts'
import { systemClock } from '../../src/base/index.ts'
import type { ObservedProject } from '../../src/model/index.ts'
import { fakeProjects, refused } from './fake-projects.ts'

const IDS = ['a', 'b', 'c']
const projects: readonly ObservedProject[] = IDS.map((id) => ({ id, branches: [], computes: [] }))
const read = (failures: Readonly<Record<string, Error>>, ids: readonly string[] = IDS) =>
  snapshot(fakeProjects(projects, failures), ids)

test.each([
  ['access denied', refused(403)],
  ['a server error', refused(500)],
  ['an undocumented response', refused(200, 'E_ANSWER')],
  ['a response that is too large', new ApiError('E_ANSWER', 'too large', { method: 'GET', path: '/' })],
])('%s for one project leaves that project out and records why', async (_why, error) => {
  const seen = await read({ b: error })
  expect(seen.projects.map(({ id }) => id)).toEqual(['a', 'c'])
  expect(seen.missing).toEqual([])
  expect(seen.unreadable).toMatchObject([{ id: 'b', message: error.message }])
})

test('a project that does not exist is listed as missing, not as unreadable', async () => {
  expect(await read({}, ['a', 'gone'])).toMatchObject({ missing: ['gone'], projects: [{ id: 'a' }] })
  expect(await read({}, ['a', 'gone'])).not.toHaveProperty('unreadable')
})

test.each([
  ['a wrong key', refused(401)],
  ['the rate limit', refused(429)],
  ['a missing response', new ApiError('E_NETWORK', 'no answer', { method: 'GET', path: '/' })],
  ['a redirect', refused(302, 'E_REDIRECT')],
])('%s for one project fails the whole snapshot', async (_why, error) => {
  await expect(read({ b: error })).rejects.toBe(error)
})

test('a snapshot stops early if the first projects all fail', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => `p${index}`)
  const asked: string[] = []
  const api = fakeProjects([])
  const failing = {
    ...api,
    listBranches: async (id: string) => {
      asked.push(id)
      throw refused(503)
    },
  }
  await expect(snapshot(failing, ids, { concurrency: 4 })).rejects.toThrow('The service says 503')
  expect(asked.length).toBeLessThan(10)
})

test('a snapshot contains project names, and lists the ids of projects that were given by name', async () => {
  const named: readonly ObservedProject[] = [
    { id: 'amber-field-1', name: 'billing', branches: [], computes: [] },
    { id: 'calm-sea-2', branches: [], computes: [] },
  ]
  const seen = await snapshot(fakeProjects(named), ['amber-field-1', 'calm-sea-2', 'billing', 'nobody'])
  expect(seen.projects.map(({ name }) => name)).toEqual(['billing', undefined])
  expect(seen.missing).toEqual(['billing', 'nobody'])
  expect(seen.namesakes).toEqual([{ name: 'billing', ids: ['amber-field-1'] }])
})

test('all operations are read even if pages are shorter than requested and the last cursor repeats', async () => {
  const all = Array.from({ length: 250 }, (_, at) => ({ id: `op-${at}` }))
  const api = {
    listOperations: async (_project: string, { cursor = '0' }: { cursor?: string } = {}) => {
      const from = Number(cursor)
      return { operations: all.slice(from, from + 100), cursor: String(Math.min(from + 100, 200)) }
    },
  }
  const read: string[] = []
  for await (const { id } of streamOperations(api as unknown as ReadApi, 'shop', systemClock)) read.push(id)
  expect(read).toEqual(all.map(({ id }) => id))
})

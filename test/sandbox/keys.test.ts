import { expect, test } from 'vitest'
import type { SandboxOptions } from '../../src/sandbox/index.ts'
import { caller, openSandbox } from './open-sandbox.ts'

const SEED = {
  projects: [
    { id: 'mine', org: 'org-acme', branches: [{ name: 'main' }] },
    { id: 'theirs', org: 'org-other', branches: [{ name: 'main' }] },
  ],
  keys: [
    { kind: 'personal', key: 'key-personal' },
    { kind: 'organization', org: 'org-acme', key: 'key-organization' },
    { kind: 'project', project: 'mine', key: 'key-project' },
    { kind: 'personal', key: 'key-revoked', revoked: true },
  ],
} as const satisfies SandboxOptions['seed']

const open = async (apiKey: string) => {
  const { sandbox } = await openSandbox({ seed: SEED })
  return caller({ apiUrl: sandbox.apiUrl, apiKey })
}

test.each([
  ['personal', 'GET', '/projects', 400],
  ['personal', 'GET', '/projects?org_id=org-acme', 200],
  ['personal', 'GET', '/projects?org_id=org-nope', 404],
  ['personal', 'GET', '/users/me', 200],
  ['personal', 'POST', '/projects', 201],
  ['organization', 'GET', '/projects', 200],
  ['organization', 'GET', '/projects?org_id=org-other', 403],
  ['organization', 'GET', '/users/me/organizations', 404],
  ['organization', 'POST', '/projects', 201],
  ['organization', 'DELETE', '/projects/mine', 200],
  ['project', 'GET', '/projects/mine/endpoints', 200],
  ['project', 'GET', '/projects/theirs/endpoints', 403],
  ['project', 'POST', '/projects/theirs/branches', 403],
  ['project', 'POST', '/projects/mine/branches', 201],
  ['project', 'POST', '/projects', 403],
  ['project', 'DELETE', '/projects/mine', 403],
  ['project', 'GET', '/users/me', 404],
  ['revoked', 'GET', '/projects/mine', 401],
])('with a %s key, %s %s returns %i', async (kind, method, path, status) => {
  const call = await open(`key-${kind}`)
  const body = path === '/projects' && method === 'POST' ? { project: {} } : undefined
  expect((await call(method, path, body)).status).toBe(status)
})

test.each([
  ['personal', 'api_key_user'],
  ['organization', 'api_key_org'],
  ['project', 'api_key_org'],
])('GET /auth reports a %s key as %s', async (kind, auth_method) => {
  const call = await open(`key-${kind}`)
  expect((await call('GET', '/auth')).body).toMatchObject({ auth_method })
})

test("an organization key lists its organization's projects, and a project-scoped key lists its project", async () => {
  for (const kind of ['organization', 'project']) {
    const call = await open(`key-${kind}`)
    const { projects } = (await call('GET', '/projects')).body
    expect(projects.map(({ id }: { id: string }) => id)).toEqual(['mine'])
  }
})

test('a personal key can list the organizations', async () => {
  const call = await open('key-personal')
  const { organizations } = (await call('GET', '/users/me/organizations')).body
  expect(organizations.map(({ id }: { id: string }) => id)).toEqual(['org-acme', 'org-other'])
})

test('a project can only be created in an organization that exists', async () => {
  const personal = await open('key-personal')
  const made = await personal('POST', '/projects', { project: { org_id: 'org-acme' } })
  expect(made).toMatchObject({ status: 201, body: { project: { org_id: 'org-acme' } } })
  expect(await personal('POST', '/projects', { project: { org_id: 'org-nope' } })).toMatchObject({
    status: 404,
    body: { message: 'organization not found: org-nope' },
  })
  const organization = await open('key-organization')
  expect((await organization('POST', '/projects', { project: { org_id: 'org-other' } })).status).toBe(403)
})

test('a new key grants the access of its type until it is revoked, and key lists omit the secret', async () => {
  const { sandbox, call } = await openSandbox({ seed: SEED })
  const as = (apiKey: string) => caller({ apiUrl: sandbox.apiUrl, apiKey })
  const made = await call('POST', '/organizations/org-acme/api_keys', { key_name: 'ci' })
  const scoped = await call('POST', '/organizations/org-acme/api_keys', { key_name: 'app', project_id: 'mine' })
  const mine = await call('POST', '/api_keys', { key_name: 'laptop' })
  expect((await as(made.body.key)('GET', '/projects')).body.projects).toMatchObject([{ id: 'mine' }])
  expect(await as(scoped.body.key)('GET', '/projects/theirs')).toMatchObject({ status: 403 })
  expect(await as(mine.body.key)('GET', '/projects/theirs')).toMatchObject({ status: 200 })

  const listed = (await call('GET', '/organizations/org-acme/api_keys')).body
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(['from the seed', 'from the seed', 'ci', 'app'])
  expect(listed[0].created_at).toBe('2026-01-01T00:00:00Z')
  expect(listed[2]).toMatchObject({ id: made.body.id, last_used_at: '2026-01-01T00:00:00Z' })
  expect(JSON.stringify(listed)).not.toContain(made.body.key)

  const path = `/organizations/org-acme/api_keys/${made.body.id}`
  expect((await call('DELETE', path)).body).toMatchObject({ name: 'ci', revoked: true })
  expect((await as(made.body.key)('GET', '/projects')).status).toBe(401)
  expect((await call('DELETE', path)).status).toBe(404)
  expect((await call('GET', '/organizations/org-acme/api_keys')).body).toHaveLength(3)
})

test('keys survive a restart, and only their digests are stored', async () => {
  const { sandbox, call } = await openSandbox({ seed: SEED })
  const { key } = (await call('POST', '/api_keys', { key_name: 'laptop' })).body
  const dump = sandbox.control.dump()
  expect(JSON.stringify(dump)).not.toContain(key)
  const other = await openSandbox()
  other.sandbox.control.load(dump)
  const as = caller({ apiUrl: other.sandbox.apiUrl, apiKey: key })
  expect((await as('GET', '/users/me')).status).toBe(200)
})

test.each([
  ['personal', 'GET', '/organizations/org-acme', 200],
  ['personal', 'GET', '/organizations/org-none/api_keys', 404],
  ['organization', 'GET', '/organizations/org-acme/api_keys', 200],
  ['organization', 'GET', '/organizations/org-other/api_keys', 403],
  ['organization', 'GET', '/api_keys', 404],
  ['project', 'GET', '/organizations/org-acme/api_keys', 403],
  ['project', 'POST', '/projects/mine/recover', 403],
  ['organization', 'POST', '/projects/auth/keys', 501],
])('with a %s key, %s %s returns %i', async (kind, method, path, status) => {
  const call = await open(`key-${kind}`)
  expect((await call(method, path)).status).toBe(status)
})

test('a project-scoped key can only be created for a project of the same organization', async () => {
  const { call } = await openSandbox({ seed: SEED })
  const body = { key_name: 'app', project_id: 'theirs' }
  expect(await call('POST', '/organizations/org-acme/api_keys', body)).toMatchObject({ status: 404 })
  expect(await call('POST', '/api_keys', { key_name: 'k'.repeat(65) })).toMatchObject({ status: 400 })
})

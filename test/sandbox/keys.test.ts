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
  ['personal', 'GET', '/projects/mine', 200],
  ['personal', 'GET', '/projects/theirs', 200],
  ['personal', 'GET', '/projects', 400],
  ['personal', 'GET', '/projects?org_id=org-acme', 200],
  ['personal', 'GET', '/projects?org_id=org-nope', 404],
  ['personal', 'GET', '/users/me', 200],
  ['personal', 'POST', '/projects', 201],
  ['organization', 'GET', '/projects/mine', 200],
  ['organization', 'GET', '/projects/theirs', 404],
  ['organization', 'GET', '/projects', 200],
  ['organization', 'GET', '/projects?org_id=org-other', 403],
  ['organization', 'GET', '/users/me/organizations', 404],
  ['organization', 'POST', '/projects', 201],
  ['organization', 'DELETE', '/projects/mine', 200],
  ['project', 'GET', '/projects/mine', 200],
  ['project', 'GET', '/projects/mine/endpoints', 200],
  ['project', 'GET', '/projects/theirs', 403],
  ['project', 'GET', '/projects/theirs/endpoints', 403],
  ['project', 'POST', '/projects/theirs/branches', 403],
  ['project', 'POST', '/projects/mine/branches', 201],
  ['project', 'POST', '/projects', 403],
  ['project', 'DELETE', '/projects/mine', 403],
  ['project', 'GET', '/users/me', 404],
  ['revoked', 'GET', '/projects/mine', 401],
  ['unknown', 'GET', '/projects/mine', 401],
])('a %s key: %s %s is %i', async (kind, method, path, status) => {
  const call = await open(`key-${kind}`)
  expect((await call(method, path)).status).toBe(status)
})

test.each([
  ['personal', 'api_key_user'],
  ['organization', 'api_key_org'],
  ['project', 'api_key_org'],
])('GET /auth says what a %s key is: %s', async (kind, auth_method) => {
  const call = await open(`key-${kind}`)
  expect((await call('GET', '/auth')).body).toMatchObject({ auth_method })
})

test('an organization key lists the projects of its organization, a project key its project', async () => {
  for (const kind of ['organization', 'project']) {
    const call = await open(`key-${kind}`)
    const { projects } = (await call('GET', '/projects')).body
    expect(projects.map(({ id }: { id: string }) => id)).toEqual(['mine'])
  }
})

test('a personal key lists the organizations', async () => {
  const call = await open('key-personal')
  const { organizations } = (await call('GET', '/users/me/organizations')).body
  expect(organizations.map(({ id }: { id: string }) => id)).toEqual(['org-acme', 'org-other'])
})

test('a project is made in an organization that exists, or not at all', async () => {
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

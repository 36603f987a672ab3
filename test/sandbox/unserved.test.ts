import { expect, test } from 'vitest'
import { OFFICIAL } from '../clients/official.ts'
import { MAIN, openSandbox, P, sharedSandbox } from './open-sandbox.ts'
import { OPERATIONS } from './openapi.ts'

const shared = sharedSandbox()
/** Routes that return 404 instead of 501. */
const FEATURES = /^GET .*\/(auth|data-api\/\{\})$/
const routesOf = (all: readonly { readonly method: string; readonly path: string }[]) =>
  all.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w*\}/g, '{}')}`)

test('each route of the service that the sandbox does not serve returns 501, with where the routes are listed', async () => {
  const { call } = shared()
  const served = routesOf(OPERATIONS)
  const unserved = routesOf(OFFICIAL).filter((route) => !served.includes(route) && !FEATURES.test(route))
  expect(unserved.length).toBeGreaterThan(100)
  for (const route of unserved) {
    const [method = '', path = ''] = route.split(' ')
    const of = path.replace('/projects/{}', P).replace('/branches/{}', `/branches/${MAIN}`).replaceAll('{}', 'x')
    expect(await call(method, of), route).toMatchObject({
      status: 501,
      body: {
        code: 'NOT_SERVED_BY_SANDBOX',
        message: expect.stringMatching(/Espalier's sandbox: [A-Z]+ \/.*openapi\.json/),
      },
    })
  }
})

test.each([
  ['PUT', '/projects', 'GET, POST'],
  ['PUT', `${P}/branches/${MAIN}`, 'GET, PATCH, DELETE'],
  ['GET', `${P}/branches/${MAIN}/restore`, 'POST'],
  ['OPTIONS', `${P}/operations`, 'GET'],
])('%s %s returns 405 and lists the allowed methods', async (method, path, allowed) => {
  const { call } = shared()
  const { status, headers, body } = await call(method, path)
  expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: allowed })
  expect(body.message).toContain(allowed)
})

test('a route that does not exist returns 501 below the root of the API, and 404 elsewhere', async () => {
  const { call, sandbox } = shared()
  for (const path of ['/nothing', `${P}/nothing`, `${P}/branches/${MAIN}/roles/a/b`, '/projects//branches']) {
    expect(await call('GET', path)).toMatchObject({ status: 501, body: { code: 'NOT_SERVED_BY_SANDBOX' } })
  }
  const response = await fetch(new URL('/nothing', sandbox.apiUrl))
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ message: 'this route does not exist' })
})

test.each(['auth', 'data-api/neondb'])(
  'GET %s of a branch returns 404, because clients check whether the feature is enabled',
  async (feature) => {
    const { call } = shared()
    expect(await call('GET', `${P}/branches/${MAIN}/${feature}`)).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('is not enabled') },
    })
    expect(await call('POST', `${P}/branches/${MAIN}/${feature}`)).toMatchObject({ status: 501 })
  },
)

test('an unknown request field is ignored and logged once', async () => {
  const lines: string[] = []
  const { call } = await openSandbox({ log: (line) => lines.push(line) })
  for (const name of ['one', 'two']) {
    expect(
      await call('PATCH', P, { project: { name, surprise: 1, default_endpoint_settings: { odd: [] } }, 'a\n': 1 }),
    ).toMatchObject({ status: 200 })
  }
  await call('GET', '/projects?color=red')
  expect(lines.filter((line) => line.startsWith('ignored'))).toEqual([
    'ignored  "project.surprise"  PATCH /api/v2/projects/:project',
    'ignored  "project.default_endpoint_settings.odd"  PATCH /api/v2/projects/:project',
    'ignored  "a\\n"  PATCH /api/v2/projects/:project',
    'ignored  "?color"  GET /api/v2/projects',
  ])
})

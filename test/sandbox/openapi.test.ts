import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { SIZE_TABLE } from '../../src/model/index.ts'
import { Faults } from '../../src/sandbox/faults.ts'
import { manualClock } from '../../src/sandbox/index.ts'
import { openWorld } from '../../src/sandbox/open-world.ts'
import { createApp } from '../../src/sandbox/routes/app.ts'
import { memoryStore } from '../../src/sandbox/world/records.ts'
import { openSandbox, P } from './open-sandbox.ts'
import { DOCUMENT, OPERATIONS, undocumented } from './openapi.ts'

test('the API description is a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(structuredClone(DOCUMENT) as never)
  expect(result).toMatchObject({ valid: true })
})

test('the API description lists exactly the served routes', async () => {
  const faults = new Faults()
  const { world, computes } = await openWorld({
    clock: manualClock(),
    log: () => undefined,
    faults,
    store: memoryStore,
  })
  const nothing = (): void => undefined
  const app = createApp({
    world,
    computes,
    apiKey: 'key',
    rateLimits: false,
    faults,
    recorded: [],
    onProject: nothing,
    onRequest: nothing,
    log: nothing,
  })
  const names: Readonly<Record<string, string>> = {
    project: 'project_id',
    branch: 'branch_id',
    compute: 'endpoint_id',
    operation: 'operation_id',
    role: 'role_name',
    database: 'database_name',
    key: 'key_id',
    org: 'org_id',
  }
  const served = app.routes
    .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/v2/') && !path.endsWith('/openapi.json'))
    .map(({ method, path }) => {
      const below = path.replace('/api/v2', '')
      return `${method} ${below.replaceAll(/:(\w+)/g, (_all, name: string) => `{${names[name]}}`)}`
    })
  expect(OPERATIONS.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(served.sort())
})

test('the API description allows exactly the sizes in the size table', () => {
  expect(DOCUMENT.components.schemas.Size).toMatchObject({ enum: SIZE_TABLE.steps.map(({ cu }) => cu) })
})

test('the API description is served without a key under both paths', async () => {
  const { sandbox } = await openSandbox()
  for (const url of [`${sandbox.apiUrl}/openapi.json`, new URL('/openapi.json', sandbox.apiUrl)]) {
    expect(await (await fetch(url)).json()).toEqual(DOCUMENT)
  }
})

test('the check against the API description detects extra, missing and invalid fields', async () => {
  const { call } = await openSandbox()
  const { body } = await call('GET', P)
  const exchange = { method: 'GET', path: P, sent: undefined, status: 200 }
  expect(undocumented({ ...exchange, answered: body })).toEqual([])
  expect(undocumented({ ...exchange, answered: { project: { ...body.project, surprise: 1 } } })).toHaveLength(1)
  expect(undocumented({ ...exchange, answered: { project: { ...body.project, name: 1 } } })).toHaveLength(1)
  expect(undocumented({ ...exchange, answered: {} })).toHaveLength(1)
  expect(undocumented({ ...exchange, status: 302, answered: {} })).toHaveLength(1)
})

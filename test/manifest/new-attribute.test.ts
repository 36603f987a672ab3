/** A new attribute needs only a row in the attribute table. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { WriteApi } from '../../src/api/index.ts'
import type { Observed, Plan } from '../../src/model/index.ts'
import { send } from '../api/send.ts'
import { type ScriptedServer, scriptedServer } from '../api/server.ts'

// Test files share loaded modules, so all modules that read the table are reloaded here and again at the end.
vi.resetModules()
vi.doMock('../../src/model/attributes/table.ts', async (original) => {
  const table = await original<typeof import('../../src/model/attributes/table.ts')>()
  const { oneField } = await import('../../src/model/attributes/row.ts')
  const { formatDuration, parseDuration } = await import('../../src/model/duration.ts')
  const { text } = await import('../../src/base/index.ts')
  const warmUp = oneField('seconds', 'warm_up_seconds', {
    path: 'start.warmUp',
    schema: text({ pattern: '^\\d+[ms]$', description: 'How long to warm up.', examples: ['30s'] }),
    rule: 'invented',
    impact: () => 'restart',
    read: (value) => parseDuration(String(value)),
    write: (seconds) => formatDuration(seconds),
    format: formatDuration,
  })
  return { ...table, ATTRIBUTES: { ...table.ATTRIBUTES, warmUp } }
})
// The generated validator does not know the new row.
vi.doMock('../../src/manifest/generated/validator.js', async (original) => {
  const { createCompiler } = await import('../../src/manifest/definition/compiler.ts')
  const ajv = createCompiler()
  return {
    ...(await original<typeof import('../../src/manifest/generated/validator.js')>()),
    document: ajv.getSchema('document'),
    shared: ajv.getSchema('shared'),
  }
})

const { manifestTables } = await import('../../scripts/manifest-tables.ts')
const { createWriteApi, snapshot } = await import('../../src/api/index.ts')
const { decodePlanFile, encodePlanFile } = await import('../../src/apply/index.ts')
const { adoptInto, exportProject, formatManifest, manifestSchema, parseManifests } = await import(
  '../../src/manifest/index.ts'
)
const { plan } = await import('../../src/planner/index.ts')
const { encodeSnapshot, readSnapshot } = await import('../../src/workflow/index.ts')

const PROJECT = 'quiet-river-12345678'
const folder = mkdtempSync(join(tmpdir(), 'espalier-attribute-'))
let server: ScriptedServer
let api: WriteApi
let observed: Observed

beforeEach(async () => {
  const endpoint = {
    id: 'ep-1',
    host: 'ep-1.test',
    branch_id: 'br-1',
    type: 'read_write',
    current_state: 'active',
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 1,
    warm_up_seconds: 30,
  }
  server = await scriptedServer(({ method, path }) => {
    if (method === 'PATCH') return { status: 200, json: { endpoint, operations: [] } }
    return path.endsWith('/endpoints')
      ? { status: 200, json: { endpoints: [endpoint] } }
      : { status: 200, json: { branches: [{ id: 'br-1', name: 'main', default: true }], operations: [] } }
  })
  api = createWriteApi({ baseUrl: server.url, apiKey: 'key' })
  onTestFinished(() => api.close())
  observed = await snapshot(api, [PROJECT])
})
afterAll(() => {
  rmSync(folder, { recursive: true })
  vi.doUnmock('../../src/model/attributes/table.ts')
  vi.doUnmock('../../src/manifest/generated/validator.js')
  vi.resetModules()
})

const parse = (text: string) => parseManifests([{ path: 'a.yaml', text }])

const manifest = (attributes: string) =>
  `version: 1\nproject: ${PROJECT}\nbranches:\n  main:\n    primary: ${attributes}\n`

const planOf = (attributes: string): Plan => {
  const result = plan(parse(manifest(attributes)).desired, observed)
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.plan
}

test('a new attribute is parsed and validated', () => {
  expect(parse(manifest('{ start: { warmUp: 90s } }'))).toMatchObject({
    diagnostics: [],
    desired: { documents: [{ branches: [{ primary: { attributes: { warmUp: 90 } } }] }] },
  })
  expect(parse(manifest('{ start: { warmUp: soon } }')).diagnostics).toMatchObject([
    { code: 'E_VALUE', source: { line: 5, column: 33 } },
  ])
  expect(
    new Ajv2020({ strict: true, keywords: ['defaultSnippets', 'errorMessage', 'patternErrorMessage'] }).validate(
      manifestSchema(),
      {
        version: 1,
        project: 'p',
        defaults: { start: { warmUp: 1 } },
      },
    ),
  ).toBe(false)
})

test('a new attribute is inherited from defaults and profiles', () => {
  const text = `${manifest('{ profile: fast }')}defaults: { start: { warmUp: 5m } }\nprofiles: { fast: { start: { warmUp: 1m } } }\n`
  expect(parse(text).desired.documents[0]?.branches[0]?.primary).toMatchObject({
    attributes: { warmUp: 60 },
    sources: { 'start.warmUp': { line: 7 } },
  })
})

test('a new attribute is read from the API, planned, saved in a plan file and sent', async () => {
  expect(observed.projects[0]?.computes[0]?.attributes).toMatchObject({ warmUp: 30 })
  expect(planOf('{ start: { warmUp: 30s } }').steps).toEqual([])
  const changed = planOf('{ start: { warmUp: 90s } }')
  expect(changed.changes).toMatchObject([
    {
      impact: 'restart',
      reasons: ['VALUE_DIFFERS'],
      attributes: [{ path: 'start.warmUp', before: 30, after: 90, beforeText: '30s', afterText: '1m30s' }],
    },
  ])
  const parts = {
    plan: changed,
    observed,
    manifestDigest: 'a'.repeat(64),
    espalier: '1',
    createdAt: observed.takenAt,
  }
  const saved = decodePlanFile(encodePlanFile(parts), 'plan.json')
  const [step] = saved.plan.steps
  if (step === undefined) throw new Error('no step')
  await send(api, step.request)
  expect(JSON.parse(server.asked.at(-1)?.body ?? '')).toEqual({ endpoint: { warm_up_seconds: 90 } })
})

test('a new attribute is saved in a snapshot file', async () => {
  const file = join(folder, 'snapshot.json')
  writeFileSync(file, encodeSnapshot(observed))
  expect((await readSnapshot(file)).projects).toEqual(observed.projects)
})

test('a new attribute is imported into a new file and into an existing one', () => {
  const [project] = observed.projects
  if (project === undefined) throw new Error('no project')
  const { text } = exportProject(project, { pin: false, schema: 'x' })
  expect(text).toContain('start: { warmUp: 30s }')
  expect(parse(text).diagnostics).toEqual([])

  const file = { path: 'a.yaml', text: manifest('{ start: { warmUp: 90s } } # slow') }
  const adopted = adoptInto(file, [], project, planOf('{ start: { warmUp: 90s } }'), { pin: false })
  expect(adopted).toMatchObject({ text: manifest('{ start: { warmUp: 30s } } # slow') })
})

test('a new attribute is ordered and spelled canonically by fmt', () => {
  const text = manifest('{ start: { warmUp: 90s }, size: 1 }')
  expect(formatManifest(text)).toBe(manifest('{ size: 1, start: { warmUp: 1m30s } }'))
})

test('a new attribute is listed in the reference', () => {
  expect(manifestTables().compute).toContain('| `start.warmUp` | string | `warm_up_seconds` | How long to warm up. |')
})

/**
 * Counts requests, steps and bytes of a fleet. Unlike times (bench/), these do not depend on the machine, so a different
 * number means a different load on the service or the reader.
 */
import { expect, onTestFinished, test } from 'vitest'
import { createWriteApi, type WriteApi } from '../../src/api/index.ts'
import { applyPlan, jsonPlan } from '../../src/apply/index.ts'
import type { Clock } from '../../src/base/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { CONSENTS, type Plan } from '../../src/model/index.ts'
import { markdownPlan, terminalPlan } from '../../src/report/index.ts'
import { manualClock, type Sandbox, type Seed, startSandbox } from '../../src/sandbox/index.ts'
import { apply, type Manifests, planLive, select } from '../../src/workflow/index.ts'

const OPERATION_MS = 10_000
const range = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** Client and sandbox share a clock, which advances whenever the client waits. */
const open = async (
  projects: Seed['projects'],
  durationSpread = 0,
): Promise<{ sandbox: Sandbox; api: WriteApi; clock: Clock }> => {
  const time = manualClock()
  const clock: Clock = {
    now: () => time.now(),
    sleep: async (ms) => {
      await time.advance(ms)
    },
  }
  const durations = { apply_config: OPERATION_MS, start_compute: OPERATION_MS, suspend_compute: OPERATION_MS }
  const sandbox = await startSandbox({ clock: time, background: false, durations, durationSpread, seed: { projects } })
  const api = createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, clock, rateLimit: false })
  onTestFinished(async () => {
    await api.close()
    await sandbox.close()
  })
  return { sandbox, api, clock }
}

const manifestsOf = (documents: readonly string[]): Manifests => {
  const loaded = parseManifests([{ path: 'espalier.yaml', text: documents.join('\n---\n') }])
  expect(loaded.diagnostics).toEqual([])
  return { loaded, paths: ['espalier.yaml'] }
}

const project = (id: string, branches: number): Seed['projects'][number] => ({
  id,
  operations: 200,
  branches: range(branches, (at) => ({
    name: `b${at}`,
    computes: [{ id: `ep-${id}-${at}`, size: 1, scaleToZero: 'never' }],
  })),
})
const document = (id: string, ...branches: readonly string[]): string =>
  [`version: 1`, `project: ${id}`, 'branches:', ...branches.map((line) => `  ${line}`)].join('\n')
const sized = (branches: number, size: number): readonly string[] =>
  range(branches, (at) => `b${at}: { primary: { size: ${size} } }`)

const planFor = async (api: WriteApi, manifests: Manifests, readsOperations = true) => {
  const { observed, result } = await planLive(api, manifests, { concurrency: 16, readsOperations })
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return { observed, plan: result.plan }
}

test('a plan sends three requests per project, and one more if it has steps or has changed within 30 days', async () => {
  const { sandbox, api } = await open(range(20, (at) => project(`p${at}`, 10)))
  const manifests = manifestsOf(range(20, (at) => document(`p${at}`, ...sized(10, at < 5 ? 2 : 1))))
  const { plan } = await planFor(api, manifests)
  expect(sandbox.requests).toBe(4 * 20)
  expect(plan.steps).toHaveLength(5 * 10)
  await planFor(api, manifests, false)
  // Settings are read only once.
  expect(sandbox.requests).toBe((4 + 2) * 20)
  // By the clock of the service, not by that of this machine.
  await sandbox.clock.advance(31 * 24 * 3_600_000)
  await planFor(api, manifests)
  expect(sandbox.requests).toBe((4 + 2 + 2) * 20 + 5)
})

test('a glob over the names of a fleet lists the projects, and reads only those that are selected', async () => {
  const { sandbox, api } = await open(range(20, (at) => project(`p${at}`, 1)))
  const manifests = manifestsOf(range(20, (at) => document(`p${at}`, ...sized(1, 1))))
  const { plan } = await planFor(api, await select(manifests, { projects: ['p1*'] }), false)
  expect(plan.projects).toHaveLength(11)
  // The last page of the list is empty.
  expect(sandbox.requests).toBe(2 + 3 * 11)
})

test('apply without a prompt reads each project once before its first step', async () => {
  const { sandbox, api, clock } = await open([project('p', 3), project('q', 3)])
  const applied = await apply({
    manifests: manifestsOf([document('p', ...sized(3, 2)), document('q', ...sized(3, 2))]),
    open: async () => ({ api, close: async () => undefined }),
    clock,
    consent: { allow: new Set(CONSENTS) },
  })
  expect(applied.kind === 'ended' && applied.outcome.steps.map(({ status }) => status)).toEqual(range(6, () => 'done'))
  const paths = sandbox.control.requests().map(({ path }) => path.replace(/\?.*$/, ''))
  const firstStep = paths.findIndex((path) => /\/endpoints\/ep-/.test(path))
  const reads = ['p', 'q'].flatMap((id) =>
    ['', '/branches', '/endpoints', '/operations'].map((own) => `/projects/${id}${own}`),
  )
  expect(paths.slice(0, firstStep).sort()).toEqual(reads.sort())
})

test('the size of the printed plan grows with the changes, not with the fleet', async () => {
  const { api } = await open(range(10, (at) => project(`p${at}`, 4)))
  const plan = async (changing: number): Promise<Plan> =>
    (await planFor(api, manifestsOf(range(10, (at) => document(`p${at}`, ...sized(4, at < changing ? 2 : 1)))))).plan
  const bytes = (one: Plan) => ({
    terminal: Buffer.byteLength(terminalPlan(one, { color: false, width: 100 })),
    markdown: Buffer.byteLength(markdownPlan(one)),
    json: Buffer.byteLength(jsonPlan(one)),
  })
  expect(bytes(await plan(0))).toMatchInlineSnapshot(`
    {
      "json": 1204,
      "markdown": 66,
      "terminal": 52,
    }
  `)
  expect(bytes(await plan(1))).toMatchInlineSnapshot(`
    {
      "json": 14997,
      "markdown": 1986,
      "terminal": 373,
    }
  `)
  expect(bytes(await plan(5))).toMatchInlineSnapshot(`
    {
      "json": 70143,
      "markdown": 8439,
      "terminal": 1485,
    }
  `)
})

interface Case {
  readonly name: string
  readonly seed: Seed['projects']
  readonly documents: readonly string[]
  readonly steps: number
  readonly requestsAStep: number
}

const CASES: readonly Case[] = [
  {
    name: 'restarts of one project',
    seed: [project('p', 8)],
    documents: [document('p', ...sized(8, 2))],
    steps: 8,
    requestsAStep: 4,
  },
  {
    name: 'creates',
    seed: [project('p', 1)],
    documents: [document('p', `b0: { replicas: { ${range(10, (at) => `r${at}: { size: 0.25 }`).join(', ')} } }`)],
    steps: 10,
    requestsAStep: 6,
  },
  {
    name: 'a chain of moves, which start no operation',
    seed: [{ ...project('p', 10), branches: [...project('p', 10).branches, { name: 'b10' }] }],
    documents: [
      document('p', 'b0: { primary: absent }', ...range(10, (at) => `b${at + 1}: { primary: { id: ep-p-${at} } }`)),
    ],
    steps: 10,
    requestsAStep: 5,
  },
]

test.each(CASES)(
  'apply sends the expected number of requests per step, including polls, for $name',
  async ({ seed, documents, steps, requestsAStep }) => {
    const { sandbox, api, clock } = await open(seed)
    const { plan, observed } = await planFor(api, manifestsOf(documents))
    expect(plan.steps).toHaveLength(steps)
    const before = sandbox.requests
    const outcome = await applyPlan({
      plan,
      observed,
      api,
      clock,
      concurrency: 1,
      consent: { allow: new Set(CONSENTS) },
    })
    expect(outcome.steps.map(({ status }) => status)).toEqual(range(steps, () => 'done'))
    expect(sandbox.requests - before).toBe(steps * requestsAStep)
  },
)

test('apply sends no more requests per step if operation times vary by a tenth', async () => {
  const { sandbox, api, clock } = await open([project('p', 20)], 0.1)
  const { plan, observed } = await planFor(api, manifestsOf([document('p', ...sized(20, 2))]))
  const before = sandbox.requests
  await applyPlan({ plan, observed, api, clock, concurrency: 1, consent: { allow: new Set(CONSENTS) } })
  expect(sandbox.requests - before).toBe(20 * 4)
})

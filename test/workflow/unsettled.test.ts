/** A failed operation stays visible until its compute is settled, and holds back later waves, whoever caused it. */
import { expect, onTestFinished, test } from 'vitest'
import { createWriteApi } from '../../src/api/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { exitCodeOf, unknownSettlement } from '../../src/model/index.ts'
import { type FaultOrder, manualClock, startSandbox } from '../../src/sandbox/index.ts'
import { apply, type Manifests, planLive } from '../../src/workflow/index.ts'

const HOUR = 3_600_000
const WAVES = 'waves: [{ name: canary, projects: [canary] }]\n'
const PROJECTS = ['canary', 'shop'] as const
type Project = (typeof PROJECTS)[number]
type Sizes = Readonly<Record<Project, number>>

const manifests = (sizes: Sizes, shared: string): Manifests => ({
  loaded: parseManifests([
    { path: 'shared.yaml', text: `version: 1\n${shared}` },
    ...PROJECTS.map((project) => ({
      path: `${project}.yaml`,
      text: `version: 1\nproject: ${project}\nextends: shared.yaml\nbranches: { main: { primary: { size: ${sizes[project]} } } }\n`,
    })),
  ]),
  paths: [],
})

const onConfig = (effect: Extract<FaultOrder, { on: 'operation' }>['effect'], times = 1): FaultOrder => ({
  on: 'operation',
  action: 'apply_config',
  effect,
  times,
})

const open = async (shared = WAVES) => {
  const time = manualClock()
  const sandbox = await startSandbox({
    clock: time,
    background: false,
    seed: {
      projects: PROJECTS.map((id) => ({
        id,
        branches: [{ name: 'main', computes: [{ id: `ep-${id}`, size: 1, scaleToZero: 'never' }] }],
      })),
    },
  })
  onTestFinished(() => sandbox.close())
  await time.advance(HOUR)
  const clock = { now: () => time.now(), sleep: (ms: number) => time.advance(ms) }
  const api = createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, clock, rateLimit: false })
  onTestFinished(() => api.close())
  let sizes: Sizes = { canary: 1, shop: 1 }
  /** Sends a request of another client, and lets its operations end. */
  const byHand = async (path: string, method = 'POST', body?: unknown): Promise<void> => {
    const response = await fetch(`${sandbox.apiUrl}/projects/${path}`, {
      method,
      headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    expect(response.status, await response.text()).toBeLessThan(300)
    await time.advance(10_000)
  }
  return {
    control: sandbox.control,
    pass: (ms: number) => time.advance(ms),
    byHand,
    unknown: async () => unknownSettlement((await planLive(api, manifests(sizes, shared))).observed.projects),
    warnings: async () => {
      const { plan } = (await planLive(api, manifests(sizes, shared))).result
      return plan.warnings.filter(({ code }) => code === 'W_UNSETTLED')
    },
    /** Declares these sizes, and applies. */
    run: async (change: Partial<Sizes> = {}) => {
      sizes = { ...sizes, ...change }
      const applied = await apply({
        manifests: manifests(sizes, shared),
        open: async () => ({ api, close: async () => undefined }),
        clock,
        consent: { allow: new Set(['restart']) },
      })
      if (applied.kind !== 'ended') throw new Error(applied.kind)
      const ends = applied.outcome.steps.map(({ step, status }) => `${step.split('/')[0]} ${status}`)
      const [last] = applied.outcome.steps.slice(-1)
      return { ends, exit: exitCodeOf(applied.outcome, applied.plan), message: last?.message, outcome: applied.outcome }
    },
  }
}

type Stage = Awaited<ReturnType<typeof open>>

/** The canary's operation fails, so its change is stored, but not in effect. */
const failed = async (stage: Stage): Promise<void> => {
  stage.control.addFault(onConfig({ kind: 'error', message: 'no host had room' }))
  const { ends, exit, outcome } = await stage.run({ canary: 2, shop: 2 })
  expect(ends).toEqual(['canary failed', 'shop skipped'])
  expect(exit).toBe(3)
  expect(outcome.steps[0]).toMatchObject({ repair: 'restart', computeId: 'ep-canary' })
}

test('no retry goes past a canary whose operation failed', async () => {
  const stage = await open()
  await failed(stage)
  for (let retry = 0; retry < 3; retry += 1) {
    await stage.pass(HOUR)
    const { ends, exit, message } = await stage.run()
    expect(ends).toEqual(['shop skipped'])
    expect(exit).toBe(3)
    expect(message).toMatch(
      /^An earlier wave, canary, is not settled: apply_config \S+ on ep-canary of project canary ended as error\. To settle it, run `espalier compute restart ep-canary --project canary`, then `espalier apply` again\.$/,
    )
  }
  expect(await stage.warnings()).toMatchObject([
    {
      message: expect.stringMatching(
        /^The last apply_config of the primary on branch `main` of project `canary` \(ep-canary\) ended as error: operation \S+\. Its new values are stored but probably not in effect\.$/,
      ),
      hint: 'To put them into effect, which drops its connections, run `espalier compute restart ep-canary --project canary`.',
    },
  ])
})

const endpoint = 'canary/endpoints/ep-canary'
const SETTINGS = { endpoint: { settings: { pg_settings: { work_mem: '8MB' } } } }

test.each<[string, (stage: Stage) => Promise<unknown>]>([
  ['a restart', ({ byHand }) => byHand(`${endpoint}/restart`)],
  ['another client, which changes it', ({ byHand }) => byHand(endpoint, 'PATCH', SETTINGS)],
  [
    'sleep and wake',
    async ({ byHand }) => {
      await byHand(`${endpoint}/suspend`)
      await byHand(`${endpoint}/start`)
    },
  ],
  ['sleep, after which it reads its configuration', ({ byHand }) => byHand(`${endpoint}/suspend`)],
  [
    'a role of an application',
    ({ byHand, control }) => byHand(`canary/branches/${branchOf(control)}/roles`, 'POST', { role: { name: 'app' } }),
  ],
])('the canary is settled by %s', async (_, settle) => {
  const stage = await open()
  await failed(stage)
  await settle(stage)
  expect(await stage.warnings()).toEqual([])
  expect(await stage.run()).toMatchObject({ ends: ['shop done'], exit: 0 })
})

const branchOf = (control: Stage['control']): string =>
  control
    .dump()
    .changes.flatMap((change) =>
      'put' in change && change.put.kind === 'compute' && change.put.id === 'ep-canary' ? [change.put.branchId] : [],
    )[0] ?? ''

test('the canary is settled by a later change, in the run that makes it', async () => {
  const stage = await open()
  await failed(stage)
  expect(await stage.run({ canary: 3 })).toMatchObject({ ends: ['canary done', 'shop done'], exit: 0 })
})

test('a repair that fails does not settle the canary', async () => {
  const stage = await open()
  await failed(stage)
  stage.control.addFault({ on: 'operation', action: 'suspend_compute', effect: { kind: 'error' } })
  await stage.byHand(`${endpoint}/restart`)
  expect(await stage.run()).toMatchObject({ ends: ['shop skipped'], exit: 3 })
})

test('a compute that cannot start is started', async () => {
  const stage = await open()
  await stage.byHand(`${endpoint}/suspend`)
  stage.control.addFault({ on: 'operation', action: 'start_compute', effect: { kind: 'error' } })
  await stage.byHand(`${endpoint}/start`)
  expect(await stage.warnings()).toMatchObject([
    { hint: 'To start it, run `espalier compute start ep-canary --project canary`.' },
  ])
  await stage.byHand(`${endpoint}/start`)
  expect(await stage.warnings()).toEqual([])
})

test('a failed operation of a stranger warns, and stops only later waves', async () => {
  const role = { role: { name: 'app' } }
  for (const [shared, ends, exit] of [
    ['', ['shop done'], 0],
    [WAVES, ['shop skipped'], 3],
  ] as const) {
    const stage = await open(shared)
    stage.control.addFault(onConfig({ kind: 'error', message: 'no' }))
    await stage.byHand(`canary/branches/${branchOf(stage.control)}/roles`, 'POST', role)
    expect(await stage.warnings()).toHaveLength(1)
    expect(await stage.run({ shop: 2 })).toMatchObject({ ends, exit })
  }
})

test('what the service retries itself is waited for', async () => {
  const stage = await open()
  stage.control.addFault(onConfig({ kind: 'fail', message: 'busy' }, 2))
  await stage.byHand(endpoint, 'PATCH', SETTINGS)
  expect(await stage.run({ shop: 2 })).toMatchObject({ ends: ['shop done'], exit: 0 })
})

test('an operation that the list still shows as running is waited for by its id', async () => {
  const stage = await open()
  stage.control.addFault(onConfig({ kind: 'error', message: 'no' }))
  await stage.byHand(endpoint, 'PATCH', SETTINGS)
  // The operation started 10 s ago and takes 1.5 s.
  stage.control.addFault({
    on: 'request',
    path: '/projects/*/operations',
    effect: { kind: 'lag', ms: 9_500 },
    times: 0,
  })
  expect(await stage.run({ shop: 2 })).toMatchObject({
    ends: ['shop skipped'],
    exit: 3,
    message: expect.stringContaining('ended as error. To settle it, run `espalier compute restart ep-canary'),
  })
})

test('the failure is found behind hundreds of later operations, and is unknown behind thousands', async () => {
  const stage = await open('')
  await stage.byHand('canary/endpoints', 'POST', {
    endpoint: { branch_id: branchOf(stage.control), type: 'read_only' },
  })
  stage.control.addFault(onConfig({ kind: 'error', message: 'no' }))
  await stage.run({ canary: 2 })
  const others = async (count: number): Promise<void> => {
    const { changes } = stage.control.dump()
    const [template] = changes.flatMap((change) =>
      'put' in change &&
      change.put.kind === 'operation' &&
      change.put.projectId === 'canary' &&
      change.put.action === 'start_compute'
        ? [change.put]
        : [],
    )
    if (template === undefined) throw new Error('no operation')
    await stage.pass(HOUR)
    const now = stage.control.clock.now()
    const puts = Array.from({ length: count }, (_, at) => ({
      put: {
        ...template,
        id: crypto.randomUUID(),
        status: 'finished' as const,
        createdAtUs: (now - count + at) * 1_000,
        updatedAt: now,
      },
    }))
    stage.control.load({ version: 1, changes: [...changes, ...puts] })
  }
  await others(600)
  expect(await stage.warnings()).toHaveLength(1)
  await others(2_000)
  expect(await stage.warnings()).toEqual([])
  expect(await stage.unknown()).toContain('ep-canary')
})

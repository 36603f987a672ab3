/** Waves: each starts once the one before it is done. `--max-failures` stops a run. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createWriteApi } from '../../src/api/index.ts'
import { unsettledFinder, waveBlockedBy, wavesOf } from '../../src/apply/waves.ts'
import type { Clock } from '../../src/base/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import type { ApplyEvent, Plan, Step, StepOutcome } from '../../src/model/index.ts'
import { terminalPlan } from '../../src/report/index.ts'
import { manualClock, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { type ApplyRequest, apply, type Manifests, planLive, select } from '../../src/workflow/index.ts'
import { compute, fakeApi, fakeClock, operation } from './fake-api.ts'
import { apply as applySteps, observedOf, planWith, step } from './small-plans.ts'

const PROJECTS = ['canary-1', 'canary-2', 'shop', 'blog']
const SHARED = `version: 1
waves:
  - { name: canary, projects: [canary-*] }
  - { name: shops, projects: [shop] }
`
const manifests = (size = 2): Manifests => ({
  loaded: parseManifests([
    { path: 'shared.yaml', text: SHARED },
    ...PROJECTS.map((project) => ({
      path: `${project}.yaml`,
      text: `version: 1\nproject: ${project}\nextends: shared.yaml\nbranches: { main: { primary: { size: ${size} } } }\n`,
    })),
  ]),
  paths: [],
})

const open = async (): Promise<{ sandbox: Sandbox; clock: Clock }> => {
  const time = manualClock()
  const sandbox = await startSandbox({
    clock: time,
    seed: { projects: PROJECTS.map((id) => ({ id, branches: [{ name: 'main', computes: [{ size: 1 }] }] })) },
  })
  onTestFinished(() => sandbox.close())
  return { sandbox, clock: { now: () => time.now(), sleep: (ms) => time.advance(ms) } }
}

const run = async (
  { sandbox, clock }: { sandbox: Sandbox; clock: Clock },
  more: Partial<ApplyRequest> = {},
): Promise<{
  readonly order: readonly string[]
  readonly reasons: readonly (string | undefined)[]
  readonly ended: ReadonlyMap<string, string>
}> => {
  const order: string[] = []
  const api = createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, clock, rateLimit: false })
  const applied = await apply({
    manifests: manifests(),
    open: async () => ({ api, close: () => api.close() }),
    clock,
    consent: { allow: new Set(['restart']) },
    watch: () => ({
      event: (event: ApplyEvent) => {
        if (event.type === 'step-start') order.push(event.step.project)
      },
      end: async () => undefined,
    }),
    ...more,
  })
  if (applied.kind !== 'ended') throw new Error(applied.kind)
  const steps = new Map(applied.plan.steps.map(({ id, project }) => [id, project]))
  return {
    order,
    reasons: applied.outcome.steps.map(({ reason }) => reason),
    ended: new Map(
      applied.outcome.steps.map(({ step, status, message }) => [
        steps.get(step) ?? '',
        message === undefined ? status : `${status}: ${message}`,
      ]),
    ),
  }
}

test('a wave starts once the wave before it is done, and projects in no wave start last', async () => {
  const stage = await open()
  const { order, ended } = await run(stage)
  expect(order.slice(0, 2).toSorted()).toEqual(['canary-1', 'canary-2'])
  expect(order.slice(2)).toEqual(['shop', 'blog'])
  expect([...ended.values()]).toEqual(['done', 'done', 'done', 'done'])
})

test('a failed step stops later waves, but not other projects in its own wave', async () => {
  const stage = await open()
  stage.sandbox.control.addFault({
    on: 'request',
    method: 'PATCH',
    path: '/projects/canary-1/**',
    effect: { kind: 'status', status: 400 },
  })
  const { order, ended } = await run(stage)
  expect(order.toSorted()).toEqual(['canary-1', 'canary-2'])
  expect(ended.get('canary-2')).toBe('done')
  expect(ended.get('shop')).toBe('skipped: An earlier wave, canary, has 1 unfinished step.')
  expect(ended.get('blog')).toBe('skipped: An earlier wave, canary, has 1 unfinished step.')
})

test('--max-failures also stops projects of the same wave', async () => {
  const stage = await open()
  stage.sandbox.control.addFault({
    on: 'request',
    method: 'PATCH',
    path: '/projects/canary-1/**',
    effect: { kind: 'status', status: 400 },
  })
  const { ended, reasons } = await run(stage, { maxFailures: 0, concurrency: 1 })
  expect(reasons).toContain('too-many-failures')
  expect(ended.get('canary-2')).toBe('skipped: Not started: 1 step has failed, and --max-failures is 0.')
})

test('a single wave can be applied, and the plan lists all waves', async () => {
  const stage = await open()
  const { order } = await run(stage, { manifests: await select(manifests(), { wave: 'shops' }) })
  expect(order).toEqual(['shop'])
  await expect(select(manifests(), { wave: 'shop' })).rejects.toMatchObject({ hint: 'They have canary, shops.' })
  const api = createWriteApi({ baseUrl: stage.sandbox.apiUrl, apiKey: stage.sandbox.apiKey, clock: stage.clock })
  const { plan } = (await planLive(api, manifests(4))).result
  await api.close()
  expect(terminalPlan(plan, { color: false, width: 120 })).toContain(
    '\nWaves  canary (2 projects, 2 steps) → shops (1 project, 1 step) → projects in no wave (1 project, 1 step)\n',
  )
})

describe('a wave after an unfinished one', () => {
  const FRIDAY = { days: ['fri'], from: '00:00', to: '24:00', timezone: 'UTC' } as const
  const waves = [
    { name: 'first', projects: ['a', 'b'] },
    { name: 'second', projects: ['c'] },
    { name: 'third', projects: ['d'] },
  ]
  const inProject = (project: string, overrides: Partial<Step> = {}): Step => step(project, { project, ...overrides })
  const leftOut = (project: string): Pick<Plan, 'leftOut'> => ({ leftOut: [{ project, diagnostics: [] }] })
  const run = async (steps: readonly Step[], more: Partial<Plan> = {}) => {
    const outcome = await applySteps({ plan: { ...planWith(...steps), waves, ...more }, consent: { allow: new Set() } })
    return outcome.steps.map(({ step, status, message }) => `${step}: ${status}${message ? `: ${message}` : ''}`)
  }
  const free = { impact: 'none', consents: [] } as const
  const waiting = { consents: [], windows: [FRIDAY] } as const

  test('is scheduled if everything left in earlier waves is scheduled', async () => {
    const steps = [inProject('a', waiting), inProject('b', free), inProject('c', free), inProject('d', free)]
    expect((await run(steps)).slice(2)).toEqual([
      'c: scheduled: An earlier wave, first, has 1 unfinished step.',
      'd: scheduled: An earlier wave, first, has 1 unfinished step.',
    ])
  })

  test.each([
    [
      'in the same wave as a scheduled one',
      [inProject('a', waiting), inProject('b'), inProject('d', free)],
      'first',
      2,
    ],
    ['in another wave', [inProject('a', free), inProject('c'), inProject('d', free)], 'second', 1],
  ])('is skipped if a step %s was not allowed', async (_where, steps, wave, count) => {
    const unfinished = `${count} unfinished ${count === 1 ? 'step' : 'steps'}`
    expect((await run(steps)).at(-1)).toBe(`d: skipped: An earlier wave, ${wave}, has ${unfinished}.`)
  })

  test('is skipped if a project of an earlier wave could not be planned', async () => {
    expect(await run([inProject('c', free), inProject('d', free), inProject('none', free)], leftOut('b'))).toEqual([
      'c: skipped: A project in an earlier wave, first, could not be planned.',
      'd: skipped: An earlier wave, second, has 1 unfinished step.',
      'none: skipped: An earlier wave, second, has 1 unfinished step.',
    ])
  })

  test.each([
    ['scheduling', 'has not ended'],
    ['running', 'has not ended'],
    ['failed', 'ended as failed'],
  ])('names an operation that has left a compute unsettled and is %s: it %s', async (status, words) => {
    const plan = { ...planWith(inProject('c')), waves }
    const [wave] = wavesOf(plan)
    const operation = { id: 'op-1', action: 'apply_config', status, updatedAt: '' }
    const one = {
      id: 'ep-1',
      project: 'a',
      branch: 'main',
      compute: compute('ep-1'),
      operation,
      repair: 'restart' as const,
    }
    const blocked = wave && (await waveBlockedBy(plan, wave, new Map(), async () => [one]))
    expect(blocked?.(inProject('c')).message).toContain(`apply_config op-1 on ep-1 of project a ${words}. To settle it`)
  })

  test('names the wave of the project that is not settled', async () => {
    const plan = { ...planWith(inProject('none'), inProject('d'), inProject('c')), waves }
    const [second, third, last] = wavesOf(plan)
    expect([second, third, last].map((one) => one?.steps.map(({ id }) => id))).toEqual([['c'], ['d'], ['none']])
    const asked: (readonly string[])[] = []
    const unsettled = (project: string) => async (projects: readonly string[]) => {
      asked.push(projects)
      const operation = { id: 'op-1', action: 'apply_config', status: 'failed', updatedAt: '' }
      return [{ id: 'ep-1', project, branch: 'main', compute: compute('ep-1'), operation, repair: 'restart' as const }]
    }
    const blocked = third && (await waveBlockedBy(plan, third, new Map(), unsettled('c')))
    expect(blocked?.(inProject('d')).message).toMatch(/^An earlier wave, second, is not settled/)
    expect(last && (await waveBlockedBy(plan, last, new Map(), unsettled('elsewhere')))).toBeUndefined()
    expect(asked).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'd'],
    ])
  })

  test('is skipped if it has the projects in no wave, and one in the last wave could not be planned', async () => {
    expect(await run([inProject('none', free)], leftOut('d'))).toEqual([
      'none: skipped: A project in an earlier wave, third, could not be planned.',
    ])
  })

  test('is skipped, not scheduled, if a project could not be planned and a step is scheduled', async () => {
    const steps = [inProject('a', waiting), inProject('c', free)]
    expect((await run(steps, leftOut('b'))).at(-1)).toBe('c: skipped: An earlier wave, first, has 1 unfinished step.')
  })

  test('starts if the only projects that could not be planned are in its own wave, a later wave or no wave', async () => {
    for (const project of ['c', 'd', 'none']) {
      expect(await run([inProject('c', free)], leftOut(project))).toEqual(['c: done'])
    }
  })
})

describe('the unsettled computes of earlier projects', () => {
  const failed = { id: 'op-0', action: 'apply_config', status: 'failed', updatedAt: '' }
  const idle = compute('ep-4', { state: 'idle' })
  const finder = (ends: Readonly<Record<string, string>>, outcomes: readonly Partial<StepOutcome>[] = []) => {
    const computes = [compute('ep-1'), compute('ep-2'), compute('ep-3'), idle]
    const observed = observedOf(computes)
    const settlement = {
      unsettled: [{ id: 'ep-1', operation: failed, repair: 'restart' as const }],
      open: Object.keys(ends).map((id) => ({ compute: id.replace('op', 'ep'), operation: id })),
      unknown: [],
    }
    const reads: string[] = []
    const api = {
      ...fakeApi({ computes }),
      getOperation: async (_project: string, id: string) => {
        reads.push(id)
        return ends[id] === '' ? undefined : operation(id)
      },
      listOperations: async () => ({
        operations: Object.entries(ends).map(([id, status]) => operation(id, { status })),
      }),
    } as ReturnType<typeof fakeApi>
    const plan = planWith()
    const find = unsettledFinder(
      { ...plan, unmanaged: [{ compute: { id: 'ep-3' } }] as unknown as Plan['unmanaged'] },
      {
        ...observed,
        projects: observed.projects.flatMap((one) => [
          { ...one, settlement },
          { ...one, id: 'q' },
        ]),
      },
      { api, clock: fakeClock(), operationTimeoutMs: 60_000, abort: undefined },
      new Map(
        outcomes.map((one, at) => [`${at}`, { step: '', status: 'done', operations: [], durationMs: 0, ...one }]),
      ),
    )
    const ids = async (...projects: readonly string[]) => (await find(projects)).map(({ id }) => id)
    return { find, ids, reads }
  }

  test('include those on which an operation ends badly while it is waited for, with its repair', async () => {
    const { find } = finder({ 'op-2': 'failed', 'op-5': 'failed', 'op-6': '' })
    expect(await find(['p'])).toEqual([
      expect.objectContaining({ id: 'ep-1', repair: 'restart' }),
      {
        ...{ id: 'ep-2', project: 'p', branch: 'br-main', compute: compute('ep-2'), repair: 'restart' },
        operation: { id: 'op-2', action: 'apply_config', status: 'failed', updatedAt: '' },
      },
    ])
  })

  test.each([
    ['whose operations end well', { 'op-2': 'finished' }],
    ['that are not managed', { 'op-3': 'failed' }],
    ['that are idle, because they read their configuration when they start', { 'op-4': 'failed' }],
    ['on which one of several operations ends well', { 'op-2': 'finished', 'op-4': 'failed' }],
  ])('do not include those %s', async (_which, ends) => {
    expect(await finder(ends).ids('p')).toEqual(['ep-1'])
  })

  test('are found by waiting once for each project', async () => {
    const { ids, reads } = finder({ 'op-2': 'failed', 'op-3': 'failed' })
    expect([await ids('q'), reads]).toEqual([[], []])
    expect([await ids('p', 'q'), await ids('p')]).toEqual([
      ['ep-1', 'ep-2'],
      ['ep-1', 'ep-2'],
    ])
    expect(reads).toEqual(['op-2'])
  })

  const finished = [{ id: 'op', action: 'apply_config', status: 'finished', failuresCount: 0 }]
  const suspended = { id: 'op', action: 'suspend_compute', status: 'finished', failuresCount: 0 }
  test.each<readonly [string, Partial<StepOutcome>, readonly string[]]>([
    ['has configured one of them', { computeId: 'ep-1', operations: [suspended, ...finished] }, ['ep-2']],
    ['has only suspended it', { computeId: 'ep-1', operations: [suspended] }, ['ep-1', 'ep-2']],
    ['has failed', { computeId: 'ep-1', operations: finished, status: 'failed' }, ['ep-1', 'ep-2']],
    ['has configured another compute', { computeId: 'ep-9', operations: finished }, ['ep-1', 'ep-2']],
  ])('if a step of this run %s', async (_what, outcome, expected) => {
    expect(await finder({ 'op-2': 'failed' }, [outcome]).ids('p')).toEqual(expected)
  })
})

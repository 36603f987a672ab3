/** Connections behave as the plan predicts: every impact, on real Postgres. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createWriteApi } from '../../src/api/index.ts'
import { systemClock } from '../../src/base/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import {
  type ApplyEvent,
  IMPACTS,
  type Impact,
  type Observation,
  type ObservedEffect,
  type Plan,
  RESTART_ONLY_SETTINGS,
} from '../../src/model/index.ts'
import type { FaultOrder, Sandbox, Seed } from '../../src/sandbox/index.ts'
import { apply } from '../../src/workflow/index.ts'
import { espalier } from '../e2e/espalier.ts'
import { type Client, clientOf, environmentOf, openReal } from '../e2e/real-computes.ts'

interface Case {
  readonly title: string
  readonly project: string
  readonly live: Seed['projects'][number]['branches']
  readonly desired: object
  readonly prune?: boolean
  /** Expected impact of each compute. */
  readonly impacts: Readonly<Record<string, Impact>>
}

const main = (project: string, compute: object = {}) => [
  { name: 'main', default: true, computes: [{ id: `ep-${project}-p`, size: 0.25, scaleToZero: 'never', ...compute }] },
]

const CASES: readonly Case[] = [
  {
    title: 'a new scale-to-zero time and a new name interrupt no one',
    project: 'live',
    live: main('live'),
    desired: { main: { primary: { scaleToZero: '10m', name: 'orders' } } },
    impacts: { 'ep-live-p': 'none' },
  },
  {
    title: 'a new replica interrupts no one',
    project: 'add',
    live: main('add'),
    desired: { main: { replicas: { reporting: { size: 0.25 } } } },
    impacts: {},
  },
  {
    title: 'new Postgres settings may restart the compute',
    project: 'settings',
    live: main('settings'),
    desired: { main: { primary: { postgres: { settings: { work_mem: '8MB' } } } } },
    impacts: { 'ep-settings-p': 'may-restart' },
  },
  {
    title: 'a new size restarts only the resized compute',
    project: 'size',
    live: [
      ...main('size'),
      { name: 'other', parent: 'main', computes: [{ id: 'ep-size-o', size: 0.25, scaleToZero: 'never' }] },
    ],
    desired: { main: { primary: { size: 0.5 } } },
    impacts: { 'ep-size-p': 'restart' },
  },
  {
    title: 'new autoscaling limits restart the compute',
    project: 'range',
    live: main('range', { size: { min: 0.25, max: 1 } }),
    desired: { main: { primary: { size: { min: 0.25, max: 2 } } } },
    impacts: { 'ep-range-p': 'restart' },
  },
  {
    title: 'a new preloaded library restarts the compute',
    project: 'preload',
    live: main('preload'),
    desired: { main: { primary: { postgres: { preload: ['pg_stat_statements'] } } } },
    impacts: { 'ep-preload-p': 'restart' },
  },
  {
    title: 'disabling a replica ends its connections',
    project: 'disable',
    live: [
      {
        name: 'main',
        default: true,
        computes: [
          { id: 'ep-disable-p', size: 0.25, scaleToZero: 'never' },
          { id: 'ep-disable-r', type: 'read_only', name: 'reporting', size: 0.25, scaleToZero: 'never' },
        ],
      },
    ],
    desired: { main: { primary: { size: 0.25 }, replicas: { reporting: { disabled: true } } } },
    impacts: { 'ep-disable-r': 'disconnect' },
  },
  {
    title: 'a move drops connections',
    project: 'move',
    live: [...main('move'), { name: 'old', parent: 'main' }],
    desired: { main: { primary: 'absent' }, old: { primary: { id: 'ep-move-p', size: 0.25 } } },
    impacts: { 'ep-move-p': 'move' },
  },
  {
    title: 'a pin to a compute of the other type results in a new host',
    project: 'replace',
    live: [
      {
        name: 'main',
        default: true,
        computes: [{ id: 'ep-replace-r', type: 'read_only', size: 0.25, scaleToZero: 'never' }],
      },
    ],
    desired: { main: { primary: { id: 'ep-replace-r', size: 0.25 } } },
    impacts: { 'ep-replace-r': 'replace' },
  },
  ...['delete', 'suspend-on-delete'].map((project) => ({
    title: `a deletion ends all connections to its compute (${project})`,
    project,
    live: [
      {
        name: 'main',
        default: true,
        computes: [
          { id: `ep-${project}-p`, size: 0.25, scaleToZero: 'never' },
          { id: `ep-${project}-r`, type: 'read_only' as const, name: 'old', size: 0.25, scaleToZero: 'never' },
        ],
      },
    ],
    desired: { main: { primary: { size: 0.25 } } },
    prune: true,
    impacts: { [`ep-${project}-r`]: 'delete' as const },
  })),
]

/** Whether a connection may, must or must not survive a change. */
const SURVIVES: Readonly<Record<Impact, boolean | 'perhaps'>> = {
  none: true,
  'may-restart': 'perhaps',
  restart: false,
  disconnect: false,
  move: false,
  replace: false,
  delete: false,
}

/** What Espalier may observe for each predicted impact. A moved compute keeps running, with other data. */
const OBSERVED: Readonly<Record<Impact, readonly ObservedEffect[]>> = {
  none: ['no-restart-seen'],
  'may-restart': ['no-restart-seen', 'restarted'],
  restart: ['restarted'],
  disconnect: ['suspended'],
  move: ['no-restart-seen', 'restarted-cause-unknown'],
  replace: ['unknown'],
  delete: ['unknown'],
}

/** The observation of each compute that existed before, from the events of an apply. */
const observationsIn = (events: string): ReadonlyMap<string, Observation> =>
  new Map(
    events.split('\n').flatMap((line) => {
      const event: ApplyEvent | undefined = line === '' ? undefined : JSON.parse(line)
      if (event?.type !== 'step-end' || event.outcome.observation === undefined) return []
      return [[event.outcome.computeId ?? '', event.outcome.observation] as const]
    }),
  )

interface Fault {
  readonly primary: object
  /** What goes wrong, and what somebody else does between the last read and the request. */
  readonly fault?: FaultOrder
  readonly meanwhile?: 'suspend' | 'restart'
  readonly predicted: Impact
  readonly observed: ObservedEffect
}

const onOperation = (project: string, kind: 'restart' | 'live' | 'error'): FaultOrder => ({
  on: 'operation',
  endpoint_id: `ep-${project}-p`,
  effect: { kind },
})
const onPatch = (project: string, kind: 'reset-before' | 'reset-after'): FaultOrder => ({
  on: 'request',
  method: 'PATCH',
  path: `/projects/${project}/**`,
  effect: { kind },
})
const SIZE = { size: 0.5 }
const TIMEOUT = { scaleToZero: '7d' }

/** By project. Each is tested with a simulated compute too (test/apply/observe.test.ts). */
const FAULTS: Readonly<Record<string, Fault>> = {
  'timeout-restarts': {
    primary: TIMEOUT,
    fault: onOperation('timeout-restarts', 'restart'),
    predicted: 'none',
    observed: 'restarted',
  },
  'size-is-live': {
    primary: SIZE,
    fault: onOperation('size-is-live', 'live'),
    predicted: 'restart',
    observed: 'no-restart-seen',
  },
  'sent-twice': {
    primary: SIZE,
    fault: onPatch('sent-twice', 'reset-before'),
    predicted: 'restart',
    observed: 'restarted-cause-unknown',
  },
  'answer-lost': {
    primary: SIZE,
    fault: onPatch('answer-lost', 'reset-after'),
    predicted: 'restart',
    observed: 'restarted',
  },
  'operation-fails': {
    primary: SIZE,
    fault: onOperation('operation-fails', 'error'),
    predicted: 'restart',
    observed: 'unknown',
  },
  'list-without-ours': {
    primary: SIZE,
    fault: {
      on: 'request',
      path: '/projects/list-without-ours/operations',
      effect: { kind: 'lag', ms: 600_000 },
      times: 0,
    },
    predicted: 'restart',
    observed: 'restarted-cause-unknown',
  },
  'self-suspends': { primary: TIMEOUT, meanwhile: 'suspend', predicted: 'none', observed: 'suspended-by-itself' },
  'foreign-restart': { primary: TIMEOUT, meanwhile: 'restart', predicted: 'none', observed: 'restarted-cause-unknown' },
}

let sandbox: Sandbox
beforeAll(async () => {
  const cases = CASES.map(({ project, live }) => ({ id: project, branches: live }))
  const effects = [
    { id: 'shrink', branches: main('shrink', { size: { min: 0.25, max: 4 } }) },
    { id: 'sleeps', branches: main('sleeps') },
    { id: 'later', branches: main('later') },
  ]
  const faults = Object.keys(FAULTS).map((id) => ({ id, branches: main(id) }))
  sandbox = await openReal({ seed: { projects: [...cases, ...effects, ...faults] } })
  // The service's documents disagree on what a deletion answers, so both answers are tested.
  const effect = { kind: 'suspend-on-delete' } as const
  sandbox.control.addFault({ on: 'request', path: '/projects/suspend-on-delete/**', effect, times: 0 })
})
afterAll(() => sandbox.close())

test('the cases of this table cover every impact', () => {
  const seen = new Set<Impact>(['none', ...CASES.flatMap(({ impacts }) => Object.values(impacts))])
  expect([...seen].sort()).toEqual([...IMPACTS].sort())
})

test.each(CASES)('$title', async ({ project, desired, prune = false, impacts }) => {
  const manifest = await save({ version: 1, project, prune, branches: desired })
  const clients = new Map<string, Client>()
  for (const compute of await sandbox.control.computes()) {
    if (compute.projectId === project) clients.set(compute.id, await clientOf(sandbox, compute.id))
  }
  const environment = environmentOf(sandbox)
  const planned = await espalier(['plan', manifest, '--format', 'json'], environment)
  expect(planned.code, planned.stderr).toBe(0)
  const plan: Plan = JSON.parse(planned.stdout)
  const said = new Map(
    plan.changes.flatMap(({ compute, impact }) => (compute.id ? [[compute.id, impact] as const] : [])),
  )
  expect(Object.fromEntries(said)).toEqual(impacts)

  const applied = await espalier(
    ['apply', manifest, '--auto-approve', '--format', 'json', '--allow', 'restart,disconnect,move,replace,delete'],
    environment,
  )
  expect(applied.code, applied.stdout + applied.stderr).toBe(0)
  const observed = observationsIn(applied.stdout)
  for (const [id, client] of clients) {
    const impact = said.get(id)
    const seen = observed.get(id)
    if (impact !== undefined) {
      expect(
        seen?.predicted === impact || (impact === 'replace' && seen?.predicted === 'delete'),
        `${id}: ${seen?.predicted}`,
      ).toBe(true)
      expect(OBSERVED[impact], id).toContain(seen?.observed)
    } else expect(seen?.observed ?? 'no-restart-seen').toBe('no-restart-seen')
    const survives = SURVIVES[said.get(id) ?? 'none']
    if (survives === true) {
      expect(
        await client.query('SELECT 1 AS one'),
        `${id} was dropped, although the plan predicted no interruption`,
      ).toEqual([{ one: 1 }])
      expect(client.endedWith).toBeUndefined()
    }
    if (survives === false) {
      await client.dropped
      expect(client.endedWith, `${id} was not dropped, against what the plan said`).toBe('57P01')
    }
    await client.close()
  }
})

test('resizing an idle compute interrupts no one, and the compute wakes with its new size', async () => {
  const { control } = sandbox
  const before = control.connections().length
  const [compute] = (await control.computes()).filter(({ projectId }) => projectId === 'live')
  const id = compute?.id ?? ''
  await post(`/projects/live/endpoints/${id}/suspend`)
  await expect.poll(async () => stateOf(id)).toBe('idle')
  const manifest = await save({ version: 1, project: 'live', branches: { main: { primary: { size: 1 } } } })
  const planned = await espalier(['plan', manifest, '--format', 'json'], environmentOf(sandbox))
  expect(JSON.parse(planned.stdout)).toMatchObject({ changes: [{ impact: 'none', unlessIdle: 'restart' }] })
  expect((await espalier(['apply', manifest, '--auto-approve'], environmentOf(sandbox))).code).toBe(0)
  expect(await stateOf(id)).toBe('idle')
  expect(control.connections()).toHaveLength(before)
  const client = await clientOf(sandbox, id)
  expect(await client.query('SHOW max_connections')).toEqual([{ max_connections: '419' }])
  expect(await stateOf(id)).toBe('active')
  await client.close()
})

test('whatever goes wrong, each observation is what a session sees', async () => {
  const clients = new Map<string, Client>()
  for (const project of Object.keys(FAULTS)) clients.set(project, await clientOf(sandbox, `ep-${project}-p`))
  for (const { fault } of Object.values(FAULTS)) if (fault !== undefined) sandbox.control.addFault(fault)
  // Times are in whole seconds, so a restart in the second of the first start would not be seen.
  await sandbox.clock.advance(60_000)
  const text = Object.entries(FAULTS)
    .map(([project, { primary }]) => stringify({ version: 1, project, branches: { main: { primary } } }))
    .join('---\n')
  const api = createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, rateLimit: false })
  const projectOfStep = new Map<string, string>()
  const applied = await apply({
    manifests: { loaded: parseManifests([{ path: 'a.yaml', text }]), paths: [] },
    open: async () => ({ api, close: async () => undefined }),
    clock: systemClock,
    consent: { allow: new Set(['restart']) },
    watch: () => ({
      event: async (event) => {
        if (event.type === 'step-start') projectOfStep.set(event.step.id, event.step.project)
        if (event.type !== 'call' || event.attempt !== 1) return
        const project = projectOfStep.get(event.step) ?? ''
        const { meanwhile } = FAULTS[project] ?? {}
        if (meanwhile === undefined) return
        const id = `ep-${project}-p`
        const { startedAt } = (await api.getCompute(project, id)) ?? {}
        await post(`/projects/${project}/endpoints/${id}/${meanwhile}`)
        const isOver = async (): Promise<boolean> => {
          const now = await api.getCompute(project, id)
          if (now?.pendingState !== undefined) return false
          return meanwhile === 'suspend'
            ? now?.state === 'idle'
            : now?.state === 'active' && now.startedAt !== startedAt
        }
        await expect.poll(isOver).toBe(true)
      },
      end: async () => undefined,
    }),
  })
  await api.close()
  if (applied.kind !== 'ended') throw new Error(applied.kind)
  const seen = Object.fromEntries(
    applied.outcome.steps.map(({ step, observation }) => [projectOfStep.get(step), observation]),
  )
  expect(seen).toMatchObject(
    Object.fromEntries(Object.entries(FAULTS).map(([id, { predicted, observed }]) => [id, { predicted, observed }])),
  )
  for (const [project, { observed }] of Object.entries(FAULTS)) {
    const client = clients.get(project)
    if (observed === 'no-restart-seen') expect(await client?.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
    else if (observed !== 'unknown') await expect.poll(() => client?.endedWith, { message: project }).toBe('57P01')
    await client?.close()
  }
}, 180_000)

/** Plans and applies a change of the primary of `main`, and returns the effects that the plan shows. */
const change = async (project: string, primary: object) => {
  const manifest = await save({ version: 1, project, branches: { main: { primary } } })
  const planned = await espalier(['plan', manifest, '--format', 'json'], environmentOf(sandbox))
  const applied = await espalier(['apply', manifest, '--auto-approve'], environmentOf(sandbox))
  expect(applied.code, applied.stdout + applied.stderr).toBe(0)
  const plan: Plan = JSON.parse(planned.stdout)
  const effects = new Map(plan.changes.flatMap((one) => one.effects).map((effect) => [effect.kind, effect]))
  return { effects, impact: plan.changes[0]?.impact }
}

test('Postgres has the connections and the temporary disk that the plan shows, before and after a resize', async () => {
  const limits = async () => {
    const client = await clientOf(sandbox, 'ep-shrink-p')
    const rows = [...(await client.query('SHOW max_connections')), ...(await client.query('SHOW temp_file_limit'))]
    await client.close()
    return Object.assign({}, ...rows)
  }
  const before = await limits()
  const { effects } = await change('shrink', { size: 1 })
  const after = await limits()
  const connections = effects.get('max-connections')
  expect([before.max_connections, after.max_connections]).toEqual([connections?.before, connections?.after].map(String))
  const disk = effects.get('temporary-disk')
  expect([before.temp_file_limit, after.temp_file_limit]).toEqual([`${disk?.before}GB`, `${disk?.after}GB`])
})

test('a compute that starts to sleep interrupts no one now, and ends idle sessions later', async () => {
  const client = await clientOf(sandbox, 'ep-sleeps-p')
  const { effects, impact } = await change('sleeps', { scaleToZero: '5m' })
  expect(impact).toBe('none')
  expect(effects.get('sleep')).toMatchObject({ before: false, after: 300, when: 'later' })
  expect(await client.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  await sandbox.clock.advance(310_000)
  await client.dropped
  expect(client.endedWith).toBe('57P01')
  await expect.poll(() => stateOf('ep-sleeps-p')).toBe('idle')
})

test('a setting that Postgres reads only when it starts takes effect after the next restart', async () => {
  const shown = async (client: Client) => (await client.query('SHOW track_activity_query_size'))[0]
  const client = await clientOf(sandbox, 'ep-later-p')
  const { effects } = await change('later', { postgres: { settings: { track_activity_query_size: '2kB' } } })
  expect(effects.get('next-restart')).toMatchObject({ after: ['track_activity_query_size'], when: 'later' })
  expect(await shown(client)).toEqual({ track_activity_query_size: '1kB' })
  const contexts = await client.query('SELECT lower(name) AS name, context FROM pg_settings')
  expect(
    contexts.filter(({ name, context }) => RESTART_ONLY_SETTINGS.has(String(name)) && context !== 'postmaster'),
  ).toEqual([])
  expect(contexts.filter(({ name }) => RESTART_ONLY_SETTINGS.has(String(name))).length).toBeGreaterThan(35)
  await post('/projects/later/endpoints/ep-later-p/restart')
  await client.dropped
  await expect.poll(() => stateOf('ep-later-p')).toBe('active')
  const again = await clientOf(sandbox, 'ep-later-p')
  expect(await shown(again)).toEqual({ track_activity_query_size: '2kB' })
  await again.close()
})

const save = async (manifest: object): Promise<string> => {
  const file = join(await mkdtemp(join(tmpdir(), 'espalier-impacts-')), 'espalier.yaml')
  await writeFile(file, stringify(manifest))
  return file
}

const post = (path: string): Promise<Response> =>
  fetch(`${sandbox.apiUrl}${path}`, { method: 'POST', headers: { authorization: `Bearer ${sandbox.apiKey}` } })

const stateOf = async (id: string): Promise<string | undefined> =>
  (await sandbox.control.computes()).find((compute) => compute.id === id)?.state

/** The checks of an apply, which no caller can skip. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createWriteApi } from '../../src/api/index.ts'
import { EXIT, systemClock } from '../../src/base/index.ts'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import { exitCodeOf } from '../../src/model/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { type ApplyRequest, apply, planLive, planSnapshot, savedPlanOf, withReview } from '../../src/workflow/index.ts'
import { send } from '../api/send.ts'
import { fakeApi, fakeClock } from '../apply/fake-api.ts'
import { PROJECT, world } from '../planner/world.ts'

const stage = async (size: string, state: 'active' | 'idle' = 'active') => {
  const sandbox = await startSandbox({
    timeScale: 100,
    seed: { projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ id: 'ep-main', size: 1, state }] }] }] },
  })
  onTestFinished(() => sandbox.close())
  const real = createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey })
  const seen: string[] = []
  const api = {
    ...real,
    listBranches: (id: string) => {
      seen.push('snapshot')
      return real.listBranches(id)
    },
  }
  const text = `version: 1\nproject: shop\nbranches: { main: { primary: { size: ${size} } } }\n`
  const request: ApplyRequest = {
    manifests: { loaded: parseManifests([{ path: 'shop.yaml', text }]), paths: ['shop.yaml'] },
    open: async () => {
      seen.push('open')
      return { api, close: () => real.close() }
    },
    clock: systemClock,
    consent: { allow: new Set(['restart']) },
    watch: () => ({ event: ({ type }) => void seen.push(type), end: async () => void seen.push('end') }),
  }
  const wake = () => send(real, { method: 'POST', path: '/projects/shop/endpoints/ep-main/start' } as never)
  return { request, seen, wake, api }
}

test('without a prompt, each project is read once before its first step', async () => {
  const { request, seen } = await stage('2')
  expect(await apply(request)).toMatchObject({ kind: 'ended', outcome: { converged: true } })
  expect(seen.slice(0, seen.indexOf('step-start'))).toEqual(['open', 'snapshot', 'version', 'plan'])
  expect(seen.at(-1)).toBe('end')
})

test('after the user confirms, each project is read again', async () => {
  const { request, seen, wake } = await stage('2', 'idle')
  const consent = async () => {
    await wake()
    return { allow: new Set(['restart'] as const) }
  }
  expect(await apply({ ...request, consent })).toMatchObject({ plan: { changes: [{ impact: 'restart' }] } })
  expect(seen.slice(0, seen.indexOf('step-start'))).toEqual(['open', 'snapshot', 'snapshot', 'version', 'plan'])
})

test.each([
  ['manifests with errors', '3.5', {}, { kind: 'invalid' }, []],
  [
    'a plan that the user declines',
    '2',
    { consent: async () => undefined },
    { kind: 'declined' },
    ['open', 'snapshot'],
  ],
])('no step starts for %s', async (_name, size, more, expected, calls) => {
  const { request, seen } = await stage(size)
  expect(await apply({ ...request, ...more })).toMatchObject(expected)
  expect(seen).toEqual(calls)
})

const limited = async (request: ApplyRequest, maxRestarts: number): Promise<ApplyRequest> => ({
  ...request,
  manifests: await withReview(request.manifests, { maxRestarts }, { env: {} }),
})

test('a plan that exceeds a limit is not applied, and the user is not asked', async () => {
  const { request, seen } = await stage('2')
  const applied = await apply({
    ...(await limited(request, 0)),
    consent: async () => {
      seen.push('asked')
      return undefined
    },
  })
  if (applied.kind !== 'ended') throw new Error(applied.kind)
  expect(applied.outcome.steps).toMatchObject([{ status: 'not-allowed', reason: 'refused' }])
  expect(exitCodeOf(applied.outcome, applied.plan)).toBe(EXIT.error)
  expect(seen).not.toContain('asked')
  expect(seen).not.toContain('step-start')
})

test('a compute that wakes while the user is asked counts as a restart', async () => {
  const { request, seen, wake } = await stage('2', 'idle')
  const applied = await apply({
    ...(await limited(request, 0)),
    consent: async () => {
      seen.push('asked')
      await wake()
      return { allow: new Set(['restart']) }
    },
  })
  if (applied.kind !== 'ended') throw new Error(applied.kind)
  expect(applied.plan.policies?.results).toMatchObject([{ policy: 'max-restarts', outcome: 'denied' }])
  expect(exitCodeOf(applied.outcome, applied.plan)).toBe(EXIT.error)
  expect(seen.filter((one) => one === 'asked')).toHaveLength(1)
  expect(seen).not.toContain('step-start')
})

test('a saved plan is denied by `--max-restarts`, which is not part of it, and is not stale', async () => {
  const { request, seen, api } = await stage('2')
  const saved = savedPlanOf(await planLive(api, request.manifests))
  const applied = await apply({ ...(await limited(request, 0)), saved })
  expect(applied).toMatchObject({ kind: 'ended', outcome: { steps: [{ reason: 'refused' }] } })
  expect(seen).not.toContain('step-start')
})

// promise: approval
test('an override is written to the outcome and, before the first step, to the journal, and without an override no step runs', async () => {
  const { request } = await stage('4')
  const text = 'version: 1\npolicies:\n  - { name: small, level: deny, reason: Because., rule: { maxSize: 2 } }\n'
  const policies = { files: ['p.yaml'], policies: parsePolicies([{ path: 'p.yaml', text }]).policies }
  const denied = await apply({ ...request, manifests: { ...request.manifests, review: { policies } } })
  expect(denied).toMatchObject({ kind: 'ended', outcome: { steps: [{ status: 'not-allowed' }] } })

  const overrides = new Map([['small', 'load test']])
  const review = { policies, overrides, actor: 'ann' }
  const journal = join(mkdtempSync(join(tmpdir(), 'espalier-override-')), 'journal.jsonl')
  const { request: again } = await stage('4')
  const ended = await apply({ ...again, manifests: { ...again.manifests, review }, journal })
  expect(ended).toMatchObject({
    outcome: { converged: true, notes: ['ann overrode policy `small` in shop: load test'] },
  })
  const events = readFileSync(journal, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events.slice(0, 4)).toMatchObject([
    { type: 'version' },
    { type: 'plan' },
    {
      type: 'policy-overridden',
      policy: 'small',
      project: 'shop',
      reason: 'load test',
      by: 'ann',
      violations: ['`small` denies 4 CU for primary on main (at most 2 CU)'],
    },
    { type: 'step-start' },
  ])
})

describe('signals while steps run', () => {
  const LIVE = world({ main: { primary: { id: 'ep-1' } }, dev: { primary: { id: 'ep-2' } } })
  const manifests = {
    loaded: parseManifests([
      {
        path: 'a.yaml',
        text: `version: 1\nproject: ${PROJECT}\nbranches: { main: { primary: { size: 2 } }, dev: { primary: { size: 2 } } }\n`,
      },
    ]),
    paths: [],
  }
  /** Applies two steps. @param signals what is received while the first step waits. */
  const interrupted = async (signals: readonly string[], stopping?: AbortController) => {
    const log: string[] = []
    const handlers = new Map<string, () => void>()
    const [project] = LIVE.projects
    const api = fakeApi({ branches: project?.branches ?? [], computes: project?.computes ?? [] })
    let calls = 0
    const applied = apply({
      manifests,
      planned: planSnapshot(LIVE, manifests),
      open: async () => ({ api, close: async () => undefined }),
      clock: fakeClock(),
      consent: { allow: new Set(['restart']) },
      concurrency: 1,
      signal: stopping?.signal,
      notify: (message) => void log.push(message.split(/[:.]/)[0] ?? ''),
      onSignal: (signal, handle) => {
        handlers.set(signal, handle)
        return () => void log.push(`${signal} released`)
      },
      watch: () => ({
        event: (event) => {
          if (event.type === 'interrupt') log.push('event')
          if (event.type !== 'call') return
          calls += 1
          if (calls > 1) return
          for (const signal of signals) handlers.get(signal)?.()
          stopping?.abort()
        },
        end: async (outcome) => void log.push(outcome === undefined ? 'no outcome' : 'end'),
      }),
    }).then(
      (result) => (result.kind === 'ended' ? result.outcome.steps.map(({ reason, status }) => reason ?? status) : []),
      () => ['aborted'],
    )
    return { steps: await applied, log }
  }
  const RELEASED = ['end', 'SIGINT released', 'SIGTERM released']

  test.each(['SIGINT', 'SIGTERM'])('%s stops new steps, and signals are released after the end', async (signal) => {
    expect(await interrupted([signal])).toEqual({
      steps: ['done', 'interrupted'],
      log: ['Stopping', 'event', ...RELEASED],
    })
  })

  test('a second one stops the running step, and more have no effect', async () => {
    const { steps, log } = await interrupted(['SIGINT', 'SIGTERM', 'SIGINT'])
    expect(log.filter((line) => line !== 'event')).toEqual(['Stopping', 'Stopping immediately', ...RELEASED])
    expect(steps).toEqual(['interrupted', 'interrupted'])
  })

  test('an aborted run stops without a message', async () => {
    expect(await interrupted([], new AbortController())).toEqual({ steps: ['done', 'interrupted'], log: RELEASED })
  })
})

/** The checks of an apply, which no caller can skip. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWriteApi } from '../../src/api/index.ts'
import { EXIT, systemClock } from '../../src/base/index.ts'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import { exitCodeOf } from '../../src/model/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { type ApplyRequest, apply, planLive, savedPlanOf, withReview } from '../../src/workflow/index.ts'
import { send } from '../api/send.ts'

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

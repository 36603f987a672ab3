/** The checks of an apply, which no caller can skip. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWriteApi } from '../../src/api/index.ts'
import { systemClock } from '../../src/base/index.ts'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { type ApplyRequest, apply } from '../../src/workflow/index.ts'

const stage = async (size: string) => {
  const sandbox = await startSandbox({
    timeScale: 100,
    seed: { projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ size: 1 }] }] }] },
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
  return { request, seen }
}

test('without a prompt, each project is read once before its first step', async () => {
  const { request, seen } = await stage('2')
  expect(await apply(request)).toMatchObject({ kind: 'ended', outcome: { converged: true } })
  expect(seen.slice(0, seen.indexOf('step-start'))).toEqual(['open', 'snapshot', 'version', 'plan'])
  expect(seen.at(-1)).toBe('end')
})

test('after the user confirms, each project is read again', async () => {
  const { request, seen } = await stage('2')
  await apply({ ...request, consent: async () => ({ allow: new Set(['restart']) }) })
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

test('a plan that exceeds a budget is rejected before the user is asked', async () => {
  const { request, seen } = await stage('2')
  const asked = apply({
    ...request,
    budgets: { maxRestarts: 0 },
    consent: async () => {
      seen.push('asked')
      return undefined
    },
  })
  await expect(asked).rejects.toMatchObject({ code: 'E_BUDGET' })
  expect(seen).toEqual(['open', 'snapshot'])
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

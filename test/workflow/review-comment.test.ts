/** The comment for a realistic change, with cost, account plan, maintenance, policies and restarts. */
import { expect, test } from 'vitest'
import { declaredPolicies, parseManifests } from '../../src/manifest/index.ts'
import type { Observed, ObservedBranch } from '../../src/model/index.ts'
import { planPage } from '../../src/report/html/index.ts'
import { planComment } from '../../src/report/index.ts'
import { planSnapshot } from '../../src/workflow/index.ts'
import { PROJECT, world } from '../planner/world.ts'

/** Active hours and CU-hours since 1 November. */
const USED: Readonly<Record<string, readonly [number, number]>> = {
  main: [480, 768],
  staging: [120, 120],
  'preview/checkout': [40, 10],
}

const live = (): Observed => {
  const observed = world({
    main: { primary: { id: 'ep-main', size: { min: 1, max: 4 }, scaleToZero: -1 } },
    staging: { primary: { id: 'ep-staging', size: 1, scaleToZero: 300, state: 'idle' } },
    'preview/checkout': { primary: { id: 'ep-checkout', size: 0.25, scaleToZero: 300 } },
    'preview/old': { primary: { id: 'ep-old', size: 0.25, scaleToZero: 300 } },
  })
  const withUsage = (branch: ObservedBranch): ObservedBranch => {
    const [active, used] = USED[branch.name] ?? [10, 2.5]
    return {
      ...branch,
      createdAt: '2026-10-01T00:00:00Z',
      usage: { activeSeconds: active * 3600, computeSeconds: used * 3600 },
      ...(branch.name === 'preview/old' ? { expiresAt: '2026-11-21T00:40:00Z' } : {}),
    }
  }
  return {
    ...observed,
    takenAt: '2026-11-21T00:00:00Z',
    projects: observed.projects.map((project) => ({
      ...project,
      name: 'shop',
      settings: {
        subscription: 'launch_v3',
        period: { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
        maintenanceScheduledFor: '2026-11-22T02:00:00Z',
      },
      branches: project.branches.map(withUsage),
      computes: project.computes.map((compute) => ({
        ...compute,
        createdAt: '2026-06-01T00:00:00Z',
        ...(compute.id === 'ep-main' ? { startedAt: '2026-10-01T00:00:00Z' } : {}),
      })),
    })),
  }
}

const manifest = (sizes: { readonly main: string; readonly preview: number; readonly most: number }) => {
  const text = `version: 1
project: ${PROJECT}
price: { cuHour: 0.222, currency: USD }
policy:
  - name: preview-size
    level: deny
    reason: Previews are paid for by the platform team.
    branches: [preview/**]
    rule: { maxSize: ${sizes.most} }
branches:
  main:
    primary: { size: ${sizes.main}, scaleToZero: never }
    replicas:
      reports: { size: 18, scaleToZero: never }
  staging:
    primary: { size: 1, scaleToZero: 15m }
rules:
  - match: preview/*
    primary: { size: ${sizes.preview}, scaleToZero: 5m }
`
  const loaded = parseManifests([{ path: 'espalier.yaml', text }])
  expect(loaded.diagnostics).toEqual([])
  const policies = { files: ['espalier.yaml'], policies: declaredPolicies(loaded.desired) }
  return { loaded, paths: ['espalier.yaml'], review: { policies } }
}

const commentOf = (overrides?: ReadonlyMap<string, string>, costThreshold?: number): string => {
  const base = manifest({ main: '{ min: 1, max: 4 }', preview: 0.25, most: 0.5 })
  const head = manifest({ main: '{ min: 2, max: 8 }', preview: 1, most: 2 })
  const review = { ...head.review, ...(overrides && { overrides, actor: 'octocat' }) }
  const { result, comparison } = planSnapshot(live(), { ...head, review }, { base })
  if (comparison === undefined) throw new Error('nothing was compared')
  return planComment({
    marker: '<!-- espalier plan -->',
    commit: '0123abc',
    plan: result.plan,
    origin: comparison.origin,
    introducedBy: 'this pull request',
    takenAt: '2026-11-21T00:00:00Z',
    notes: [],
    whole: 'the job summary',
    ...(costThreshold === undefined ? {} : { costThreshold }),
  })
}

const OVERRIDES = new Map([['preview-size', 'load test until Friday']])

test('the comment shows restarts first, then one line each for cost, checks and policies', async () => {
  const text = commentOf(OVERRIDES)
  await expect(text).toMatchFileSnapshot('golden/review-comment.md')
  const parts = ['### Espalier', '[!WARNING]', '**Cost:**', '**Checks:**', '**Policies, after the merge:**', '| --- |']
  const places = parts.map((part) => text.indexOf(part))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
})

test('the comment starts with a denial, counts no restart that it prevents, and the denied changes cost nothing', () => {
  const text = commentOf()
  expect(text).toContain('### Espalier: nothing will run: policy `preview-size` denies it.')
  expect(text).toMatch(
    /set the input `override` of the workflow to `preview-size=REASON`\.\n> - \*\*Denied:\*\* .*`preview-size` denies 1 CU/,
  )
  expect(text).not.toContain('[!WARNING]')
  expect(text).not.toContain('**Cost:**')
})

test('the comment shows an override with its reason and author', () => {
  const text = commentOf(OVERRIDES)
  expect(text).toContain('policy `preview-size` overridden by octocat: load test until Friday')
  expect(text).not.toContain('denies this plan')
})

test('the comment omits a cost below the threshold', () => {
  expect(commentOf(OVERRIDES, 100_000)).not.toContain('**Cost:**')
  expect(commentOf(OVERRIDES, 1)).toContain('**Cost:**')
})

test('the HTML page shows cost, policy results and skipped changes', () => {
  const base = manifest({ main: '{ min: 1, max: 4 }', preview: 0.25, most: 0.5 })
  const head = manifest({ main: '{ min: 2, max: 8 }', preview: 1, most: 2 })
  const observed = live()
  const { result } = planSnapshot(observed, { ...head, review: { ...head.review, overrides: OVERRIDES } }, { base })
  const page = planPage(result.plan, { version: '1', sha256: () => 'x', observed })
  for (const words of [
    'Cost and service updates',
    'USD a month (at most +',
    '`preview-size` denies 1 CU for primary on preview/checkout',
    'Changes policy `preview-size`: maxSize 0.5 → maxSize 2, after the merge',
    'Skipped: update primary on preview/old: preview/old expires in 40 min',
  ]) {
    expect(page).toContain(words)
  }
})

/** Cost, limits, service updates and policies in a plan. */
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import type { Observed, Plan, ProjectSettings } from '../../src/model/index.ts'
import { planPage } from '../../src/report/html/index.ts'
import { planComment, terminalPlan } from '../../src/report/index.ts'
import { planSnapshot, readManifests } from '../../src/workflow/index.ts'
import { PROJECT, world } from '../planner/world.ts'

const NOW = '2026-11-21T00:00:00Z'

const live = (settings: ProjectSettings = {}): Observed => {
  const observed = world({ main: { primary: { size: 1, scaleToZero: -1 } }, 'preview/x': { primary: { size: 1 } } })
  return {
    ...observed,
    takenAt: NOW,
    projects: observed.projects.map((project) => ({
      ...project,
      name: 'shop',
      settings: {
        subscription: 'scale_v3',
        period: { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
        ...settings,
      },
      computes: project.computes.map((compute) => ({ ...compute, startedAt: '2026-10-01T00:00:00Z' })),
      branches: project.branches.map((branch) => ({
        ...branch,
        usage: { activeSeconds: 1_728_000, computeSeconds: 1_728_000 },
      })),
    })),
  }
}

const manifest = (branches: string) => ({
  loaded: parseManifests([{ path: 'espalier.yaml', text: `version: 1\nproject: ${PROJECT}\nbranches:\n${branches}` }]),
  paths: ['espalier.yaml'],
})

const policies = (...rules: readonly string[]) => {
  const text = `version: 1\npolicies:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`
  const { policies: read, diagnostics } = parsePolicies([{ path: 'espalier.policy.yaml', text }])
  expect(diagnostics).toEqual([])
  return { files: ['espalier.policy.yaml'], policies: read }
}

const RESIZE = '  main: { primary: { size: 4 } }\n'
const PRICE = 'price: { cuHour: 0.5, currency: EUR }\n'
const PREVIEW = '  preview/x: { primary: { size: 4 } }\n'
const SMALL =
  '{ name: preview-size, level: deny, reason: Previews are small., branches: [preview/**], rule: { maxSize: 0.25 } }'

const planOf = (branches: string, review = {}, observed = live()) =>
  planSnapshot(observed, { ...manifest(branches), review }).result
const outcomes = (plan: Plan) => plan.policies?.results.map(({ policy, outcome }) => `${policy} ${outcome}`)

test('a plan contains its cost, as an amount of money if a price is given', () => {
  const { plan } = planOf(RESIZE + PRICE)
  expect(plan.cost?.total.delta.expected).toBe(2190)
  expect(plan.cost?.total.money?.expected).toBe(1095)
  const shown = terminalPlan(plan, { color: false, width: 200 })
  expect(shown).toContain('Cost: +1,095.00 EUR a month.')
  expect(shown).not.toContain('CU-hours')
})

test('without history, the cost has bounds, in the plan, the comment and the page alike', () => {
  // It is unknown when a compute that was never suspended was idle.
  const branches = '  main: { primary: { scaleToZero: 5m } }\n  preview/x: { primary: { size: 2 } }\n'
  const { plan } = planOf(branches)
  const comment = planComment({
    marker: '<!-- x -->',
    plan,
    origin: { introduced: plan.changes, drift: [], settled: [], released: [] },
    introducedBy: 'this pull request',
    notes: [],
    whole: 'the log',
    costThreshold: 700,
  })
  const page = planPage(plan, { version: '1', sha256: () => 'x' })
  for (const text of [terminalPlan(plan, { color: false, width: 200 }), comment, page]) {
    expect(text).toContain('at most +730 CU-hours a month')
    expect(text).not.toMatch(/cost:?\*{0,2} *unknown/i)
  }
  const shrink = planOf('  main: { primary: { scaleToZero: 5m } }\n').plan
  expect(terminalPlan(shrink, { color: false, width: 200 })).toContain('Cost: not more than before.')
})

// hint: Declare it in the manifest, for example `tier: scale`, or `tier: none` to disable the checks.
test('a size that the tier does not allow excludes the project, unless the manifest declares another tier', () => {
  const free = live({ subscription: 'free_v3' })
  const result = planOf(RESIZE, {}, free)
  expect(result.plan.leftOut?.[0]?.diagnostics).toMatchObject([
    { code: 'E_TIER_LIMIT', source: { line: 4, column: 28 } },
  ])
  expect(planOf(`${RESIZE}tier: scale\n`, {}, free).ok).toBe(true)
  expect(planOf(`${RESIZE}tier: none\n`, {}, free).ok).toBe(true)
  expect(planOf(RESIZE, {}, live({ subscription: 'business' })).plan.warnings).toMatchObject([
    { code: 'W_TIER_UNKNOWN' },
  ])
  for (const tier of ['scale', 'none'])
    expect(planOf(`${RESIZE}tier: ${tier}\n`, {}, live({ subscription: 'business' })).plan.warnings).toEqual([])
})

test('a restart before a service update is reported as applying the update', () => {
  const { plan } = planOf(RESIZE, {}, live({ maintenanceScheduledFor: '2026-11-22T02:00:00Z' }))
  expect(plan.maintenance).toMatchObject([
    { sentence: 'this restart also applies the service update of Sun 22 Nov 02:00 UTC: one restart instead of two' },
  ])
  expect(planOf(RESIZE, {}, live({ maintenanceScheduledFor: '2026-11-01T02:00:00Z' })).plan.maintenance).toBeUndefined()
})

test('a denied project is shown, but its steps are refused', () => {
  const { plan } = planOf(PREVIEW, { policies: policies(SMALL) })
  expect(outcomes(plan)).toEqual(['preview-size denied'])
  expect(plan.steps.map(({ refused }) => refused)).toEqual([
    '`preview-size` denies 4 CU for primary on preview/x (at most 0.25 CU). Previews are small',
  ])
  expect(plan.summary.refused).toBe(1)
  expect(terminalPlan(plan, { color: false, width: 100 })).toContain('pass --override preview-size=REASON')
})

test('other changes in a denied project are refused with a reference to the denying policy', () => {
  const { plan } = planOf(RESIZE + PREVIEW, { policies: policies(SMALL) })
  expect(plan.changes.map(({ branch, refused, isDenied }) => [branch.name, refused, isDenied])).toEqual([
    ['main', '`preview-size` denies another change in the same project', true],
    ['preview/x', '`preview-size` denies 4 CU for primary on preview/x (at most 0.25 CU). Previews are small', true],
  ])
})

test('a policy violation names its project if there are several projects', () => {
  const { plan } = planOf(PREVIEW, { policies: policies(SMALL) })
  if (plan.policies === undefined) throw new Error('no policies')
  const { results } = plan.policies
  const others = results.map((result) => ({ ...result, project: 'other-12345678' }))
  const two = { ...plan, policies: { ...plan.policies, results: [...results, ...others] } }
  const shown = terminalPlan(two, { color: false, width: 200 })
  expect(shown).toMatch(/^ {2}shop: `preview-size` denies/m)
  expect(shown).toMatch(/^ {2}other-12345678: `preview-size` denies/m)
})

test('an override allows a denied plan and is recorded, and an unused override causes a warning', () => {
  const overrides = new Map([['preview-size', 'load test']])
  const { plan } = planOf(PREVIEW, { policies: policies(SMALL), overrides })
  expect(plan.policies?.results).toMatchObject([{ outcome: 'overridden', override: 'load test' }])
  expect(plan.summary.refused).toBe(0)
  expect(planOf(RESIZE, { policies: policies(SMALL), overrides }).plan.warnings).toMatchObject([
    { code: 'W_OVERRIDE_UNUSED' },
  ])
})

test('an existing violation only warns, even if the plan reduces it', () => {
  expect(outcomes(planOf(RESIZE, { policies: policies(SMALL) }).plan)).toEqual(['preview-size existing'])
  expect(outcomes(planOf('  preview/x: { primary: { size: 0.5 } }\n', { policies: policies(SMALL) }).plan)).toEqual([
    'preview-size existing',
  ])
})

test('CU-hours policies apply to branches and projects, and to a project even if nothing changes', () => {
  const most = (cuHours: number, rest = '') =>
    policies(`{ name: hours, level: deny, reason: r, ${rest}rule: { maxCuHours: ${cuHours} } }`)
  // Both main and preview/x are always active: at 1 CU, this is 730 CU-hours per month.
  expect(outcomes(planOf(RESIZE, { policies: most(1500) }).plan)).toEqual(['hours denied'])
  expect(outcomes(planOf(RESIZE, { policies: most(5000) }).plan)).toEqual([])
  const each = most(1000, 'branches: ["**"], ')
  expect(planOf(RESIZE, { policies: each }).plan.policies?.results).toMatchObject([
    {
      outcome: 'denied',
      branch: 'main',
      message: '`hours` denies the CU-hours expected for main (at most 1000 a month)',
    },
  ])
  expect(outcomes(planOf('  main: {}\n', { policies: most(1000) }).plan)).toEqual(['hours existing'])
  expect(outcomes(planOf('  main: {}\n', { policies: each }).plan)).toEqual([])
})

test('policies on windows, protection and prune deny only plans that violate them', () => {
  const rules = policies(
    '{ name: window, level: deny, reason: r, branches: [main], rule: { restartWindow: required } }',
    '{ name: protect, level: deny, reason: r, branches: [main], rule: { protect: required } }',
    '{ name: prune, level: deny, reason: r, rule: { prune: forbidden } }',
  )
  expect(outcomes(planOf('  main: { primary: { scaleToZero: 5m } }\n', { policies: rules }).plan)).toEqual([
    'window existing',
    'protect existing',
  ])
  expect(outcomes(planOf(RESIZE, { policies: rules }).plan)).toEqual(['window denied', 'protect existing'])
  expect(outcomes(planOf('  main: { primary: absent }\n', { policies: rules }).plan)).toContain('protect denied')
  const pruning = (branches: string) => outcomes(planOf(`${branches}prune: true\n`, { policies: rules }).plan)
  expect(pruning(RESIZE)).toContain('prune existing')
  expect(pruning('  main: {}\n')).toContain('prune denied')
})

// promise: base-policies
test.each<[string, readonly string[] | undefined, readonly string[]]>([
  ['every change', undefined, ['preview-size denied']],
  ['the change that it denies', [`${PROJECT}/br-preview-x/primary`], ['preview-size denied']],
  ['a change on another branch', [`${PROJECT}/br-main/primary`], []],
])('an earlier policy that judges %s has the results %j', (_, ids, expected) => {
  const earlier = [{ ...policies(SMALL), ...(ids && { changes: new Set(ids) }) }]
  const { plan } = planOf(RESIZE + PREVIEW, { earlier })
  expect(outcomes(plan)).toEqual(expected)
  expect(plan.policies?.files).toEqual(['espalier.policy.yaml'])
})

test.each([
  ['below what is expected', RESIZE, 1_000, ['W_QUOTA']],
  ['above what is expected', RESIZE, 100_000, []],
  ['below it, but not because of the plan', '  main: {}\n', 1_000, []],
])('a quota that is %s is a warning or not', (_, branches, cuHours, expected) => {
  const quota = { computeSeconds: cuHours * 3_600 }
  const { warnings } = planOf(branches, {}, live({ quota })).plan
  expect(warnings.map(({ code }) => code).filter((code) => code === 'W_QUOTA')).toEqual(expected)
})

// promise: base-policies
test("the base's policies apply, while policies added by the pull request only warn", () => {
  const head = { ...manifest(PREVIEW), review: {} }
  const base = { ...manifest(PREVIEW), review: { policies: policies(SMALL) } }
  expect(outcomes(planSnapshot(live(), head, { base }).result.plan)).toEqual(['preview-size denied'])
  expect(outcomes(planSnapshot(live(), base, { base: head }).result.plan)).toEqual(['preview-size warned'])
})

// promise: base-policies
test('the plan shows how a pull request changes policies, and what the new ones will deny', () => {
  const head = { ...manifest(PREVIEW), review: { policies: policies(SMALL.replace('0.25', '2')) } }
  const base = { ...manifest(PREVIEW), review: { policies: policies(SMALL) } }
  expect(planSnapshot(live(), head, { base }).result.plan.policies?.changes).toEqual([
    'Changes policy `preview-size`: maxSize 0.25 → maxSize 2',
    'After the merge, `preview-size` denies 4 CU for primary on preview/x (at most 2 CU)',
  ])
  const without = { ...manifest(PREVIEW), review: {} }
  expect(planSnapshot(live(), without, { base }).result.plan.policies?.changes).toEqual([
    'Removes policy `preview-size`: maxSize 0.25',
  ])
  expect(planSnapshot(live(), base, { base }).result.plan.policies?.changes).toEqual([])
})

// promise: base-policies
test("an error in the base's policies fails the plan", () => {
  const head = { ...manifest(PREVIEW), review: {} }
  const { diagnostics, ...read } = parsePolicies([{ path: 'p.yaml', text: 'version: 1\npolicies:\n  - { name: a }\n' }])
  const [mistake] = diagnostics
  if (mistake === undefined) throw new Error('no mistake')
  const base = { ...manifest(PREVIEW), review: { policies: { files: ['p.yaml'], policies: read.policies, mistake } } }
  expect(() => planSnapshot(live(), head, { base })).toThrow(/p.yaml:3:/)
})

test('the comment shows planned service updates in two lines below the restarts', () => {
  const { plan } = planOf(
    `${RESIZE}${PREVIEW}${PRICE}`,
    { policies: policies(SMALL), overrides: new Map([['preview-size', 'load test']]) },
    live({ maintenanceScheduledFor: '2026-11-22T02:00:00Z' }),
  )
  const text = planComment({
    marker: '<!-- x -->',
    plan,
    origin: { introduced: plan.changes, drift: [], settled: [], released: [] },
    introducedBy: 'this pull request',
    notes: [],
    whole: 'the log',
  })
  const [alarm, cost, checks, table] = ['[!WARNING]', '**Cost:** ', '**Checks:**', '| '].map((part) =>
    text.indexOf(part),
  )
  expect([alarm, cost, checks, table].every((at, index, all) => (at ?? -1) > (all[index - 1] ?? 0))).toBe(true)
})

test.each(['espalier.policy.yaml', 'espalier.policy.yml'])('policies in %s apply', async (file) => {
  const cwd = mkdtempSync(join(tmpdir(), 'espalier-policy-'))
  writeFileSync(join(cwd, 'espalier.yaml'), `version: 1\nproject: ${PROJECT}\nbranches: {}\n`)
  writeFileSync(join(cwd, file), 'version: 1\npolicies: [{ name: a, level: deny, reason: r, rule: { maxSize: 1 } }]\n')
  expect((await readManifests([], { cwd })).review?.policies?.policies).toMatchObject([{ name: 'a' }])
})

// promise: links-on-base
test('a policy file that is a broken link is an error', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'espalier-policy-'))
  writeFileSync(join(cwd, 'espalier.yaml'), `version: 1\nproject: ${PROJECT}\nbranches: {}\n`)
  symlinkSync('nowhere.yaml', join(cwd, 'espalier.policy.yaml'))
  expect((await readManifests([], { cwd })).loaded.diagnostics).toMatchObject([
    { severity: 'error', message: expect.stringContaining('espalier.policy.yaml') },
  ])
})

// promise: broken-policy
test('an error in a policy file is reported with its line', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'espalier-policy-'))
  writeFileSync(join(cwd, 'espalier.yaml'), `version: 1\nproject: ${PROJECT}\nbranches: {}\n`)
  writeFileSync(join(cwd, 'espalier.policy.yaml'), 'version: 1\npolicies:\n  - { name: a }\n')
  const { loaded } = await readManifests([], { cwd })
  expect(loaded.diagnostics.map(({ code, source }) => `${source?.file}:${source?.line} ${code}`)).toContain(
    'espalier.policy.yaml:3 E_REQUIRED',
  )
  // The policy file may also be in a folder of manifests.
  writeFileSync(join(cwd, 'espalier.policy.yaml'), 'version: 1\npolicies: []\n')
  expect((await readManifests(['.'], { cwd })).loaded.diagnostics).toEqual([])
})

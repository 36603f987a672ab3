import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import { parseShard } from '../../src/model/index.ts'
import { mergePlans, plan } from '../../src/planner/index.ts'
import { terminalPlan } from '../../src/report/index.ts'
import { planSnapshot, shardOf } from '../../src/workflow/index.ts'
import { runs } from '../long-runs.ts'
import { desired, world } from '../planner/world.ts'

const PROJECTS = Array.from({ length: 10_000 }, (_, index) => `quiet-river-${String(index).padStart(8, '0')}`)

test('the shard of a project never changes', () => {
  expect(PROJECTS.slice(0, 8).map((project) => shardOf(project, 5))).toEqual([1, 2, 5, 4, 2, 5, 2, 4])
})

test.each([1, 2, 5, 16, 100])('%i shards have about the same number of projects', (count) => {
  const sizes = new Map<number, number>()
  for (const project of PROJECTS) {
    const shard = shardOf(project, count)
    sizes.set(shard, (sizes.get(shard) ?? 0) + 1)
  }
  expect([...sizes.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, at) => at + 1))
  // 10,000 projects in 100 shards: 100 each, plus or minus four standard deviations.
  const even = PROJECTS.length / count
  for (const size of sizes.values()) expect(Math.abs(size - even)).toBeLessThanOrEqual(4 * Math.sqrt(even))
})

test('a new shard only receives projects, and none move between the others', () => {
  const moved = PROJECTS.filter((project) => shardOf(project, 5) !== shardOf(project, 6))
  for (const project of moved) expect(shardOf(project, 6)).toBe(6)
  expect(moved.length).toBeGreaterThan(PROJECTS.length / 8)
  expect(moved.length).toBeLessThan(PROJECTS.length / 5)
})

test.each(['1/1', '2/5', '700/700'])('%j is a valid shard', (text) => {
  const [index, count] = text.split('/').map(Number)
  expect(parseShard(text)).toEqual({ index, count })
})

test.each(['', '0/5', '6/5', '1', '1/0', '1/701', '01/5', '1/5/5', '-1/5', '1.5/5'])(
  '%j is not a valid shard',
  (text) => {
    expect(parseShard(text)).toBeUndefined()
  },
)

test('the merged plans of any number of shards equal the plan of the whole fleet', () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const live = {
    projects: ids.flatMap((id) =>
      world({ main: { primary: { size: 1, id: `ep-${id}` } }, extra: { primary: { id: `ep-${id}-2` } } }).projects.map(
        (project) => ({ ...project, id, pastOperations: [{ action: 'apply_config', durationMs: 900 }] }),
      ),
    ),
  }
  const documents = ids.flatMap((id, index) =>
    desired({
      branches: { main: { primary: { size: 1 + (index % 2) }, replicas: { r: { size: 0.25 } } } },
      rules: [{ match: 'preview/*', primary: { size: 1 } }],
    }).documents.map((document) => ({ ...document, project: id })),
  )
  const planOf = (some: typeof documents) => {
    const result = plan({ documents: some }, { takenAt: '', missing: [], ...live })
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
    return result.plan
  }
  const whole = planOf(documents)
  expect(whole.steps.length).toBeGreaterThan(5)
  expect(whole.warnings.length).toBeGreaterThan(0)
  fc.assert(
    fc.property(fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }), (cut) => {
      const parts = [0, 1, 2, 3].map((part) => planOf(documents.filter((_, index) => cut[index] === part)))
      expect(JSON.stringify(mergePlans(parts))).toBe(JSON.stringify(whole))
    }),
    { numRuns: runs(100) },
  )
})

test('merged plans equal the whole plan in policies, overrides, cost and service updates', () => {
  const ids = ['a', 'b', 'c']
  const live = {
    takenAt: '2026-11-21T00:00:00Z',
    missing: [],
    projects: ids.flatMap((id) =>
      world({ main: { primary: { size: 1, scaleToZero: -1, id: `ep-${id}` } } }).projects.map((project) => ({
        ...project,
        id,
        settings: { subscription: 'scale_v3', maintenanceScheduledFor: '2026-11-22T02:00:00Z' },
        computes: project.computes.map((compute) => ({ ...compute, startedAt: '2026-10-01T00:00:00Z' })),
      })),
    ),
  }
  const size = (id: string): number => ({ a: 2, b: 4, c: 8 })[id] ?? 1
  const policies = (text: string) => ({
    files: ['p.yaml'],
    policies: parsePolicies([{ path: 'p.yaml', text }]).policies,
  })
  const review = {
    price: { cuHour: 0.5, currency: 'EUR' },
    policies: policies(`version: 1
policies:
  - { name: large, level: deny, reason: r, rule: { maxSize: 6 } }
  - { name: medium, level: deny, reason: r, rule: { maxSize: 3 } }
  - { name: hours, level: warn, reason: r, rule: { maxCuHours: 10 } }`),
    // Each policy applies to one project, or to none.
    overrides: new Map([
      ['large', 'load test'],
      ['hours', 'known'],
    ]),
    actor: 'ann',
  }
  const planOf = (some: readonly string[], more = review) => {
    const files = some.map((id) => ({
      path: `${id}.yaml`,
      text: `version: 1\nproject: ${id}\nbranches: { main: { primary: { size: ${size(id)} } } }\n`,
    }))
    const manifests = { loaded: parseManifests(files), paths: files.map(({ path }) => path), review: more }
    return planSnapshot(live, manifests).result.plan
  }
  const whole = planOf(ids)
  expect(whole.policies?.results.map(({ project, policy, outcome }) => `${project} ${policy} ${outcome}`)).toEqual([
    'a hours overridden',
    'b medium denied',
    'b hours overridden',
    'c large overridden',
    'c medium denied',
    'c hours overridden',
  ])
  expect(whole).toMatchObject({ cost: { total: { money: {} } }, maintenance: [{}, {}, {}] })
  expect(mergePlans([planOf(['c']), planOf(['a', 'b'])])).toEqual(whole)
  expect(terminalPlan(whole, { color: false, width: 100 })).toContain(`
Cost  +8,030 CU-hours a month (+367 %), 2,190 → 10,220
      +4,015.00 EUR a month, 1,095.00 → 5,110.00, at 0.5 EUR a CU-hour
      c: +5,110 CU-hours a month (+700 %), 730 → 5,840
      b: +2,190 CU-hours a month (+300 %), 730 → 2,920
      a: +730 CU-hours a month (+100 %), 730 → 1,460
`)
  const unused = { ...review, overrides: new Map([['large', 'load test']]) }
  expect(mergePlans([planOf(['a'], unused), planOf(['b'], unused)])).toEqual(planOf(['a', 'b'], unused))
  expect(planOf(['a', 'b'], unused).warnings).toMatchObject([{ code: 'W_OVERRIDE_UNUSED' }])
})

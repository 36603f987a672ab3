import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exportProject, parseManifests } from '../../src/manifest/index.ts'
import { isEmptyPlan, type Observed } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { runs } from '../long-runs.ts'
import { liveWorld } from '../planner/arbitraries.ts'
import { world } from '../planner/world.ts'

const SCHEMA = 'https://raw.githubusercontent.com/espalier-dev/espalier/main/schemas/manifest.schema.json'
const exported = (observed: Observed, more: { branches?: readonly string[]; pin?: boolean } = {}) => {
  const [project] = observed.projects
  if (project === undefined) throw new Error('no project')
  return exportProject(project, { pin: false, schema: SCHEMA, ...more })
}

const withExpiry = (observed: Observed, expires: (name: string, index: number) => boolean): Observed => ({
  ...observed,
  projects: observed.projects.map((project) => ({
    ...project,
    branches: project.branches.map((branch, index) =>
      expires(branch.name, index) ? { ...branch, expiresAt: '2026-01-08T00:00:00Z' } : branch,
    ),
  })),
})

/** The problems of the manifest, or the changes of its plan. */
const planOf = (text: string, observed: Observed): readonly string[] => {
  const loaded = parseManifests([{ path: 'import.yaml', text }])
  const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) return errors.map(({ message }) => message)
  const result = plan(loaded.desired, observed)
  if (!result.ok) return result.diagnostics.map(({ message }) => message)
  return isEmptyPlan(result.plan) ? [] : result.plan.changes.map(({ id, reasons }) => `${id} ${reasons}`)
}

test('the exported manifest of any live project has an empty plan', () => {
  fc.assert(
    fc.property(liveWorld, fc.boolean(), fc.array(fc.boolean()), (branches, pin, expiring) => {
      const observed = withExpiry(world(branches), (_name, index) => expiring[index] === true)
      const { text, computes } = exported(observed, { pin })
      if (computes > 0) expect(planOf(text, observed), text).toEqual([])
    }),
    { numRuns: runs(500) },
  )
})

test('branch names with a special meaning in YAML are quoted', () => {
  const names = [
    'yes',
    '1.5',
    '- a',
    'a: b',
    '#x',
    '',
    '*',
    '&a',
    '!tag',
    "it's",
    '"',
    'br-looks-like-an-id',
    'null',
    '~',
  ]
  const odd = fc.oneof(
    fc.constantFrom(...names.filter((name) => name !== '')),
    fc.string({ minLength: 1, maxLength: 20 }),
  )
  fc.assert(
    fc.property(fc.uniqueArray(odd, { minLength: 1, maxLength: 5 }), (branches) => {
      const observed = world(
        Object.fromEntries(branches.map((name, index) => [name, { primary: { id: `ep-${index}` } }])),
      )
      // `world` derives branch ids from names; these names could share an id, so each branch gets its own.
      const [project] = observed.projects
      if (project === undefined) return
      const own = project.branches.map((branch, index) => ({ ...branch, id: `br-own-${index}` }))
      const computes = project.computes.map((compute, index) => ({ ...compute, branchId: `br-own-${index}` }))
      const fixed = { ...observed, projects: [{ ...project, branches: own, computes }] }
      expect(planOf(exported(fixed).text, fixed)).toEqual([])
    }),
  )
})

test('an export of 200 branches has an empty plan and one rule for the preview branches', () => {
  const previews = Array.from({ length: 150 }, (_, index) => [
    `preview/${index}`,
    { primary: { id: `ep-p${index}`, size: 0.25 } },
  ])
  const teams = Array.from({ length: 50 }, (_, index) => [
    `team-${index}`,
    {
      primary: { id: `ep-t${index}`, size: 2 },
      replicas: Array.from({ length: 4 }, (_unused, at) => ({ id: `ep-t${index}-${at}`, name: `r${at}`, size: 1 })),
    },
  ])
  const observed = world(Object.fromEntries([...teams, ...previews]))
  const { text, computes, rules } = exported(observed)
  expect(computes).toBe(400)
  expect(rules).toMatchObject([{ match: 'preview/*', branches: 150, differing: [] }])
  expect(planOf(text, observed)).toEqual([])
  expect(text).toContain('\n  - match: preview/*\n')
  expect(text).not.toContain('preview/7')
})

describe('branches that come and go are declared by a rule, never by name', () => {
  const main = { primary: { size: 1, scaleToZero: 300 } }
  test.each([
    [
      'two with the same prefix, which differ',
      { main, 'preview/1': { primary: { size: 0.25 } }, 'preview/2': { primary: { size: 0.5, settings: { a: 'b' } } } },
      () => false,
      '  - match: preview/*\n    primary: { scaleToZero: default }\n',
      { match: 'preview/*', branches: 2, differing: ['`size`', '`postgres`'] },
    ],
    [
      'one that has no compute, for which the rule must create none',
      { main, 'preview/1': main, 'preview/2': main, 'preview/bare': {} },
      () => false,
      '  - match: preview/*\n    except: [ preview/bare ]\n    primary: { size: 1, scaleToZero: 5m }\n',
      { match: 'preview/*', branches: 2 },
    ],
    [
      'a single branch that expires',
      { main, trial: { primary: { size: 1, name: 'mine' }, replicas: [{ name: 'r', size: 1 }] } },
      (name: string) => name === 'trial',
      '  - match: "**"\n    expires: true\n    primary: { size: 1, scaleToZero: default }\n',
      { match: '**', expires: true, branches: 1 },
    ],
  ])('%s', (_what, branches: Parameters<typeof world>[0], expires, rule, inferred) => {
    const observed = withExpiry(world(branches), expires)
    const { text, rules } = exported(observed)
    expect(text).toContain(rule)
    expect(rules).toMatchObject([inferred])
    expect(planOf(text, observed), text).toEqual([])
    // One of them is deleted: the manifest stays valid.
    const left = observed.projects.map((project) => ({
      ...project,
      branches: project.branches.filter(({ name }) => !['preview/2', 'trial'].includes(name)),
      computes: project.computes.filter(({ branchId }) => !['br-preview-2', 'br-trial'].includes(branchId)),
    }))
    expect(planOf(text, { ...observed, projects: left }), text).toEqual([])
  })

  test.each([
    ['a protected branch', { main, 'eu/a': { ...main, protected: true }, 'eu/b': main }, {}],
    ['one of two has a replica', { main, 'eu/a': { ...main, replicas: [{ name: 'r', size: 1 }] }, 'eu/b': main }, {}],
    ['they are to be pinned', { main, 'eu/a': main, 'eu/b': main }, { pin: true }],
    [
      'a branch that was not chosen would match',
      { 'eu/a': main, 'eu/b': main, 'eu/c': main },
      { branches: ['eu/[bc]'] },
    ],
  ])('but not if %s', (_what, branches, options) => {
    const { text, rules } = exported(world(branches), options)
    expect(rules).toEqual([])
    expect(text).toContain('eu/b:')
  })
})

test('the default branch is first and preview branches are last, and the report says where the defaults come from', () => {
  const observed = world(
    Object.fromEntries(['zeta', 'preview/1', 'main', 'alpha'].map((name) => [name, { primary: { size: 1 } }])),
  )
  const projects = observed.projects.map((project) => ({
    ...project,
    branches: project.branches.map((branch) => ({ ...branch, isDefault: branch.name === 'main' })),
  }))
  const { text, reasons } = exported({ ...observed, projects })
  expect(text.match(/^ {2}[\w/]+(?=:)/gm)).toEqual(['  main', '  alpha', '  zeta', '  preview/1'])
  expect(reasons).toContain('defaults: `size: 1`, which 4 of 4 computes have')
})

test('values that a manifest cannot express are listed in the result and in the manifest', () => {
  const observed = world({
    main: {
      primary: { id: 'ep-1', size: 17, scaleToZero: -5, name: 'bi' },
      replicas: [
        { id: 'ep-2', name: 'bi', size: { min: 1, max: 12 }, scaleToZero: 700_000 },
        { id: 'ep-3', name: 'fine', size: 18, scaleToZero: 0 },
        { id: 'ep-4', name: 'libraries', size: 1, scaleToZero: 30 },
      ],
    },
  })
  const settings = {
    pg_settings: { work_mem: '4MB' },
    preload_libraries: { use_defaults: true, enabled_libraries: ['a'] },
    pgbouncer_settings: { default_pool_size: '20' },
    empty: {},
  }
  const withSettings: Observed = {
    ...observed,
    projects: observed.projects.map((project) => ({
      ...project,
      computes: project.computes.map((compute) => (compute.id === 'ep-4' ? { ...compute, settings } : compute)),
    })),
  }
  const { text, leftOut } = exported(withSettings)
  expect(leftOut).toEqual([
    'primary ep-1 on main: its `size` of 17 CU, its `scaleToZero` of -5s, its name bi, which a replica there also has',
    'replica ep-2 on main: its `size` of 1–12 CU, its `scaleToZero` of 8d2h26m40s',
    'replica ep-4 on main: its `scaleToZero` of 30s, the default libraries that it preloads, its settings.pgbouncer_settings',
  ])
  for (const line of leftOut) expect(text).toContain(`#   ${line}`)
  expect(planOf(text, observed)).toEqual([])
})

test('the exported manifest matches the golden file', async () => {
  const observed = world({
    main: {
      primary: { id: 'ep-main', size: { min: 1, max: 4 }, scaleToZero: -1, settings: { work_mem: '64MB' } },
      replicas: [
        { id: 'ep-reporting', name: 'reporting', size: 2, scaleToZero: 300 },
        { id: 'ep-nameless', size: 2 },
      ],
    },
    staging: { primary: { id: 'ep-staging', size: 0.25, scaleToZero: 300, disabled: true } },
    'preview/1': { primary: { id: 'ep-1', size: 0.25, scaleToZero: 300 } },
    'preview/2': { primary: { id: 'ep-2', size: 0.25, scaleToZero: 300 } },
    'preview/3': { primary: { id: 'ep-3', size: 0.25, scaleToZero: 300 } },
    bare: {},
  })
  const { text, leftOut } = exported(observed)
  expect(planOf(text, observed)).toEqual([])
  expect(leftOut).toHaveLength(2)
  await expect(text).toMatchFileSnapshot('golden/import.yaml')
  expect(exported(observed, { branches: ['preview/*'] }).text).not.toContain('staging')
  expect(exported(observed, { pin: true }).text).toContain('id: ep-1')
})

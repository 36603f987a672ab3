/** `--project`, `--branch` and `--introduced` restrict the plan to the selection. */
import { describe, expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import type { Observed } from '../../src/model/index.ts'
import { type Manifests, planRecorded, select, selectionNote } from '../../src/workflow/index.ts'
import { world } from '../planner/world.ts'

const [shape] = world({
  main: { primary: { id: 'ep-main', size: 1, settings: { work_mem: '4MB' } } },
  'preview/1': { primary: { id: 'ep-preview', size: 1 } },
  empty: {},
}).projects
const observed = (names: Readonly<Record<string, string>> = {}): Observed => ({
  takenAt: '2026-05-04T12:00:00.000Z',
  projects: shape === undefined ? [] : ['shop', 'blog'].map((id) => ({ ...shape, id, name: names[id] ?? id })),
  missing: [],
})
const manifests = (branches: string, projects: readonly string[] = ['shop', 'blog']): Manifests => ({
  loaded: parseManifests(
    projects.map((project) => ({
      path: `${project}.yaml`,
      text: `version: 1\nproject: ${project}\nbranches: ${branches}\n`,
    })),
  ),
  paths: [...projects],
})
const TWO = "{ main: { primary: { size: 2 } }, 'preview/1': { primary: { size: 2 } } }"

const changes = async (asked: Parameters<typeof select>[1], live = observed(), declared = manifests(TWO)) => {
  const { plan } = (await planRecorded(live, await select(declared, asked))).result
  return { ids: plan.changes.map(({ project, compute }) => `${project} ${compute.id}`), plan }
}

test('a project is selected by id, name or glob', async () => {
  expect((await changes({ projects: ['shop'] })).ids).toEqual(['shop ep-main', 'shop ep-preview'])
  expect((await changes({ projects: ['s*'] })).ids).toEqual(['shop ep-main', 'shop ep-preview'])
  const byName = await changes({ projects: ['The Blog'] }, observed({ blog: 'The Blog' }))
  expect(byName.ids).toEqual(['blog ep-main', 'blog ep-preview'])
  expect(byName.plan.projects).toEqual(['blog'])
  expect(selectionNote(byName.plan)).toBe('Only projects The Blog. Left out: 1 project.')
  // Nothing is left out.
  expect(selectionNote((await changes({ projects: ['*'] })).plan)).toBeUndefined()
})

test('a project is selected if any pattern matches its id or its name, whatever the other patterns match', async () => {
  const live = observed({ blog: 'Coffee Shop' })
  const all = ['blog ep-main', 'blog ep-preview', 'shop ep-main', 'shop ep-preview']
  expect((await changes({ projects: ['*shop*'] }, live)).ids).toEqual(all)
  expect((await changes({ projects: ['*hop*', 'Coffee*'] }, live)).ids).toEqual(all)
  // An id selects only its project, even if it is also a name.
  expect((await changes({ projects: ['shop'] }, observed({ blog: 'shop' }))).plan.projects).toEqual(['shop'])
})

test('a branch is selected by name or id, and the summary counts only selected changes', async () => {
  const { ids, plan } = await changes({ branches: ['preview/*'] })
  expect(ids).toEqual(['blog ep-preview', 'shop ep-preview'])
  expect(plan.steps).toHaveLength(2)
  expect(plan.summary).toMatchObject({ update: 2, calls: 2, managed: 4 })
  expect(selectionNote(plan)).toBe('Only branches preview/*. Left out: 2 changes.')
  expect((await changes({ branches: ['br-main'], projects: ['shop'] })).ids).toEqual(['shop ep-main'])
})

test('a pattern without a match is rejected with a list of valid names', async () => {
  await expect(changes({ projects: ['shp'] })).rejects.toMatchObject({
    code: 'E_USAGE',
    message: '--project shp matches no project of these manifests.',
    hint: 'They declare blog (blog), shop (shop).',
  })
  await expect(changes({ branches: ['previw/*'] })).rejects.toMatchObject({
    message: '--branch previw/* matches no branch of these projects.',
    hint: 'They have main, preview/1, empty.',
  })
  await expect(changes({ branches: ['[a'] })).rejects.toThrow('[a is not a valid glob')
})

describe('changes that run only together', () => {
  // The primary of `preview/1` can move to `main` only after the primary of `main` has moved to `empty`.
  const moves =
    "{ main: { primary: { id: ep-preview } }, 'preview/1': { primary: absent }, empty: { primary: { id: ep-main } } }"
  const declared = manifests(moves, ['shop'])

  test.each(['preview/1', 'main', 'empty'])('are all included if one on %s is selected', async (branch) => {
    const { ids } = await changes({ branches: [branch] }, observed(), declared)
    expect(ids.toSorted()).toEqual(['shop ep-main', 'shop ep-preview'])
  })

  test('are named in the note if they are not selected', async () => {
    const { plan } = await changes({ branches: ['preview/1'] }, observed(), declared)
    expect(plan.selection?.included).toEqual(['shop/br-empty/primary'])
    expect(selectionNote(plan)).toBe(
      'Only branches preview/1. Included, because selected changes run only together with them: move primary from main to empty (ep-main).',
    )
  })

  test('are left out if one of them was not reviewed', async () => {
    const { ids, plan } = await changes({ changes: ['shop/br-main/primary'] }, observed(), declared)
    expect(ids).toEqual([])
    expect(selectionNote(plan)).toBe(
      'Only reviewed changes. Left out: 2 changes. 1 of these is selected, but runs only together with a change that is not selected.',
    )
  })

  test('are checked against policies on every branch', async () => {
    const [policy] = parsePolicies([
      {
        path: 'p.yaml',
        text: 'version: 1\npolicies: [{ name: small, level: deny, reason: Cost., rule: { maxSize: 0.5 } }]\n',
      },
    ]).policies
    const review = { policies: { files: ['p.yaml'], policies: policy === undefined ? [] : [policy] } }
    const selected = await select({ ...declared, review }, { branches: ['preview/1'] })
    const { plan } = (await planRecorded(observed(), selected)).result
    expect(plan.policies?.results.map(({ branch }) => branch)).toEqual(['main', 'empty'])
  })

  test('include drift if one of them is introduced', async () => {
    const base = manifests('{ main: { primary: {} }, empty: { primary: { id: ep-main } } }', ['shop'])
    const selecting = { selection: { introducedSince: 'a'.repeat(40) }, since: base, leftOutProjects: 0 }
    const { result, comparison } = await planRecorded(observed(), { ...declared, selecting }, { base })
    expect(result.plan.changes.map(({ compute }) => compute.id)).toEqual(['ep-main', 'ep-preview'])
    expect(result.plan.selection?.included).toEqual(['shop/br-empty/primary'])
    expect(comparison?.origin.drift.map(({ compute }) => compute.id)).toEqual(['ep-main'])
  })
})

test('`--introduced` sends the edited attributes of a compute, but not its drift', async () => {
  const base = manifests('{ main: { primary: { size: 2, postgres: { settings: { work_mem: 8MB } } } } }', ['shop'])
  const head = manifests(
    "{ main: { primary: { size: 2, scaleToZero: never, postgres: { settings: { work_mem: 8MB, jit: 'off' } } } }, 'preview/1': { primary: { size: 4 } } }",
    ['shop'],
  )
  const commit = 'a'.repeat(40)
  const selecting = { selection: { introducedSince: commit }, since: base, leftOutProjects: 0 }
  const { plan } = (await planRecorded(observed(), { ...head, selecting })).result
  expect(plan.steps.map(({ request }) => request.body?.endpoint)).toEqual([
    { suspend_timeout_seconds: -1, settings: { pg_settings: { jit: 'off' } } },
    { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 },
  ])
  expect(plan.selection).toEqual({
    introducedSince: commit,
    leftOut: { projects: 0, changes: 1, dependent: 0 },
  })
})

describe('the base that a plan is compared with is reduced to the same selection', () => {
  const PROTECTED = "{ main: { protect: true, primary: { size: 2 } }, 'preview/1': { protect: true, primary: {} } }"
  const PLAIN = "{ main: { primary: { size: 2 } }, 'preview/1': { primary: {} } }"
  const source = { file: 'waves.yaml', line: 1, column: 1, length: 1 }
  const waves = [
    { name: 'first', projects: ['shop'], source },
    { name: 'second', projects: ['blog'], source },
  ]
  const inWaves = (all: Manifests): Manifests => ({
    ...all,
    loaded: { ...all.loaded, desired: { ...all.loaded.desired, waves } },
  })
  const compared = async (
    asked: Parameters<typeof select>[1],
    head: Manifests,
    base: Manifests,
    more: Partial<Manifests> = {},
  ) => {
    const { comparison, result } = await planRecorded(observed(), { ...(await select(head, asked)), ...more }, { base })
    const released = comparison?.origin.released ?? []
    return {
      released: released.flatMap((one) => (one.kind === 'compute' ? [`${one.project} ${one.compute.id}`] : [])),
      settled: comparison?.origin.settled.map(({ project, compute }) => `${project} ${compute.id}`),
      removals: released.flatMap((one) => (one.kind === 'safeguard' ? [`${one.project} ${one.branch.name}`] : [])),
      policies: result.plan.policies?.results.map(({ project, branch }) => `${project} ${branch}`),
    }
  }
  const NOTHING = { released: [], settled: [], removals: [] }

  test('with --project, another project is not shown as no longer managed or protected', async () => {
    const both = manifests(PROTECTED)
    expect(await compared({ projects: ['shop'] }, both, both)).toMatchObject(NOTHING)
    const shop = manifests(PROTECTED, ['shop'])
    expect(await compared({ projects: ['shop'] }, shop, both)).toMatchObject(NOTHING)
    expect(await compared({ projects: ['shop'] }, manifests(PLAIN), both)).toMatchObject({
      released: [],
      removals: ['shop main', 'shop preview/1'],
    })
    // A project that was removed can be selected too.
    expect(await compared({ projects: ['bl*'] }, shop, both)).toMatchObject({
      released: ['blog ep-main', 'blog ep-preview'],
      removals: ['blog main', 'blog preview/1'],
    })
  })

  test('with --wave, a project of another wave is not shown as no longer managed or protected', async () => {
    const both = inWaves(manifests(PROTECTED))
    expect(await compared({ wave: 'first' }, both, both)).toMatchObject(NOTHING)
    const shop = inWaves(manifests(PROTECTED, ['shop']))
    expect(await compared({ wave: 'first' }, shop, both)).toMatchObject(NOTHING)
    expect(await compared({ wave: 'second' }, shop, both)).toMatchObject({
      released: ['blog ep-main', 'blog ep-preview'],
    })
  })

  test('with --branch, what the manifests remove on another branch is not shown', async () => {
    const shop = (branches: string): Manifests => manifests(branches, ['shop'])
    const gone = shop('{ main: { primary: { size: 2 } } }')
    expect(await compared({ branches: ['main'] }, gone, shop(PROTECTED))).toMatchObject({
      released: [],
      removals: ['shop main'],
    })
    expect(await compared({ branches: ['preview/*'] }, gone, shop(PROTECTED))).toMatchObject({
      released: ['shop ep-preview'],
      removals: ['shop preview/1'],
    })
    const live = shop('{ main: { primary: { size: 1 } } }')
    expect(await compared({ branches: ['main'] }, live, shop(TWO))).toMatchObject({ settled: ['shop ep-main'] })
    expect(await compared({ branches: ['preview/1'] }, live, shop(TWO))).toMatchObject({ settled: [] })
  })

  test('with introduced changes of a project, another project is not shown as no longer managed', async () => {
    const both = manifests(PROTECTED)
    const selection = { introducedSince: 'a'.repeat(40), projects: ['shop'] }
    const selecting = { selection, since: both, leftOutProjects: 0 }
    expect(await compared({}, both, both, { selecting })).toMatchObject(NOTHING)
  })

  test('with --branch, what a policy finds on another branch is not reported', async () => {
    const [policy] = parsePolicies([
      {
        path: 'p.yaml',
        text: 'version: 1\npolicies: [{ name: small, level: deny, reason: Cost., rule: { maxSize: 0.5 } }]\n',
      },
    ]).policies
    const review = { policies: { files: ['p.yaml'], policies: policy === undefined ? [] : [policy] } }
    const shop = manifests(PLAIN, ['shop'])
    expect((await compared({}, shop, shop, { review })).policies).toEqual(['shop main', 'shop preview/1'])
    expect((await compared({ branches: ['main'] }, shop, shop, { review })).policies).toEqual(['shop main'])
  })
})

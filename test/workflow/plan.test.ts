/** Reading projects, and comparing manifests with those of a base. */
import { expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import type { ObservedProject, Origin } from '../../src/model/index.ts'
import { type Manifests, planLive } from '../../src/workflow/index.ts'
import { fakeProjects, refused } from '../api/fake-projects.ts'
import { world } from '../planner/world.ts'

const [shape] = world({ main: { primary: { size: 1 } } }).projects
const projectsOf = (...ids: readonly string[]): readonly ObservedProject[] =>
  shape === undefined ? [] : ids.map((id) => ({ ...shape, id }))
const manifests = (files: Readonly<Record<string, string>>): Manifests => ({
  loaded: parseManifests(
    Object.entries(files).map(([project, branches]) => ({
      path: `${project}.yaml`,
      text: `version: 1\nproject: ${project}\nbranches: ${branches}\n`,
    })),
  ),
  paths: Object.keys(files),
})
const SIZE_2 = '{ main: { primary: { size: 2 } } }'
const OPTIONS = { concurrency: 3, readsOperations: true }

test('past operations are read with at most the given concurrency', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `p${index}`)
  let running = 0
  let most = 0
  const api = {
    ...fakeProjects(projectsOf(...ids)),
    listOperations: async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return { operations: [] }
    },
  }
  const { result } = await planLive(api, manifests(Object.fromEntries(ids.map((id) => [id, SIZE_2]))), OPTIONS)
  expect(result.plan.steps).toHaveLength(20)
  expect(most).toBe(3)
})

test('for a few projects, past operations are read concurrently with the snapshot', async () => {
  const projects = fakeProjects(projectsOf('shop'))
  let askedFor: () => void = () => undefined
  const operationsAskedFor = new Promise<void>((resolve) => {
    askedFor = resolve
  })
  const api = {
    ...projects,
    listComputes: async (id: string) => {
      await operationsAskedFor
      return projects.listComputes(id)
    },
    listOperations: async () => {
      askedFor()
      return { operations: [] }
    },
  }
  expect((await planLive(api, manifests({ shop: SIZE_2 }))).result.plan.steps).toHaveLength(1)
})

test('a project whose operations cannot be read is planned without an estimate', async () => {
  const api = { ...fakeProjects(projectsOf('shop')), listOperations: () => Promise.reject(refused(500)) }
  const { result } = await planLive(api, manifests({ shop: SIZE_2 }), OPTIONS)
  expect(result).toMatchObject({ ok: true, plan: { steps: [{ kind: 'update' }], estimates: [] } })
})

const compare = async (base: Manifests, head: Manifests, failures = {}) => {
  const api = fakeProjects(projectsOf('shop', 'old'), failures)
  const { comparison, result } = await planLive(api, head, { ...OPTIONS, base })
  if (comparison === undefined) throw new Error('nothing was compared')
  return { ...comparison, result }
}

test('a project that only the base declares is read, and its computes are listed as released', async () => {
  const base = manifests({ shop: SIZE_2, old: '{ main: { protect: true, primary: { size: 2 } } }' })
  const { origin, result } = await compare(base, manifests({ shop: SIZE_2 }))
  expect(origin.released).toMatchObject([
    { kind: 'compute', project: 'old', source: { file: 'old.yaml' } },
    { kind: 'safeguard', project: 'old', branch: { name: 'main' }, safeguard: 'protect' },
  ])
  expect(origin.drift.map(({ project }) => project)).toEqual(['shop'])
  expect(origin.settled).toEqual([])
  expect(result.plan.projects).toEqual(['shop'])
})

test('a project that only the base declares is reported as a gap if it cannot be read', async () => {
  const { origin, result } = await compare(manifests({ shop: SIZE_2, old: SIZE_2 }), manifests({ shop: SIZE_2 }), {
    old: refused(403),
  })
  expect(result.ok).toBe(true)
  expect(origin).toMatchObject({
    released: [],
    gaps: ['Project old is no longer declared, and its computes could not be read.'],
  })
})

test('a project that cannot be planned lists no released computes', async () => {
  const { origin } = await compare(manifests({ shop: SIZE_2 }), manifests({ shop: '{ gone: { primary: {} } }' }))
  expect(origin.released).toEqual([])
})

test('a base with errors is reported as a gap', async () => {
  const { origin } = await compare(
    manifests({ shop: '{ main: { primary: { size: 3.5 } } }' }),
    manifests({ shop: SIZE_2 }),
  )
  expect(origin.introduced).toHaveLength(1)
  expect(origin.gaps).toEqual(["The base's manifests have errors, so every change is shown as introduced."])
})

test('a change that is introduced only in part appears as introduced and as drift, each with its own attributes', async () => {
  const head = manifests({ shop: '{ main: { primary: { size: 2, scaleToZero: 10m } } }' })
  const { origin, result } = await compare(manifests({ shop: SIZE_2 }), head)
  const paths = (changes: Origin['drift']) => changes.map(({ attributes }) => attributes.map(({ path }) => path))
  expect(paths(result.plan.changes)).toEqual([['size', 'scaleToZero']])
  expect(paths(origin.introduced)).toEqual([['scaleToZero']])
  expect(paths(origin.drift)).toEqual([['size']])
})

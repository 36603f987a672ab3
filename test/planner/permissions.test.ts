/** What the manifests allow for a single compute that someone wants to delete or interrupt. */
import { expect, test } from 'vitest'
import type { ObservedProject, RestartWindow } from '../../src/model/index.ts'
import { permissionsIn, safeguardsIn } from '../../src/planner/index.ts'
import { type DeclaredDocument, desired, world } from './world.ts'

const [project] = world({
  main: { primary: { id: 'ep-main' }, replicas: [{ id: 'ep-bi', name: 'bi' }] },
  qa: { primary: { id: 'ep-qa' } },
  guarded: { primary: { id: 'ep-guarded' }, protected: true },
}).projects
const permissions = (declared: DeclaredDocument, id: string, live: ObservedProject | undefined = project) => {
  const compute = live?.computes.find((one) => one.id === id)
  if (live === undefined || compute === undefined) throw new Error(`no ${id}`)
  return permissionsIn(desired(declared), live)(compute)
}
const window = (from: string): RestartWindow => ({ days: ['sun'], from, to: '04:00', timezone: 'UTC' })

test('`protect: true` makes every compute on its branch undeletable, declared or not', () => {
  const declared: DeclaredDocument = { branches: { main: { protect: true, primary: {} } } }
  for (const id of ['ep-main', 'ep-bi']) {
    expect(permissions(declared, id).undeletable).toContain(
      'branch `main` is protected (`protect: true` at espalier.yaml:2)',
    )
  }
  expect(permissions(declared, 'ep-qa')).toEqual({})
})

test('`protect: true` in a rule applies to the branches that it matches', () => {
  expect(permissions({ rules: [{ match: 'q*', protect: true }] }, 'ep-qa').undeletable).toContain(
    'branch `qa` is protected',
  )
})

test('computes on a branch that the service protects are undeletable even without a manifest', () => {
  expect(permissions({}, 'ep-guarded').undeletable).toBe(
    'the service protects branch `guarded`: its computes cannot be deleted',
  )
})

test("a compute's own restart window takes precedence over the document's, and `always` removes the window", () => {
  const declared: DeclaredDocument = {
    restartWindow: window('01:00'),
    branches: { main: { primary: { restartWindow: window('02:00') } }, qa: { primary: { restartWindow: 'always' } } },
  }
  expect(permissions(declared, 'ep-main').window).toEqual(window('02:00'))
  expect(permissions(declared, 'ep-bi').window).toEqual(window('01:00'))
  expect(permissions(declared, 'ep-qa')).toEqual({})
})

test('manifests of another project do not affect the policy', () => {
  expect(permissions({ project: 'other', branches: { main: { protect: true } } }, 'ep-main')).toEqual({})
})

test('of several documents, the one that declares a compute sets its window, and one suffices to prune', () => {
  const [live] = world({ a: { primary: { id: 'ep-a' } }, b: {} }).projects
  const [compute] = live?.computes ?? []
  if (live === undefined || compute === undefined) throw new Error('no compute')
  const moved = { branches: { b: { primary: { id: 'ep-a' } } }, prune: true }
  const both = desired(moved, { branches: { a: {} }, restartWindow: window('01:00') })
  expect(permissionsIn(both, live)(compute)).toEqual({})
  expect(safeguardsIn(both, live).prune).toBe(true)
})

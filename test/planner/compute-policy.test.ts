/** What the manifests say of a single compute that somebody wants to delete or interrupt. */
import { expect, test } from 'vitest'
import type { ObservedProject, RestartWindow } from '../../src/model/index.ts'
import { policyOf } from '../../src/planner/index.ts'
import { type DeclaredDocument, desired, world } from './world.ts'

const [project] = world({
  main: { primary: { id: 'ep-main' }, replicas: [{ id: 'ep-bi', name: 'bi' }] },
  qa: { primary: { id: 'ep-qa' } },
  guarded: { primary: { id: 'ep-guarded' }, protected: true },
}).projects
const policy = (declared: DeclaredDocument, id: string, live: ObservedProject | undefined = project) => {
  const compute = live?.computes.find((one) => one.id === id)
  if (live === undefined || compute === undefined) throw new Error(`no ${id}`)
  return policyOf(desired(declared), live)(compute)
}
const window = (from: string): RestartWindow => ({ days: ['sun'], from, to: '04:00', timezone: 'UTC' })

test('protect: true keeps everything on its branch, declared or not', () => {
  const declared: DeclaredDocument = { branches: { main: { protect: true, primary: {} } } }
  for (const id of ['ep-main', 'ep-bi']) {
    expect(policy(declared, id).undeletable).toContain(
      'branch `main` is protected (`protect: true` at espalier.yaml:2)',
    )
  }
  expect(policy(declared, 'ep-qa')).toEqual({})
})

test('a rule protects the branches that it matches', () => {
  expect(policy({ rules: [{ match: 'q*', protect: true }] }, 'ep-qa').undeletable).toContain('branch `qa` is protected')
})

test('the service protects a branch whatever the manifests say', () => {
  expect(policy({}, 'ep-guarded').undeletable).toBe(
    'the service protects branch `guarded`: its computes cannot be deleted',
  )
})

test("a compute's own restart window takes precedence over the document's; `always` means no window", () => {
  const declared: DeclaredDocument = {
    restartWindow: window('01:00'),
    branches: { main: { primary: { restartWindow: window('02:00') } }, qa: { primary: { restartWindow: 'always' } } },
  }
  expect(policy(declared, 'ep-main').window).toEqual(window('02:00'))
  expect(policy(declared, 'ep-bi').window).toEqual(window('01:00'))
  expect(policy(declared, 'ep-qa')).toEqual({})
})

test('manifests of another project say nothing of this one', () => {
  expect(policy({ project: 'other', branches: { main: { protect: true } } }, 'ep-main')).toEqual({})
})

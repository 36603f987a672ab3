/** Computes removed from the manifests keep running, and exactly these are listed as released. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { releasedSince } from '../../src/planner/index.ts'
import { type DeclaredDocument, desired, world } from './world.ts'

const live = world({
  main: { primary: { id: 'ep-main' }, replicas: [{ id: 'ep-bi', name: 'bi' }] },
  dev: { primary: { id: 'ep-dev', state: 'idle' } },
  'preview/1': { primary: { id: 'ep-p1' } },
})
const released = (base: readonly DeclaredDocument[], head: readonly DeclaredDocument[]) =>
  releasedSince(desired(...base), desired(...head), live).map(({ compute }) => compute.id)

const main = { primary: {}, replicas: { bi: {} } }
const base: DeclaredDocument = {
  branches: { main, dev: { primary: {} } },
  rules: [{ match: 'preview/*', primary: {} }],
}

test.each<readonly [string, readonly DeclaredDocument[], readonly string[]]>([
  ['a replica is removed', [{ ...base, branches: { main: { primary: {} }, dev: { primary: {} } } }], ['ep-bi']],
  ['a branch is removed', [{ ...base, branches: { main } }], ['ep-dev']],
  ['a rule is removed', [{ branches: base.branches ?? {} }], ['ep-p1']],
  ['the whole file is removed', [], ['ep-dev', 'ep-main', 'ep-bi', 'ep-p1']],
  ['nothing is removed', [base], []],
  ['a rule replaces a branch entry', [{ ...base, branches: { main }, rules: [{ match: '**', primary: {} }] }], []],
  [
    'a replica is declared absent',
    [{ ...base, branches: { main: { primary: {}, absentReplicas: ['bi'] }, dev: { primary: {} } } }],
    [],
  ],
  ['a primary is declared absent', [{ ...base, branches: { main, dev: { primary: 'absent' } } }], []],
  [
    'a replica is removed and pruned',
    [{ ...base, prune: true, branches: { main: { primary: {} }, dev: { primary: {} } } }],
    [],
  ],
  [
    'a branch is removed under `prune`, which deletes only on declared branches',
    [{ ...base, prune: true, branches: { main } }],
    ['ep-dev'],
  ],
])('exactly the released computes are listed when %s', (_what, head, ids) => {
  expect(released([base], head)).toEqual(ids)
})

test('a replica whose key is renamed is released', () => {
  expect(
    released([base], [{ ...base, branches: { ...base.branches, main: { primary: {}, replicas: { olap: {} } } } }]),
  ).toEqual(['ep-bi'])
})

test('computes that the base declares but that are not live are not released', () => {
  expect(released([{ branches: { main: { replicas: { never: {} } }, gone: { primary: {} } } }], [])).toEqual([])
})

test('a released compute is listed with its source in the base, its branch and its state', () => {
  expect(releasedSince(desired(base), desired({ ...base, branches: { main } }), live)).toEqual([
    {
      project: 'quiet-river-12345678',
      branch: { id: 'br-dev', name: 'dev' },
      compute: { type: 'read_write', id: 'ep-dev', host: 'ep-dev.host.test', state: 'idle' },
      size: { min: 1, max: 1 },
      source: { file: 'espalier.yaml', line: 1, column: 1, length: 1 },
    },
  ])
})

test('equal manifests release nothing, and a released compute is not managed by the head', () => {
  const document = fc.record({
    branches: fc.dictionary(fc.constantFrom('main', 'dev', 'preview/1'), fc.constantFrom(main, { primary: {} }, {})),
    prune: fc.boolean(),
  })
  fc.assert(
    fc.property(document, document, (one, other) => {
      expect(released([one], [one])).toEqual([])
      const ids = released([one], [other])
      expect(released([other], [one]).filter((id) => ids.includes(id))).toEqual([])
    }),
  )
})

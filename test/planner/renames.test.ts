/** A replica whose key was edited counts as the same replica if `renamedFrom` says so. */
import { describe, expect, test } from 'vitest'
import type { Plan } from '../../src/model/index.ts'
import { type DeclaredShape, type LiveBranch, planOf, world } from './world.ts'

const planFor = (replicas: DeclaredShape['replicas'], live: LiveBranch['replicas'] = [{ id: 'ep-bi', name: 'bi' }]) =>
  planOf({ branches: { main: { replicas: replicas ?? {} } } }, world({ main: { replicas: live } }))
const whatHappens = ({ changes }: Plan) =>
  changes.map(({ kind, compute, attributes }) => [
    kind,
    compute.name,
    compute.id,
    attributes.map(({ path, beforeText, afterText }) => `${path} ${beforeText} > ${afterText}`),
  ])
const codes = ({ warnings }: Plan) => warnings.map(({ code }) => code)

describe('a declared replica that is missing while an equal undeclared one is live', () => {
  test('is created with a warning that suggests `renamedFrom`', () => {
    const plan = planFor({ olap: { size: 1 } })
    expect(whatHappens(plan)).toMatchObject([['create', 'olap', undefined, expect.anything()]])
    expect(plan.warnings).toMatchObject([
      {
        code: 'W_RENAMED',
        message: expect.stringContaining('ep-bi'),
        hint: expect.stringContaining('`renamedFrom: bi` under `olap`'),
      },
    ])
  })

  test.each([
    ['they differ in more than the name', { olap: { size: 2 } }, undefined],
    ['two missing replicas are declared', { olap: {}, oltp: {} }, undefined],
    [
      'two undeclared replicas are live',
      { olap: {} },
      [
        { id: 'ep-bi', name: 'bi' },
        { id: 'ep-x', name: 'x' },
      ],
    ],
    ['the live replica is declared', { olap: {}, bi: {} }, undefined],
    ['there is no live replica', { olap: {} }, []],
  ])('is created without the warning when %s', (_why, declared, live) => {
    expect(codes(planFor(declared, live))).not.toContain('W_RENAMED')
  })
})

describe('a declared replica that is missing while an equal undeclared one of that name is live on another branch', () => {
  const REPLICA = { id: 'ep-bi', name: 'bi', size: 1 }
  const planFor = (declared: Readonly<Record<string, DeclaredShape>>, live: Readonly<Record<string, LiveBranch>>) =>
    planOf({ branches: { main: {}, ...declared } }, world({ main: {}, staging: {}, ...live }))

  test('is created with a warning that suggests its id, which moves it', () => {
    const [declared, live] = [{ staging: { replicas: { bi: { size: 1 } } } }, { main: { replicas: [REPLICA] } }]
    expect(planFor(declared, live).warnings).toMatchObject([
      {
        code: 'W_RENAMED',
        message:
          'Replica `bi` of branch `staging` will be created, although ep-bi, named `bi` on branch `main`, is identical and undeclared.',
        hint: 'If `bi` was moved to this branch, write `id: ep-bi` under it to keep the compute and its host.',
      },
    ])
    const pinned = planFor({ staging: { replicas: { bi: { id: 'ep-bi', size: 1 } } } }, live)
    expect(pinned.warnings).toEqual([])
    expect(whatHappens(pinned)).toMatchObject([['move', 'bi', 'ep-bi', expect.anything()]])
  })

  test('is found although an unlike undeclared one is on the new branch', () => {
    const other = { id: 'ep-other', name: 'other', size: 4 }
    const live = { main: { replicas: [REPLICA] }, staging: { replicas: [other] } }
    expect(planFor({ staging: { replicas: { bi: { size: 1 } } } }, live).warnings).toMatchObject([
      { code: 'W_RENAMED', message: expect.stringContaining('ep-bi, named `bi` on branch `main`') },
    ])
  })

  test.each<readonly [string, Readonly<Record<string, DeclaredShape>>, Readonly<Record<string, LiveBranch>>]>([
    [
      'the other branch is not declared',
      { staging: { replicas: { bi: { size: 1 } } } },
      { dev: { replicas: [REPLICA] } },
    ],
    ['they differ', { staging: { replicas: { bi: { size: 2 } } } }, { main: { replicas: [REPLICA] } }],
    ['the names differ', { staging: { replicas: { olap: { size: 1 } } } }, { main: { replicas: [REPLICA] } }],
    [
      'the live replica is declared',
      { main: { replicas: { bi: {} } }, staging: { replicas: { bi: { size: 1 } } } },
      { main: { replicas: [REPLICA] } },
    ],
    [
      'it is missing on two branches',
      { staging: { replicas: { bi: { size: 1 } } }, dev: { replicas: { bi: { size: 1 } } } },
      { main: { replicas: [REPLICA] }, dev: {} },
    ],
    [
      'two undeclared ones are live',
      { dev: {}, staging: { replicas: { bi: { size: 1 } } } },
      { main: { replicas: [REPLICA] }, dev: { replicas: [{ ...REPLICA, id: 'ep-bi-2' }] } },
    ],
  ])('is created without the warning when %s', (_why, declared, live) => {
    expect(codes(planFor(declared, live))).not.toContain('W_RENAMED')
  })
})

describe('renamedFrom', () => {
  test('renames the live replica without interrupting connections', () => {
    const plan = planFor({ olap: { renamedFrom: 'bi', size: 1 } })
    expect(whatHappens(plan)).toEqual([['update', 'olap', 'ep-bi', ['name bi > olap']]])
    expect(plan.steps).toMatchObject([{ impact: 'none', request: { body: { endpoint: { name: 'olap' } } } }])
    expect(codes(plan)).toEqual([])
  })

  test('has no effect once the live replica has the new name', () => {
    const plan = planFor({ olap: { renamedFrom: 'bi' } }, [
      { id: 'ep-olap', name: 'olap' },
      { id: 'ep-bi', name: 'bi' },
    ])
    expect(plan.changes).toEqual([])
    expect(plan.unmanaged.map(({ compute }) => compute.id)).toEqual(['ep-bi'])
  })

  test('does not rename a replica that is declared under its own name', () => {
    const plan = planFor({ bi: {}, olap: { renamedFrom: 'bi' } })
    expect(whatHappens(plan)).toMatchObject([['create', 'olap', undefined, expect.anything()]])
  })

  test('takes precedence over adopting a nameless replica', () => {
    const plan = planFor({ olap: { renamedFrom: 'bi' } }, [{ id: 'ep-a' }, { id: 'ep-bi', name: 'bi' }])
    expect(plan.changes.map(({ compute }) => compute.id)).toEqual(['ep-bi'])
  })

  test('applies to every branch that a rule matches', () => {
    const plan = planOf(
      { rules: [{ match: 'preview/*', replicas: { olap: { renamedFrom: 'bi' } } }] },
      world({ 'preview/1': { replicas: [{ name: 'bi' }] }, 'preview/2': { replicas: [{ name: 'bi' }] } }),
    )
    expect(plan.steps.map(({ kind, impact }) => [kind, impact])).toEqual([
      ['update', 'none'],
      ['update', 'none'],
    ])
  })
})

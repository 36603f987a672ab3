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

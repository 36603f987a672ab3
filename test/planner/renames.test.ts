/** A replica whose key was edited is the same replica, if somebody says so. */
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

describe('a declared replica that is not there, next to an equal one that nothing declares', () => {
  test('is created, with the line to write if it is the same one', () => {
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
    ['two are declared', { olap: {}, oltp: {} }, undefined],
    [
      'two are left over',
      { olap: {} },
      [
        { id: 'ep-bi', name: 'bi' },
        { id: 'ep-x', name: 'x' },
      ],
    ],
    ['the live one is declared', { olap: {}, bi: {} }, undefined],
    ['there is no live one', { olap: {} }, []],
  ])('is simply created where %s', (_why, declared, live) => {
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

  test('has no effect once the replica has its new name', () => {
    const plan = planFor({ olap: { renamedFrom: 'bi' } }, [
      { id: 'ep-olap', name: 'olap' },
      { id: 'ep-bi', name: 'bi' },
    ])
    expect(plan.changes).toEqual([])
    expect(plan.unmanaged.map(({ compute }) => compute.id)).toEqual(['ep-bi'])
  })

  test('leaves a replica alone that is declared under its own name', () => {
    const plan = planFor({ bi: {}, olap: { renamedFrom: 'bi' } })
    expect(whatHappens(plan)).toMatchObject([['create', 'olap', undefined, expect.anything()]])
  })

  test('comes before adopting a nameless replica', () => {
    const plan = planFor({ olap: { renamedFrom: 'bi' } }, [{ id: 'ep-a' }, { id: 'ep-bi', name: 'bi' }])
    expect(plan.changes.map(({ compute }) => compute.id)).toEqual(['ep-bi'])
  })

  test('works in a rule, on each branch that it matches', () => {
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

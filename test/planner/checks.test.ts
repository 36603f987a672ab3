/** Rules that depend on the live state: sizes, primaries and names. */
import { describe, expect, test } from 'vitest'
import type { Observed, PlanResult } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { type DeclaredDocument, desired, PROJECT, planOf, world } from './world.ts'

const resultOf = (branches: DeclaredDocument['branches'], observed: Observed): PlanResult =>
  plan(desired({ branches: branches ?? {} }), observed)

const problemsIn = (result: PlanResult): readonly string[] =>
  (result.ok ? result.plan.warnings : result.diagnostics).map(({ code, message }) => `${code}: ${message}`)

describe('scale to zero above 16 CU', () => {
  test('is rejected if only one of size and scale to zero is declared and the live value of the other does not fit', () => {
    const main = { main: { primary: { id: 'ep-1', size: 32, scaleToZero: -1 } } }
    expect(problemsIn(resultOf({ main: { primary: { scaleToZero: 300 } } }, world(main)))).toEqual([
      'E_SCALE_TO_ZERO_SIZE: A compute above 16 CU cannot scale to zero: 32 CU on branch `main`.',
    ])
    const small = { main: { primary: { id: 'ep-1', size: 1, scaleToZero: 300 } } }
    expect(problemsIn(resultOf({ main: { primary: { size: 32 } } }, world(small)))).toEqual([
      'E_SCALE_TO_ZERO_SIZE: A compute above 16 CU cannot scale to zero: 32 CU on branch `main` would keep its live scale-to-zero setting.',
    ])
  })

  test('is not checked against a compute that is replaced, because its successor does not inherit its size', () => {
    const live = world({ main: { replicas: [{ id: 'ep-r', size: 32, scaleToZero: -1 }] } })
    const result = resultOf({ main: { primary: { id: 'ep-r', scaleToZero: 300 } } }, live)
    expect(result.ok && result.plan.changes.map(({ kind }) => kind)).toEqual(['replace'])
  })
})

describe('a primary on a branch that keeps another one', () => {
  const live = world({ a: { primary: { id: 'ep-a' } }, b: { primary: { id: 'ep-b' } } })

  test('is rejected with the names of both', () => {
    expect(problemsIn(resultOf({ b: { primary: { id: 'ep-a' } } }, live))).toEqual([
      'E_PRIMARY_TAKEN: Branch `b` already has the primary ep-b, so ep-a cannot be its primary.',
      `W_DEFAULT_BRANCH: ep-a on branch \`a\` of project \`${PROJECT}\`: a is the default branch, and its primary is moved to b.`,
    ])
  })

  test.each([
    ['the manifest', { protect: true }, {}],
    ['the service', {}, { protected: true }],
  ])('is to be unprotected first if %s protects the branch', (_who, declared, seen) => {
    const guarded = world({ a: { primary: { id: 'ep-a' } }, b: { primary: { id: 'ep-b' }, ...seen } })
    const result = resultOf({ b: { ...declared, primary: { id: 'ep-a' } } }, guarded)
    expect(result.ok ? [] : result.diagnostics.map(({ hint }) => hint)).toContainEqual(
      expect.stringMatching(/^Remove the protection of the branch first\. Pin ep-b /),
    )
  })

  test('does not affect a replica on that branch', () => {
    expect(problemsIn(resultOf({ b: { replicas: { r: { size: 1 } } } }, live))).toEqual([])
  })
})

test('several live primaries on one branch are listed in the order of their ids', () => {
  const observed = world({ main: { primary: { id: 'ep-b' } }, dev: { primary: { id: 'ep-a' } } })
  const crowded = {
    ...observed,
    projects: observed.projects.map((project) => ({
      ...project,
      computes: project.computes.map((compute) => ({ ...compute, branchId: 'br-main' })),
    })),
  }
  expect(problemsIn(resultOf({ main: { primary: {} } }, crowded))).toEqual([
    'E_TWO_PRIMARIES: Branch `main` has 2 primaries, but the service allows only one: ep-a, ep-b. Its state is corrupt.',
  ])
})

describe('a declared name', () => {
  test('causes a warning if a compute on the branch keeps the same name', () => {
    const live = world({
      main: { primary: { id: 'ep-p', name: 'bi' }, replicas: [{ id: 'ep-r', name: 'bi', size: 32, scaleToZero: -1 }] },
    })
    expect(problemsIn(resultOf({ main: { primary: {}, replicas: { bi: {} } } }, live))).toEqual([
      'W_NAME_TAKEN: On branch `main`, ep-p (whose name is not declared) is also named `bi`.',
    ])
    expect(problemsIn(resultOf({ main: { replicas: { bi: {} } } }, live))).toEqual([
      'W_NAME_TAKEN: On branch `main`, the unmanaged compute ep-p is also named `bi`.',
    ])
  })

  test('causes no warning if the compute that has it is renamed', () => {
    const live = world({ main: { replicas: [{ id: 'ep-1', name: 'a' }] } })
    const made = planOf({ branches: { main: { replicas: { b: { id: 'ep-1' }, a: {} } } } }, live)
    expect(made.changes.map(({ kind, compute }) => [kind, compute.name])).toEqual([
      ['create', 'a'],
      ['update', 'b'],
    ])
    expect(made.warnings).toEqual([])
  })

  test('causes no warning on another branch', () => {
    const live = world({ main: { replicas: [{ name: 'bi' }] }, dev: {} })
    expect(problemsIn(resultOf({ dev: { replicas: { bi: {} } } }, live))).toEqual([])
  })
})

test.each(['r', undefined])('a missing primary is not mistaken for a replica that is named %s', (name) => {
  const live = world({ main: { replicas: [{ id: 'ep-r', ...(name === undefined ? {} : { name }) }] } })
  expect(problemsIn(resultOf({ main: { primary: {} } }, live))).toEqual([])
  expect(planOf({ branches: { main: { primary: {} } } }, live).changes.map(({ kind }) => kind)).toEqual(['create'])
})

/** A problem in one project excludes only that project from the plan. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Observed } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { type DeclaredDocument, desired, world } from './world.ts'

const IDS = ['alpha', 'beta', 'gamma', 'delta']
const [base] = world({ main: { primary: { size: 1 } }, qa: {} }).projects
const live = (ids: readonly string[], more: Partial<Observed> = {}): Observed => ({
  takenAt: '2026-01-01T00:00:00.000Z',
  missing: [],
  projects: base === undefined ? [] : ids.map((id) => ({ ...base, id })),
  ...more,
})
const fine = (project: string): DeclaredDocument => ({ project, branches: { main: { primary: { size: 2 } } } })
const PROBLEMS: Readonly<Record<string, Omit<DeclaredDocument, 'project'>>> = {
  E_BRANCH_UNKNOWN: { branches: { gone: { primary: { size: 1 } } } },
  E_PIN_UNKNOWN: { branches: { qa: { primary: { id: 'ep-nowhere' } } } },
  E_PARK_ON: { branches: { main: {} }, parkOn: 'main' },
}

test.each(Object.entries(PROBLEMS))('a project with %s is left out and the others are planned', (code, problem) => {
  const documents = [fine('alpha'), { ...problem, project: 'beta' }, fine('gamma')]
  const result = plan(desired(...documents), live(IDS))
  expect(result.ok).toBe(false)
  expect(result.plan.projects).toEqual(['alpha', 'gamma'])
  expect(result.plan.steps.map(({ project }) => project)).toEqual(['alpha', 'gamma'])
  expect(result.plan.leftOut).toMatchObject([{ project: 'beta', diagnostics: [{ code }] }])
})

test('a missing or unreadable project is left out with its reason', () => {
  const unreadable = [
    { id: 'beta', message: 'The control API rejected the request: no (GET /x, status 403)', hint: 'Take a key.' },
  ]
  const documents = [fine('alpha'), fine('beta'), fine('gamma')]
  const { leftOut } = plan(desired(...documents), live(['gamma'], { missing: ['alpha'], unreadable })).plan
  expect(leftOut?.map(({ diagnostics: [first] }) => [first?.code, first?.message, first?.hint])).toEqual([
    [
      'E_PROJECT_UNKNOWN',
      'There is no project `alpha`, or the key has no access to it.',
      'Check the project id and the key.',
    ],
    [
      'E_PROJECT_UNREADABLE',
      'Project `beta` could not be read. The control API rejected the request: no (GET /x, status 403).',
      'Take a key.',
    ],
  ])
})

test('leaving out projects does not change the plan of the others', () => {
  const subset = fc.subarray(IDS)
  const planOf = (...documents: readonly DeclaredDocument[]) => plan(desired(...documents), live(IDS)).plan
  fc.assert(
    fc.property(subset, fc.constantFrom(...Object.values(PROBLEMS)), (broken, problem) => {
      const document = (id: string) => (broken.includes(id) ? { ...problem, project: id } : fine(id))
      const whole = planOf(...IDS.map(document))
      const { leftOut, ...rest } = whole
      expect((leftOut ?? []).map(({ project }) => project)).toEqual([...broken].sort())
      expect(rest).toEqual(planOf(...IDS.filter((id) => !broken.includes(id)).map(fine)))
    }),
  )
})

test('the hint for a project name given instead of an id contains the id', () => {
  const observed: Observed = {
    ...world({ main: {} }),
    missing: ['billing'],
    namesakes: [{ name: 'billing', ids: ['amber-field-1'] }],
  }
  const result = plan(desired({ project: 'billing' }), observed)
  expect(result.ok ? [] : result.diagnostics).toMatchObject([
    { code: 'E_PROJECT_UNKNOWN', hint: '`billing` is the name of `amber-field-1`. Write the id.' },
  ])
})

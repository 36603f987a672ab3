import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { IMPACTS, type Plan } from '../../src/model/index.ts'
import { terminalOutcome, terminalPlan } from '../../src/report/index.ts'
import { runs } from '../long-runs.ts'
import { EMPTY_PLAN, FLEET, OUTCOME, PLAN, planWith } from './fixtures.ts'
import { hostileName } from './names.ts'

const plain = (width: number) => ({ color: false, width })
const takenAt = '2026-11-20T10:00:00Z'
const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n')
const golden = (text: string, name: string) => expect(text).toMatchFileSnapshot(`golden/${name}`)

describe('the plan of a fleet', () => {
  test.each([80, 120])('shows one line per change in %i columns', async (width) => {
    await golden(terminalPlan(FLEET, plain(width), { takenAt }), `plan-fleet-${width}.txt`)
  })

  test('has a section with counts for each project in the detailed view', async () => {
    await golden(terminalPlan(FLEET, plain(100), { takenAt, detail: true }), 'plan-fleet-detail.txt')
  })

  test('fits on two screens for 28 changes in 40 projects', () => {
    const projects = Array.from({ length: 40 }, (_, at) => `project-${at}`)
    const changes = PLAN.changes.flatMap((change) =>
      projects.slice(0, 6).map((project) => ({ ...change, id: `${project}/${change.id}`, project })),
    )
    const plan: Plan = { ...PLAN, projects, changes: changes.slice(0, 28), warnings: [] }
    expect(linesOf(terminalPlan(plan, plain(80), { takenAt })).length).toBeLessThanOrEqual(60)
  })
})

test('the detailed view is the default for up to twelve changes, and the compact view for more', () => {
  const isDetailed = (plan: Plan, detail?: boolean): boolean =>
    /^Project /m.test(terminalPlan(plan, plain(80), { detail }))
  const short: Plan = { ...FLEET, changes: FLEET.changes.slice(0, 12) }
  const long: Plan = { ...FLEET, changes: FLEET.changes.slice(0, 13) }
  expect([isDetailed(short), isDetailed(long)]).toEqual([true, false])
  expect([isDetailed(short, true), isDetailed(long, true)]).toEqual([true, true])
})

test.each([false, true])('changes are sorted by impact, then by project name, with detail %s', (detail) => {
  const text = terminalPlan(FLEET, plain(200), { detail })
  const places = ['billing', 'p-3', 'storefront'].map((name) => text.indexOf(name))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(text.indexOf('deleted')).toBeLessThan(text.indexOf('restarts:'))
})

test('each impact has a symbol and a colour of its own', () => {
  const [change] = PLAN.changes
  const marks = IMPACTS.map((impact) => {
    const changes = change === undefined ? [] : Array.from({ length: 13 }, () => ({ ...change, impact }))
    const plan: Plan = { ...PLAN, changes, steps: [] }
    const line = (color: boolean): string => linesOf(terminalPlan(plan, { color, width: 80 }))[0] ?? ''
    return { symbol: line(false).slice(0, 1), color: line(true).split(/[a-z]/)[0] + line(true).slice(0, 12) }
  })
  expect(new Set(marks.map(({ symbol }) => symbol)).size).toBe(IMPACTS.length)
  expect(new Set(marks.map(({ color }) => color)).size).toBe(IMPACTS.length)
})

test.each([false, true])(
  'the consent that a change needs is named, unless the change is refused, with detail %s',
  (detail) => {
    const changes = Array.from({ length: 13 }, () => PLAN.changes).flat()
    const text = terminalPlan({ ...PLAN, changes }, plain(120), { detail })
    expect(text).toContain('needs --allow move')
    expect(text).not.toContain('--allow delete')
  },
)

describe('the order of steps', () => {
  const quiet: Plan = { ...PLAN, steps: PLAN.steps.filter(({ kind }) => kind !== 'move') }
  const has = (plan: Plan, extra = {}): boolean => terminalPlan(plan, plain(80), extra).includes('Order of steps')

  test('is shown if there are moves or restart windows', () => {
    const windows = [{ days: ['sun' as const], from: '02:00', to: '04:00', timezone: 'UTC' }]
    expect(has(PLAN)).toBe(true)
    expect(has({ ...quiet, steps: quiet.steps.map((step) => ({ ...step, windows })) })).toBe(true)
  })

  test('is shown only on request for other plans and in the compact view', () => {
    expect(has(quiet)).toBe(false)
    expect(has(quiet, { detail: true })).toBe(true)
    expect(has(FLEET)).toBe(false)
    expect(has(FLEET, { detail: true })).toBe(true)
  })
})

describe('the width of a plan', () => {
  const tooWide = (text: string, width: number) => linesOf(text).filter((line) => stringWidth(line) > width)

  test('never exceeds the terminal, whatever the names', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(80, 100, 120),
        hostileName,
        fc.boolean(),
        fc.boolean(),
        (width, name, detail, color) => {
          const plan = planWith(name, { ...FLEET, projectNames: { 'p-1': name, 'p-2': `${name}${name}` } })
          const style = { color, width }
          const shown = terminalPlan(plan, style, {
            takenAt,
            detail,
            since: { ref: name, origin: { introduced: plan.changes, drift: plan.changes, settled: [], released: [] } },
          })
          expect(tooWide(shown, width)).toEqual([])
          const outcome = {
            ...OUTCOME,
            steps: OUTCOME.steps.map((step) => ({ ...step, message: name })),
            notes: [name],
          }
          expect(tooWide(terminalOutcome(planWith(name), outcome, style), width)).toEqual([])
        },
      ),
      { numRuns: runs(200) },
    )
  })

  test.each([80, 100, 120])('leaves the summary on the last line in %i columns', (width) => {
    for (const plan of [PLAN, FLEET]) {
      expect(linesOf(terminalPlan(plan, plain(width), { takenAt })).at(-1)).toMatch(/^Plan: 1 to create, .*\.$/)
    }
    expect(linesOf(terminalPlan(EMPTY_PLAN, plain(width), { takenAt })).at(-1)).toMatch(/^No changes\./)
  })
})

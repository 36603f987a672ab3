import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { type Change, type Consent, IMPACTS, type Plan, type PlanCost } from '../../src/model/index.ts'
import { terminalOutcome, terminalPlan } from '../../src/report/index.ts'
import { runs } from '../long-runs.ts'
import { EMPTY_PLAN, FLEET, OUTCOME, PLAN, planWith } from './fixtures.ts'
import { hostileName } from './names.ts'

const AT_MOST = { low: 0, expected: null, high: 2190 }
const COST: PlanCost = {
  model: '2',
  hoursPerMonth: 730,
  total: { delta: { ...AT_MOST, unknown: 1 } },
  projects: [],
  computes: [
    {
      change: 'x',
      delta: AT_MOST,
      basis: { kind: 'unknown', activeHoursPerDay: null, since: null, averageCu: null, flags: [] },
      sentence: 'no usage history',
    },
  ],
}

const plain = (width: number) => ({ color: false, width })
const takenAt = '2026-11-20T10:00:00Z'
const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n')
const golden = (text: string, name: string) => expect(text).toMatchFileSnapshot(`golden/${name}`)

describe('the plan of a fleet', () => {
  test.each([80, 120])('shows one line per change in %i columns', async (width) => {
    await golden(terminalPlan(FLEET, plain(width), { takenAt }), `plan-fleet-${width}.txt`)
  })

  test('has every place, reason and effect in the detailed view', async () => {
    await golden(terminalPlan(FLEET, plain(100), { takenAt, detail: true }), 'plan-fleet-detail.txt')
  })
})

describe('a plan is short', () => {
  const [resize, create, , , sleep] = PLAN.changes
  /** Changes to computes with long names, all in one project or each in a project of its own. */
  const many = (count: number, isFleet: boolean): Plan => {
    const changes = Array.from({ length: count }, (_, at): Change => {
      const one = [resize, create, sleep][at % 3]
      if (one === undefined) throw new Error('there is no such change')
      // The compute of the third is idle, so that it restarts only if it is in use by then.
      const change = one === sleep ? { ...one, attributes: resize?.attributes.slice(0, 1) ?? [] } : one
      const branch = { id: `br-${at}`, name: `feature/a-branch-with-a-name-${10 + at}` }
      const project = isFleet ? `project-with-a-long-name-${10 + (at % 8)}` : change.project
      return { ...change, id: `${project}/${at}`, project, branch }
    })
    const kinds = { create: 0, update: 0 }
    for (const { kind } of changes) if (kind === 'create' || kind === 'update') kinds[kind] += 1
    const restarts = changes.filter(({ impact }) => impact === 'restart').length
    const summary = { ...PLAN.summary, move: 0, delete: 0, refused: 0, ...kinds, restarts }
    const projects = [...new Set(changes.map(({ project }) => project))]
    // An update adds up to 3 CU, and a create up to 2 CU, all month.
    const high = (3 * kinds.update + 2 * kinds.create) * COST.hoursPerMonth
    const cost = { ...COST, total: { delta: { ...AT_MOST, high, unknown: changes.length } } }
    return { ...PLAN, projects, changes, steps: PLAN.steps.slice(0, 1), warnings: [], summary, cost }
  }

  test.each([
    [1, 8],
    [4, 12],
    [28, 34],
  ])('%i changes take at most %i lines of 80 columns', async (count, most) => {
    for (const isFleet of [false, true]) {
      const text = terminalPlan(many(count, isFleet), plain(80), { takenAt })
      expect(linesOf(text).length).toBeLessThanOrEqual(most)
      for (const line of linesOf(text)) expect(stringWidth(line), line).toBeLessThanOrEqual(80)
      await golden(text, `plan-${count}${isFleet ? '-fleet' : ''}.txt`)
    }
  })

  test('and so are 28 that all interrupt: none of them is left out', () => {
    const plan = many(28, true)
    const changes = plan.changes.map((change) => ({ ...change, kind: 'update' as const, impact: 'restart' as const }))
    const text = terminalPlan({ ...plan, changes }, plain(80))
    expect(text.match(/! restarts/g)).toHaveLength(28)
    expect(linesOf(text).length).toBeLessThanOrEqual(34)
  })
})

test('up to three changes are explained; from four on, each has one line, with effects only where they warn', () => {
  const [change] = PLAN.changes
  if (change === undefined) throw new Error('there is no change')
  const shown = (count: number, effects = change.effects): string =>
    terminalPlan({ ...PLAN, changes: Array.from({ length: count }, () => ({ ...change, effects })) }, plain(80))
  expect(shown(3)).toContain('projects/shop.yaml:6 · work_mem 4MB → 64MB')
  expect(shown(3)).toContain('temp disk 20 → 60')
  expect(shown(4)).not.toMatch(/projects.shop.yaml:6|temp disk/)
  const warns = { kind: 'temporary-disk', before: 60, after: 20, when: 'now', warns: true } as const
  expect(shown(4, [...change.effects, warns])).toContain('      temp disk 60 → 20 GiB\n')
})

test('a plan says what a delete leaves, and why a compute may restart', () => {
  const [update, , , removal] = PLAN.changes
  const [step] = PLAN.steps
  if (update === undefined || removal === undefined || step === undefined) throw new Error('there is no such change')
  const shown = (changes: readonly Change[]): string =>
    terminalPlan({ ...PLAN, changes, steps: [{ ...step, consents: ['delete'] }] }, plain(80))
  const { refused: _refused, ...deletion } = removal
  expect(shown([deletion])).toMatch(/✗ deleted: connections end\n +the host is lost · the branch and its data stay/)
  expect(shown(Array.from({ length: 4 }, () => deletion))).toContain(
    '`apply` needs --allow delete. Deleting a compute ends its connections; the\nbranch and its data stay.',
  )
  expect(shown([{ ...update, impact: 'may-restart' }])).toContain('only some settings can be reloaded')
})

test('denied and refused changes come first, then the worst impacts, then effects that warn', () => {
  const [change] = PLAN.changes
  if (change === undefined) throw new Error('there is no change')
  const warns = { kind: 'temporary-disk', before: 60, after: 20, when: 'now', warns: true } as const
  const kinds: readonly (readonly [string, Partial<Change>])[] = [
    ['rest', { impact: 'none', effects: [] }],
    ['warning', { impact: 'none', effects: [warns] }],
    ...(['restart', 'disconnect', 'move', 'replace', 'delete'] as const).map((impact) => [impact, { impact }] as const),
    ['refused', { refused: 'The branch is protected.' }],
    ['denied', { refused: 'It is too large.', isDenied: true }],
  ]
  const changes = kinds.map(([name, part]) => ({ ...change, ...part, branch: { id: name, name } }))
  const text = terminalPlan({ ...PLAN, changes, steps: [] }, plain(80), { detail: true })
  expect([...text.matchAll(/ primary on (\w+)/g)].map(([, name]) => name)).toEqual(
    kinds.map(([name]) => name).reverse(),
  )
})

test.each([false, true])('changes are sorted by impact, then by project name, with detail %s', (detail) => {
  const text = terminalPlan(FLEET, plain(200), { detail })
  const places = ['billing', 'p-3', 'storefront'].map((name) => text.indexOf(name))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(text.indexOf('✗')).toBeLessThan(text.indexOf('restarts:'))
})

test('each impact has a symbol and a colour of its own', () => {
  const [change] = PLAN.changes
  const marks = IMPACTS.map((impact) => {
    const changes = change === undefined ? [] : [{ ...change, impact }]
    const plan: Plan = { ...PLAN, changes, steps: [] }
    const cell = (color: boolean): string =>
      linesOf(terminalPlan(plan, { color, width: 80 }, { detail: true }))[1]
        ?.split('+1 more')[1]
        ?.trim() ?? ''
    return { symbol: cell(false).slice(0, 1), color: /\[[^·?!⊘→⇄✗]*/.exec(cell(true))?.[0] }
  })
  expect(new Set(marks.map(({ symbol }) => symbol)).size).toBe(IMPACTS.length)
  expect(new Set(marks.map(({ color }) => color)).size).toBe(IMPACTS.length)
})

test('a plan asks only for the consents that were not given, and still says what a delete does', () => {
  const [step] = PLAN.steps
  if (step === undefined) throw new Error('there is no step')
  const plan: Plan = { ...PLAN, steps: [{ ...step, consents: ['move', 'delete'] }] }
  const shown = (...given: readonly Consent[]): string =>
    terminalPlan(plan, plain(200), given.length === 0 ? {} : { allowed: new Set(given) })
  expect(shown()).toContain('`apply` needs --allow move,delete. Deleting a compute')
  expect(shown('move')).toContain('`apply` needs --allow delete. Deleting a compute')
  expect(shown('move', 'delete')).toMatch(/\nDeleting a compute/)
  expect(shown('move', 'delete')).not.toContain('--allow')
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

test('the order of steps is shown for those that depend on each other, and on request for all', () => {
  const quiet: Plan = { ...PLAN, steps: PLAN.steps.map((step) => ({ ...step, inTurnAfter: step.after })) }
  const stepsIn = (plan: Plan, extra = {}): number =>
    terminalPlan(plan, plain(80), extra).match(/^ {2}\d\. /gm)?.length ?? 0
  expect([stepsIn(PLAN), stepsIn(quiet)]).toEqual([3, 0])
  expect([stepsIn(PLAN, { detail: true }), stepsIn(quiet, { detail: true })]).toEqual([5, 5])
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

  test.each([80, 100, 120])('ends with the counts and the cost in %i columns', (width) => {
    for (const plan of [PLAN, FLEET]) {
      const text = terminalPlan({ ...plan, cost: COST }, plain(width), { takenAt })
      expect(text).toMatch(
        /^Plan: 1 to create, 2 to update, 1 to move, 1 to delete\. 1 restart, [13] restarts? if\sin use, 1 refused\./m,
      )
      expect(linesOf(text).at(-1)).toMatch(
        /^Cost: at most \+2,190 CU-hours a month\. +Places, capacity, order: --detail$/,
      )
    }
    expect(linesOf(terminalPlan(EMPTY_PLAN, plain(width), { takenAt })).at(-1)).toMatch(/^No changes\./)
  })
})

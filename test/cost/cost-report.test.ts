import { expect, test } from 'vitest'
import { basisSentence, type CostReport, costReport, type DeclaredPlace } from '../../src/cost/index.ts'
import type { ComputeAttributes, Observed, ObservedBranch } from '../../src/model/index.ts'
import { costMarkdown, costTable } from '../../src/report/index.ts'
import { branch, compute, hoursAgo, NEVER, NOW, operations, project } from './worlds.ts'

const observed = (...projects: Observed['projects']): Observed => ({
  takenAt: new Date(NOW).toISOString(),
  missing: [],
  projects,
})

/** A project with one compute on a branch that is neither default nor protected. */
const only = (
  attributes: ComputeAttributes,
  used: readonly [number, number] | undefined,
  more: { readonly branch?: Partial<ObservedBranch>; readonly past?: Parameters<typeof project>[0] } = {},
): Observed =>
  observed(
    project({
      branches: [branch(used, { isDefault: false, name: 'staging', ...more.branch })],
      computes: [compute(attributes)],
      ...more.past,
    }),
  )

const fixed = (cu: number, scaleToZero = 300): ComputeAttributes => ({ size: { min: cu, max: cu }, scaleToZero })
const between = (min: number, max: number): ComputeAttributes => ({ size: { min, max }, scaleToZero: 300 })
const past = (times: number) => ({
  pastOperations: operations('ep-one', 120, times),
  operationsSince: hoursAgo(10_000),
})
const adviceOf = (seen: Observed) =>
  costReport(seen).advice.map(({ kind, saves, bound, edit }) => [kind, bound, saves, edit.after])

test.each([
  ['never sleeps', only(fixed(4, NEVER), [480, 1920]), [['never-sleeps', 'up to', 2920, '5m']]],
  // 0.25 of the time, from 1 to 0.5 CU.
  ['stays at its minimum', only(between(1, 4), [120, 120]), [['at-minimum', 'up to', 91.25, '{ min: 0.5, max: 4 }']]],
  ['is fixed', only(fixed(4), [120, 480]), [['fixed', 'up to', 684.38, '{ min: 0.25, max: 4 }']]],
  ['is fixed and large', only(fixed(16), [120, 1920]), [['fixed', 'up to', 1460, '{ min: 8, max: 16 }']]],
  // 48 times 55 minutes, at 1 CU.
  [
    'takes long to suspend',
    only(fixed(1, 3600), [120, 120], { past: past(48) }),
    [['long-timeout', 'at least', 66.92, '5m']],
  ],
] as const)('the advice for a compute that %s shows the possible saving', (_, seen, advice) => {
  expect(adviceOf(seen)).toEqual(advice)
})

test.each([
  ['the default branch never sleeps', only(fixed(1, NEVER), [480, 480], { branch: { isDefault: true } })],
  ['a protected branch never sleeps', only(fixed(1, NEVER), [480, 480], { branch: { isProtected: true } })],
  ['the compute cannot sleep', only(fixed(18, NEVER), [480, 8640])],
  ['a smaller minimum would make the range too wide', only(between(4, 12), [480, 1920])],
  ['there is no history', only(fixed(4), undefined)],
  ['the compute averaged more than its minimum size', only(between(1, 4), [120, 192])],
  [
    'the compute has been at its minimum for less than a week',
    only(between(1, 4), [120, 120], { past: { computes: [compute(between(1, 4), { createdAt: hoursAgo(160) })] } }),
  ],
  ['the compute already has the smallest minimum size', only(between(0.25, 4), [120, 30])],
  ['less than ten CU-hours can be saved', only(fixed(2, NEVER), [480, 960], { branch: { expiresAt: hoursAgo(-4) } })],
] as const)('no advice is given if %s', (_, seen) => {
  expect(adviceOf(seen)).toEqual([])
})

const fleet = observed(
  project({
    name: 'shop front',
    branches: [
      branch([480, 1920], { name: 'staging', isDefault: false }),
      branch([120, 192], { id: 'br-2', name: 'main' }),
    ],
    computes: [
      compute(fixed(4, NEVER), { state: 'active' }),
      compute(between(1, 4), { id: 'ep-two', branchId: 'br-2' }),
    ],
  }),
  project({
    id: 'blog',
    settings: {},
    branches: [branch(undefined, { id: 'br-3' })],
    computes: [compute(fixed(1), { id: 'ep-three', branchId: 'br-3' })],
  }),
)
const PLACE: DeclaredPlace = {
  source: { file: 'espalier.yaml', line: 12, column: 5, length: 5 },
  isSet: true,
  others: 2,
}
const reportOf = (seen: Observed): CostReport =>
  costReport(seen, {
    priceOf: () => ({ cuHour: 0.5, currency: 'USD' }),
    placeOf: (_, id) => (id === 'ep-one' ? PLACE : undefined),
  })

test('a compute that is younger than the period is measured since it was created', () => {
  const seen = only(fixed(1), [12, 12], { past: { computes: [compute(fixed(1), { createdAt: hoursAgo(48) })] } })
  expect(reportOf(seen).computes[0]?.sentence).toBe(
    'active 6 h a day since 19 November, 1 CU on average, less than a week of history',
  )
})

test('totals add up known values, and the most expensive entries come first', () => {
  const { total, projects, branches, computes } = reportOf(fleet)
  expect(total).toEqual({
    cost: { low: 3102.5, expected: 3212, high: 4380, unknown: 1 },
    money: { price: { cuHour: 0.5, currency: 'USD' }, expected: 1606 },
  })
  expect(projects.map(({ project: id, name, cost }) => [id, name, cost.expected, cost.unknown])).toEqual([
    ['shop', 'shop front', 3212, 0],
    ['blog', null, null, 1],
  ])
  expect(branches.map((one) => `${one.project} ${one.branch} ${one.cost.expected}`)).toEqual([
    'shop staging 2920',
    'blog main null',
    'shop main 292',
  ])
  expect(computes.map(({ compute: id, sentence }) => [id, sentence])).toEqual([
    ['ep-one', 'active 24 h a day since 1 November, 4 CU on average'],
    ['ep-three', 'no usage history'],
    ['ep-two', 'active 6 h a day since 1 November, 1.6 CU on average'],
  ])
})

test('the table groups computes by project and branch, followed by the manifest lines to change', () => {
  expect(costTable(reportOf(fleet), { color: false, width: 120 })).toMatchInlineSnapshot(`
    "Cost  3,212 CU-hours a month, at most 4,380; 1 compute unknown
          1,606.00 USD a month, at 0.5 USD a CU-hour; 1 compute unknown

      CU-HOURS A MONTH  AT MOST        AMOUNT  ACTIVE      SIZE    PROJECT     BRANCH   COMPUTE  COULD SAVE
                 3,212    3,650  1,606.00 USD                      shop front           total
                 2,920    2,920                24 h a day  4 CU    shop front  staging  primary  up to 2,920
                   292      730                6 h a day   1–4 CU  shop front  main     primary
               unknown      730                unknown     1 CU    blog        main     primary

    Largest savings, in CU-hours a month
      up to 2,920  primary on staging in shop front. Never sleeps. How much a timeout saves depends on when it is idle,
        which the counters do not show.
        espalier.yaml:12  scaleToZero: never → 5m  (also applies to 2 other computes)
    "
  `)
})

test('the Markdown report collapses details and shows names in code spans', () => {
  expect(costMarkdown(reportOf(fleet))).toMatchInlineSnapshot(`
    "### Espalier: 3,212 CU-hours a month, at most 4,380; 1 compute unknown

    1,606.00 USD a month, at 0.5 USD a CU-hour; 1 compute unknown

    **Largest savings, in CU-hours a month**

    - **up to 2,920** \`primary on staging in shop front\`: Never sleeps. How much a timeout saves depends on when it is idle, which the counters do not show.<br>\`espalier.yaml:12  scaleToZero: never → 5m  (also applies to 2 other computes)\`

    <details><summary>2 projects</summary>

    | CU-hours a month | at most | amount | project |
    | --: | --: | --: | --- |
    | 3,212 | 3,650 | 1,606.00 USD | \`shop front\` |
    | unknown | 730 | unknown | \`blog\` |

    </details>

    <details><summary>Every compute</summary>

    | CU-hours a month | at most | active | size | project | branch | compute |
    | --: | --: | --: | --: | --- | --- | --- |
    | 2,920 | 2,920 | 24 h a day | 4 CU | \`shop front\` | \`staging\` | \`primary\` |
    | unknown | 730 | unknown | 1 CU | \`blog\` | \`main\` | \`primary\` |
    | 292 | 730 | 6 h a day | 1–4 CU | \`shop front\` | \`main\` | \`primary\` |

    </details>
    "
  `)
})

test.each([
  [0, 'not active'],
  [0.01, 'active less than 0.1 h a day'],
  [0.05, 'active 0.1 h a day'],
])('%d active hours a day are never shown as 0 h', (activeHoursPerDay, words) => {
  const basis = { kind: 'measured', activeHoursPerDay, since: null, averageCu: null, flags: [] } as const
  expect(basisSentence(basis)).toBe(words)
})

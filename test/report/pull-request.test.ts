/** Comments on pull requests, and annotations. */
import { expect, test } from 'vitest'
import type { Change, Diagnostic, Origin, Outcome, Plan } from '../../src/model/index.ts'
import { originOf } from '../../src/planner/index.ts'
import {
  COMMENT_LIMIT,
  changeAnnotations,
  diagnosticAnnotations,
  type Limit,
  outcomeComment,
  type PlanView,
  planComment,
  problemComment,
  SUMMARY_LIMIT,
} from '../../src/report/index.ts'
import { isLong } from '../long-runs.ts'
import { type DeclaredDocument, planOf, world } from '../planner/world.ts'
import { COMMENTS } from './comment-cases.ts'

const FRAME = {
  marker: '<!-- espalier:comment:. -->',
  commit: '0123456789abcdef0123456789abcdef01234567',
  linkTo: (file: string, line: number) => `https://github.com/acme/shop/blob/0123456/${file}#L${line}`,
  whole: 'the job summary and the output `json-plan-path`',
}
const view = (plan: Plan, origin: Origin, notes: readonly string[] = []): PlanView => ({
  ...FRAME,
  introducedBy: 'this pull request',
  plan,
  origin,
  takenAt: '2026-01-02T03:04:05.000Z',
  notes,
})

const live = world({
  main: { primary: { id: 'ep-main', size: 1 }, replicas: [{ id: 'ep-old', name: 'old' }] },
  staging: { primary: { id: 'ep-staging', size: 1 } },
  sleepy: { primary: { id: 'ep-sleepy', size: 1, state: 'idle' } },
  drifted: { primary: { id: 'ep-drifted', size: 2 } },
  restored: {},
})
const base: DeclaredDocument = {
  branches: { drifted: { primary: { size: 1 } }, staging: { primary: { size: 1 } } },
}
const head: DeclaredDocument = {
  prune: true,
  branches: {
    ...base.branches,
    main: {
      primary: { size: { min: 1, max: 4 }, settings: { work_mem: '64MB' } },
      replicas: { reporting: { size: 1 } },
    },
    sleepy: { primary: { size: 2 } },
    restored: { primary: { id: 'ep-staging', size: 1 } },
    staging: { primary: 'absent' },
  },
}
const full = (): PlanView => {
  const plan = planOf(head, live)
  return view(plan, originOf(planOf(base, live), plan))
}

test.each(Object.entries(COMMENTS))('the comment explains this situation: %s', async (name, render) => {
  // The rows of many changes are alike, and what is folded is not what a reader sees first.
  const text = render().replaceAll(/(<summary>.*<\/summary>)[\s\S]*?<\/details>/g, '$1 …')
  await expect(`${text.split('\n').slice(0, 40).join('\n')}\n`).toMatchFileSnapshot(`golden/comments/${name}.md`)
})

test('the comment shows a plan with all kinds of changes', async () => {
  await expect(planComment(full())).toMatchFileSnapshot('golden/pull-request.md')
})

test('the comment distinguishes an empty plan from a pull request that changes no compute', async () => {
  const nothing = planOf({ branches: { staging: { primary: { size: 1 } } } }, live)
  expect(planComment(view(nothing, originOf(nothing, nothing)))).toContain('### Espalier: no changes')
  const plan = planOf(base, live)
  const text = planComment(view(plan, originOf(plan, plan), ['A note.']))
  expect(text).toContain(
    '### Espalier: 1 compute restarts, none is deleted. All of this is existing drift.\n\n> [!WARNING]\n> **What to do:** Approve only if existing',
  )
  expect(text).toContain('**Existing drift: 1 compute**\n\nNot introduced here: ')
  expect(text).toContain('> A note.')
})

test.each([
  [{ main: { primary: { size: 2 } } }, '1 compute restarts, none is deleted.'],
  [{ main: { primary: { size: 2 } }, staging: { primary: { size: 2 } } }, '2 computes restart, none is deleted.'],
  [{ sleepy: { primary: { size: 2 } } }, '1 compute is interrupted only if in use, none is deleted.'],
  [
    { main: { primary: { size: 2 }, replicas: { r: { size: 1 } } } },
    '1 compute restarts, 1 is created, none is deleted.',
  ],
  [{ main: { primary: { disabled: true } } }, '1 compute disconnects, none is deleted.'],
])('the headline summarises the effect of %o', (branches, words) => {
  const plan = planOf({ branches }, live)
  expect(planComment(view(plan, originOf(undefined, plan)))).toContain(`### Espalier: ${words}`)
})

test('the comment on many changes fits: it counts them all, lists the most disruptive ones and links to the rest', () => {
  // Only thousands of changes exceed the limit of a summary, and planning them takes seconds.
  const [count, limits] = isLong ? [1_800, [COMMENT_LIMIT, SUMMARY_LIMIT]] : [450, [COMMENT_LIMIT]]
  const names = Array.from({ length: count }, (_, index) => `feature/a-rather-long-branch-name-${index}`)
  const many = world(
    Object.fromEntries(
      names.map((name, index) => [name, { primary: { id: `ep-p${index}` }, replicas: [{ id: `ep-r${index}` }] }]),
    ),
  )
  const plan = planOf(
    { prune: true, branches: Object.fromEntries(names.map((name) => [name, { primary: { size: 2 } }])) },
    many,
  )
  expect(plan.changes).toHaveLength(2 * count)
  const whole = view(plan, originOf(undefined, plan))
  for (const limit of limits) {
    const text = planComment(whole, limit)
    expect(limit.measure(text)).toBeLessThanOrEqual(limit.most)
    expect(limit.measure(text)).toBeGreaterThan(limit.most / 2)
    const said = count.toLocaleString('en')
    expect(text).toContain(`### Espalier: ${said} computes restart, ${said} are deleted.`)
    expect(text).toContain('**deleted: connections end**')
    expect(text).toContain('The whole plan is in the job summary and the output `json-plan-path`.')
    // No line is cut: every row of the table has all its cells.
    const rows = text.split('\n').filter((line) => line.startsWith('| `'))
    expect(rows.filter((row) => row.split(' | ').length !== 4)).toEqual([])
  }
})

const characters = (most: number): Limit => ({ most, measure: (text) => text.length })

test('if a comment is too long, details are left out first, then rows, the worst of which stay, and only these are recorded', () => {
  const everything = full()
  const signs = ['```mermaid', '<summary>Order of', '```diff', 'on main`](', 'W_ADOPTED', '| `→` |']
  const seen: (readonly string[])[] = []
  for (let limit = Number.POSITIVE_INFINITY; seen.at(-1)?.length !== 0; ) {
    let recorded: readonly Change[] = []
    const recordOf = (shown: readonly Change[]) => {
      recorded = shown
      return '@'.repeat(100 * shown.length)
    }
    const text = planComment({ ...everything, recordOf }, characters(limit))
    expect(text.length).toBeLessThanOrEqual(limit)
    expect(text).toContain('2 computes restart, 1 moves')
    // Each change has either a row and a record, or is counted as left out.
    expect(text.match(/^\| `/gm) ?? []).toHaveLength(recorded.length)
    expect(text.match(/@/g) ?? []).toHaveLength(100 * recorded.length)
    const left = 5 - recorded.length
    expect(/\*\*(\d) changes? do(?:es)? not fit here\.\*\* With `require-approval`/.exec(text)?.[1] ?? '0').toBe(
      `${left}`,
    )
    const parts = signs.filter((sign) => text.includes(sign))
    if (parts.join() !== seen.at(-1)?.join()) seen.push(parts)
    limit = text.length - 1
  }
  // Without rows, there would be no room for warnings at last, and without warnings there is room for a row.
  const [worst = '', warning = ''] = signs.toReversed()
  expect(seen).toEqual([...signs.map((_sign, index) => signs.slice(index)).slice(0, -1), [warning], [worst], []])
})

test('300 changes that interrupt no one have folded rows, and one among them that does has a visible row', () => {
  const names = Array.from({ length: 300 }, (_, index) => `b${index}`)
  const state = (index: number) => (index === 150 ? ('active' as const) : ('idle' as const))
  const many = world(
    Object.fromEntries(names.map((name, at) => [name, { primary: { id: `ep-${at}`, state: state(at) } }])),
  )
  const plan = planOf({ branches: Object.fromEntries(names.map((name) => [name, { primary: { size: 2 } }])) }, many)
  const [open = '', hidden = ''] = planComment(view(plan, originOf(undefined, plan))).split(
    '<details><summary>299 more changes (299 to update)',
  )
  expect(open.match(/^\| `~`/gm)).toHaveLength(1)
  expect(open).toContain('primary on b150')
  expect(hidden.match(/^\| `~`/gm)).toHaveLength(299)
})

test('the comment lists the problems in the manifests', async () => {
  const diagnostics: readonly Diagnostic[] = [
    {
      severity: 'error',
      code: 'E_SIZE',
      message: '3.5 is no compute size.',
      hint: 'The nearest is 3.',
      source: { file: 'espalier.yaml', line: 4, column: 9, length: 3 },
    },
    { severity: 'warning', code: 'W_ADOPTED', message: 'Odd <b>thing</b>.' },
  ]
  const problem = { ...FRAME, diagnostics, notes: [] }
  await expect(problemComment(problem)).toMatchFileSnapshot('golden/pull-request-problems.md')
  const many = Array.from(
    { length: 3_000 },
    (_, index) => ({ ...diagnostics[0], message: `Problem ${index}.` }) as Diagnostic,
  )
  const text = problemComment({ ...problem, diagnostics: many })
  expect(text.length).toBeLessThanOrEqual(65_536)
  expect(text).toContain('### Espalier: nothing will run: 3,000 errors in the manifests')
  expect(text).toMatch(/And \d+ more\. All of them are in the job summary/)
  expect(diagnosticAnnotations(diagnostics)).toMatchObject([
    { level: 'error', title: 'E_SIZE', file: 'espalier.yaml', line: 4, column: 9 },
    { level: 'warning', title: 'W_ADOPTED' },
  ])
})

const outcomeOf = (plan: Plan, failed: number): Outcome => ({
  steps: plan.steps.map(({ id }, index) => ({
    step: id,
    operations: [],
    durationMs: 1_500,
    ...(index === failed
      ? {
          status: 'failed' as const,
          reason: 'operation-failed' as const,
          message: 'No host had room. Run apply again.',
        }
      : { status: 'done' as const }),
  })),
  interrupted: false,
  converged: failed < 0,
  notes: failed < 0 ? [] : ['Edit the pin of main.'],
})

test('the comment on an apply lists every step and its outcome', async () => {
  const { plan } = full()
  await expect(outcomeComment({ ...FRAME, plan, outcome: outcomeOf(plan, 1) })).toMatchFileSnapshot(
    'golden/pull-request-outcome.md',
  )
  const done = { ...FRAME, plan, outcome: outcomeOf(plan, -1) }
  expect(outcomeComment(done)).toMatch(/### Espalier: everything is applied: 5 done\n\n\*\*What to do:\*\* Nothing\.\n/)
  const lacking = ['Not approved: update primary on b.']
  expect(outcomeComment({ ...done, lacking })).toContain('### Espalier: not everything is applied: 5 done\n')
  const short = outcomeComment({ ...FRAME, plan, outcome: outcomeOf(plan, 1) }, characters(900))
  expect(short.length).toBeLessThanOrEqual(900)
  expect(short).toContain('No host had room')
})

test('the comment on an apply shows why steps are stale and what remains', () => {
  const { plan } = full()
  const { steps } = outcomeOf(plan, 0)
  const outcome = {
    ...outcomeOf(plan, -1),
    steps: steps.map((one) => ({
      ...one,
      status: 'stale' as const,
      reason: 'changed-meanwhile' as const,
      message: 'size 1 CU → 3 CU',
    })),
    converged: false,
    left: ['update primary on <main>: size 3 CU → 2 CU'],
  }
  const text = outcomeComment({ ...FRAME, plan, outcome })
  expect(text).toMatch(/\| ⚠️ stale \| changed-meanwhile: .*size 1 CU → 3 CU/)
  expect(text).toMatch(/^- .*update primary on <main>.* size 3 CU → 2 CU/m)
})

test('annotations are warnings on disruptive changes, starting with the worst', () => {
  const { plan } = full()
  const annotations = changeAnnotations(plan.changes)
  expect(annotations.every(({ level }) => level === 'warning')).toBe(true)
  expect(annotations[0]?.message).toContain('moves')
  expect(annotations.map(({ message }) => message).join()).not.toContain('no one is interrupted')
})

test('the comment distinguishes branches of the same name in several projects', () => {
  const { plan } = full()
  const fleet: Plan = {
    ...plan,
    projects: [...plan.projects, 'other-sea-87654321'],
    changes: plan.changes.flatMap((one) => [one, { ...one, id: `other/${one.id}`, project: 'other-sea-87654321' }]),
    steps: plan.steps.flatMap((one) => [one, { ...one, id: `other/${one.id}`, project: 'other-sea-87654321' }]),
  }
  const text = planComment(view(fleet, originOf(undefined, fleet)))
  const [, diff = ''] = /```+diff\n([\s\S]*?)\n```/.exec(text) ?? []
  const trees = diff.split('\n').filter((line) => / main in /.test(line))
  expect(trees.map((line) => line.slice(1).trim())).toEqual([
    'main in quiet-river-12345678:',
    'main in other-sea-87654321:',
  ])
  expect(text).toMatch(/^\d+\. .*update primary on main in other-sea-87654321/m)
  const own = planComment(full())
  expect(own).not.toContain(' in quiet-river-12345678')
})

// promise: counted-drift
test('the headline counts all restarts that the merge causes, with drift reported separately', () => {
  const { plan, origin } = full()
  expect(
    [origin.introduced, origin.drift].map((changes) => changes.filter(({ impact }) => impact === 'restart')),
  ).toEqual([[expect.anything()], [expect.anything()]])
  const text = planComment(full())
  expect(text).toContain(`### Espalier: ${plan.summary.restarts} computes restart`)
  expect(text).toMatch(/\*\*Existing drift: 1 compute\*\*\n\nNot introduced here: .* 1 compute restarts/)
  // Drift that restarts a compute is visible without unfolding anything.
  expect(text.replaceAll(/<details>[\s\S]*?<\/details>/g, '')).toMatch(
    /`primary on drifted`.*restarts: connections drop/,
  )
  const drifted = changeAnnotations(plan.changes, origin.drift).filter(({ title }) => title === 'primary on drifted')
  expect(drifted).toMatchObject([{ message: expect.stringMatching(/^existing drift: restarts/), line: 1 }])
  expect(changeAnnotations(plan.changes, origin.drift)).toHaveLength(3)
})

test('the diff shows a setting whose name has dots as a single key', () => {
  const plan = planOf({ branches: { main: { primary: { settings: { 'app.jwt_secret': 'x' } } } } }, live)
  const text = planComment(view(plan, originOf(undefined, plan)))
  expect(text).toContain('+         app.jwt_secret: x')
})

test('rows, steps and graph nodes name their project if there are several, in four columns', () => {
  const plan = planOf({ branches: { main: { primary: { size: 2 } } } }, live)
  const fleet: Plan = {
    ...plan,
    projects: [...plan.projects, 'other'],
    changes: plan.changes.flatMap((one) => [one, { ...one, id: `other/${one.id}`, project: 'other' }]),
    steps: plan.steps.flatMap((one) => [one, { ...one, id: `other/${one.id}`, project: 'other' }]),
  }
  const text = planComment(view(fleet, originOf(undefined, fleet)))
  expect(text).toContain('update primary on main in other #40;ep#45;main#41;')
  const rows = text.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows.map((row) => row.split(' | '))).toEqual([expect.any(Array), expect.any(Array)])
  expect(rows[0]).toContain('`primary on main`')
  expect(rows.join()).toContain('<br>`other`')
  for (const row of rows) expect(row.split(' | ')).toHaveLength(4)
})

test('the heading contains the name of the plan if a pull request has several', () => {
  const { plan, origin } = full()
  expect(planComment({ ...view(plan, origin), name: 'production' })).toContain(
    '### Espalier `production`: 2 computes restart',
  )
})

/** All outputs report projects that were left out and computes that are no longer managed. */
import { describe, expect, test } from 'vitest'
import { jsonPlan } from '../../src/apply/index.ts'
import type { Origin, Plan } from '../../src/model/index.ts'
import { originOf } from '../../src/planner/index.ts'
import { planPage } from '../../src/report/html/index.ts'
import { markdownPlan, outcomeComment, planComment, terminalOutcome, terminalPlan } from '../../src/report/index.ts'
import { ALL_DONE, at, EMPTY_PLAN, PLAN, PROJECT } from './fixtures.ts'

const STYLE = { color: false, width: 300 }
const FRAME = { marker: '<!-- m -->', commit: 'c0ffee', whole: 'the file' }
const leftOut: Plan['leftOut'] = [
  {
    project: 'billing-1',
    diagnostics: [
      {
        severity: 'error',
        code: 'E_BRANCH_UNKNOWN',
        message: 'Project `billing-1` has no branch `qa-gone`.',
        hint: 'The nearest is `qa`.',
        source: at(12),
      },
    ],
  },
]
const origin: Origin = {
  ...originOf(undefined, EMPTY_PLAN),
  released: [
    {
      kind: 'compute',
      project: PROJECT,
      branch: { id: 'br-dev', name: 'dev' },
      compute: { type: 'read_only', name: 'bi', id: 'ep-bi-7', host: 'h', state: 'idle' },
      source: at(31),
    },
  ],
}

/** Plain text, without the tags and escapes of the output format. */
const readable = (text: string): string =>
  text
    .replace(/<\/?(code|b|em|p|span|li|ul|h\d|section|small)[^>]*>/g, '')
    .replace(/&#(x?)([0-9a-f]+);/gi, (_all, hex, code) => String.fromCodePoint(Number.parseInt(code, hex ? 16 : 10)))
    .replace(/\\(.)/g, '$1')

const OUTPUTS: Readonly<Record<string, (plan: Plan, origin?: Origin) => string>> = {
  terminal: (plan, given) =>
    terminalPlan(plan, STYLE, given === undefined ? {} : { since: { ref: 'main', origin: given } }),
  JSON: (plan, given) => jsonPlan(plan, given === undefined ? {} : { origin: { base: 'main', ...given } }),
  Markdown: (plan, given) => markdownPlan(plan, given === undefined ? {} : { since: { ref: 'main', origin: given } }),
  page: (plan, given) =>
    planPage(plan, {
      version: '1.2.3',
      sha256: () => 'x',
      ...(given === undefined ? {} : { since: { ref: 'main', origin: given } }),
    }),
  comment: (plan, given) =>
    planComment({
      ...FRAME,
      plan,
      origin: given ?? originOf(undefined, plan),
      introducedBy: 'this pull request',
      notes: [],
    }),
}

test('a plan with waves says that none follows a project that was left out', () => {
  const waves = [{ name: 'canary', projects: ['billing-1'] }]
  expect(terminalPlan({ ...PLAN, leftOut }, STYLE)).toContain('; `apply` applies the others\n')
  expect(terminalPlan({ ...PLAN, leftOut, waves }, STYLE)).toContain(
    '; `apply` applies the others, but no later wave\n',
  )
})

describe.each(Object.entries(OUTPUTS))('the %s output', (name, render) => {
  const isJson = name === 'JSON'

  test('names a project that was left out, with its problem and the manifest line', () => {
    const text = readable(render({ ...PLAN, leftOut }))
    expect(text).toContain('Project `billing-1` has no branch `qa-gone`.')
    expect(text).toContain('The nearest is `qa`.')
    expect(text).toContain(isJson ? '"line": 12' : 'projects/shop.yaml:12')
    if (!isJson) expect(text).toContain('1 of 2 projects')
  })

  test('reports an error that many projects share once, and names some of the others', () => {
    if (isJson) return
    const denied = (project: string) => ({
      project,
      diagnostics: [
        {
          severity: 'error',
          code: 'E_PROJECT_UNREADABLE',
          message: `Project \`${project}\` could not be read. No right (GET /projects/${project}, request r-${project}, status 403).`,
        } as const,
      ],
    })
    const many = Array.from({ length: 39 }, (_, at) => denied(`x-${at}`))
    const text = readable(render({ ...PLAN, leftOut: [...leftOut, ...many] }))
    expect(text.match(/E_PROJECT_UNREADABLE/g)).toHaveLength(1)
    expect(text).toContain('The same error in 38 other projects: x-1, x-2, x-3, x-4, x-5 and 33 more.')
    expect(text).toContain('has no branch `qa-gone`')
  })

  test('reports a branch that a document declares in many projects once', () => {
    if (isJson) return
    const [{ project = '', diagnostics = [] } = {}] = leftOut
    const many = ['', 2, 3].map((at) => ({
      project: `${project}${at}`,
      diagnostics: diagnostics.map((one) => ({ ...one, message: one.message.replace(project, `${project}${at}`) })),
    }))
    const text = readable(render({ ...PLAN, leftOut: many }))
    expect(text.match(/E_BRANCH_UNKNOWN/g)).toHaveLength(1)
    expect(text).toContain('The same error in 2 other projects: billing-12, billing-13.')
  })

  test('names changes that are not selected instead of claiming that the project matches', () => {
    if (isJson) return
    const selection = { branches: ['x'], leftOut: { projects: 0, changes: 2, dependent: 0 } }
    const text = readable(render({ ...EMPTY_PLAN, selection }))
    expect(text).toMatch(/no changes to apply: 2 changes not selected/i)
    expect(text).not.toContain('matches the manifests')
  })

  test('never claims that there are no changes if a project was left out', () => {
    const text = readable(render({ ...EMPTY_PLAN, leftOut }))
    expect(text).not.toMatch(/matches the manifests|no changes since|changes no compute/)
  })

  test('lists a released compute with its branch, its manifest line and how to delete it', () => {
    const text = readable(render(EMPTY_PLAN, origin))
    expect(text).toMatch(isJson ? /"released": \[/ : /no longer managed/i)
    expect(text).toContain('ep-bi-7')
    expect(text).toContain('dev')
    expect(text).toContain(isJson ? '"line": 31' : 'projects/shop.yaml:31')
    if (!isJson) expect(text).toMatch(/primary: absent.*NAME: absent/)
    expect(text).not.toMatch(/introduce no changes|Espalier: no changes/)
  })
})

describe.each([
  ['terminal', OUTPUTS.terminal],
  ['Markdown', OUTPUTS.Markdown],
])('the %s output', (_name, render) => {
  const NOTHING = 'The manifests introduce no changes since '
  const none = originOf(undefined, EMPTY_PLAN)
  const dev = { project: PROJECT, branch: { id: 'br-dev', name: 'dev' } }
  const gone: Origin = {
    ...none,
    released: [{ ...dev, kind: 'safeguard', safeguard: 'protect', before: 'true', after: 'false' }],
  }
  const policies = { files: [], results: [], changes: ['Removes policy `awake`: scaleToZero forbidden'] }

  test('reports that the manifests introduce no changes', () => {
    expect(render?.(EMPTY_PLAN, none)).toContain(NOTHING)
  })

  test.each<readonly [string, Plan, Origin]>([
    ['computes are released', EMPTY_PLAN, origin],
    ['a safeguard is removed', EMPTY_PLAN, gone],
    ['a policy is removed', { ...EMPTY_PLAN, policies }, none],
    ['drift is accepted', EMPTY_PLAN, { ...none, settled: PLAN.changes }],
    ['the base could not be compared', EMPTY_PLAN, { ...none, gaps: ['The manifests of the base have errors.'] }],
    ['a project is left out', { ...EMPTY_PLAN, leftOut }, none],
  ])('does not claim that the manifests introduce no changes if %s', (_why, plan, given) => {
    expect(render?.(plan, given)).not.toContain(NOTHING)
  })

  test('shows a removed safeguard or policy even if nothing else changes', () => {
    expect(readable(render?.(EMPTY_PLAN, gone) ?? '')).toContain('no longer protected')
    expect(readable(render?.({ ...EMPTY_PLAN, policies }, none) ?? '')).toContain('Removes policy `awake`')
  })
})

test('the comment counts released computes and left-out projects in its headline', () => {
  const text = OUTPUTS.comment?.({ ...EMPTY_PLAN, leftOut }, origin) ?? ''
  expect(text).toContain(
    '### Espalier: No longer managed, and left as it is: 1 compute. 1 of 2 projects could not be planned.',
  )
})

test('the comment fits the size limit with 5,000 released computes and 2,000 problems', () => {
  const many: Origin = {
    ...origin,
    released: Array.from({ length: 5_000 }, () => origin.released[0]).flatMap((one) => one ?? []),
  }
  const problems = Array.from({ length: 2_000 }, (_, index) => ({ ...leftOut[0], project: `p-${index}` }))
  const plan = { ...PLAN, leftOut: problems.map(({ project, diagnostics = [] }) => ({ project, diagnostics })) }
  const text = OUTPUTS.comment?.(plan, many) ?? ''
  expect(text.length).toBeLessThanOrEqual(65_536)
  expect(text).toContain(
    'No longer managed, and left as it is: 5,000 computes. 2,000 of 2,001 projects could not be planned.',
  )
})

test('an outcome is incomplete if a project was left out', () => {
  const plan = { ...PLAN, leftOut }
  expect(terminalOutcome(plan, ALL_DONE, STYLE)).toMatch(/^Apply incomplete: 2 done, 1 of 2 projects left out/m)
  const comment = outcomeComment({ ...FRAME, plan, outcome: ALL_DONE })
  expect(comment).toContain('1 of 2 projects left out')
  expect(readable(comment)).toContain('has no branch `qa-gone`')
})

test('the drift table shows the project even if only one project has drift', () => {
  const plan = { ...PLAN, projects: [PROJECT, 'other-project-1'] }
  const drifted: Origin = { introduced: [], drift: PLAN.changes, settled: [], released: [] }
  expect(OUTPUTS.Markdown?.(plan, drifted)).toContain(`<br>\`${PROJECT}\``)
  expect(OUTPUTS.comment?.(plan, drifted)).toContain(`<br>\`${PROJECT}\` |`)
})

test('the summary line counts deletions', () => {
  expect(OUTPUTS.terminal?.(PLAN)).toContain('1 to delete')
})

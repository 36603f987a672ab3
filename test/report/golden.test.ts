import { describe, expect, test, vi } from 'vitest'
import { jsonPlan } from '../../src/apply/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import {
  applyLog,
  eventLine,
  jsonDiagnostics,
  markdownPlan,
  sarifDiagnostics,
  sizesTable,
  terminalDiagnostics,
  terminalOutcome,
  terminalPlan,
} from '../../src/report/index.ts'
import { ALL_DONE, EMPTY_PLAN, OUTCOME, PLAN, WARNING } from './fixtures.ts'

const plain = (width: number) => ({ color: false, width })
const takenAt = '2026-11-20T10:00:00Z'

const golden = (text: string, name: string) => expect(text).toMatchFileSnapshot(`golden/${name}`)

/** A manifest with typical mistakes. */
const wrong = parseManifests([
  {
    path: 'projects/shop.yaml',
    text: [
      'version: 1',
      'project: quiet-river-12345678',
      'branches:',
      '  main:',
      '    primary:',
      '      size: 3.5',
      `      postgres: { settings: { ${Array.from({ length: 20 }, (_, at) => `setting_${at}: ${at}`).join(', ')}, work_mem: [64] } }`,
      '  "\u6771\u4eac": { primary: { scaleToZero: 300 } }',
      '',
    ].join('\n'),
  },
])
const problems = [...wrong.diagnostics, ...parseManifests([]).diagnostics, WARNING]

describe('the plan renderers', () => {
  test('print a plan in 80 columns', () => golden(terminalPlan(PLAN, plain(80), { takenAt }), 'plan-80.txt'))
  test('print a plan in 120 columns', () => golden(terminalPlan(PLAN, plain(120), { takenAt }), 'plan-120.txt'))
  test('print a plan as Markdown', () => golden(markdownPlan(PLAN, { takenAt }), 'plan.md'))
  test('print an empty plan', () => golden(terminalPlan(EMPTY_PLAN, plain(80), { takenAt }), 'plan-empty.txt'))

  test('print an empty plan as Markdown', () => {
    expect(markdownPlan(EMPTY_PLAN)).toBe('### Espalier: no changes\n\nThe live project matches the manifests.\n')
  })

  test('print the whole plan as JSON', () => {
    expect(JSON.parse(jsonPlan(PLAN))).toMatchObject(PLAN)
  })
})

describe('the diagnostics renderers', () => {
  test('print diagnostics in 80 columns', () =>
    golden(terminalDiagnostics(problems, plain(80), wrong.lineOf), 'diagnostics-80.txt'))
  test('print diagnostics as SARIF', () =>
    golden(sarifDiagnostics(problems, { version: '1.2.3' }), 'diagnostics.sarif.json'))
  test('print diagnostics as JSON', () => golden(jsonDiagnostics(problems, { valid: false }), 'diagnostics.json'))

  test('print nothing if there are no diagnostics', () => {
    expect(terminalDiagnostics([], plain(80), () => undefined)).toBe('')
  })

  test('refer to rules by index and to files by URI in SARIF', () => {
    const odd = { ...WARNING, source: { file: 'a b/ü#.yaml', line: 2, column: 3, length: 4 } }
    const { runs } = JSON.parse(sarifDiagnostics([...problems, odd], { version: '1' }))
    const [{ tool, results }] = runs
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId)
    expect(results.at(-1).locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'a%20b/%C3%BC%23.yaml' },
      region: { startLine: 2, startColumn: 3, endLine: 2, endColumn: 7 },
    })
  })

  test('place the carets below the mistake, even after wide characters', () => {
    const text = terminalDiagnostics(wrong.diagnostics, plain(80), wrong.lineOf)
    const lines = text.split('\n')
    const at = lines.findIndex((line) => line.includes('scaleToZero: 300') && line.includes('|'))
    // Each of the two wide characters takes two columns.
    expect(lines[at + 1]?.indexOf('^')).toBe((lines[at]?.indexOf('300') ?? 0) + 2)
  })
})

describe('the outcome renderer', () => {
  test('lists the steps of an incomplete apply', () => golden(terminalOutcome(PLAN, OUTCOME, plain(80)), 'outcome.txt'))
  test('explains stale steps and an apply that has not converged', () => {
    const [step = ''] = OUTCOME.steps.map((one) => one.step)
    const stale = {
      step,
      status: 'stale',
      reason: 'changed-meanwhile',
      message: 'ep-main-1 has changed since the plan was made: size 1 CU → 3 CU. Nothing was changed by this step.',
      moved: [{ what: 'size', before: '1 CU', after: '3 CU' }],
      operations: [],
      durationMs: 0,
    } as const
    const text = terminalOutcome(PLAN, { steps: [stale], interrupted: false, notes: [] }, plain(400))
    expect(text).toContain('(changed-meanwhile): ep-main-1 has changed since the plan was made: size 1 CU → 3 CU.')
    expect(text).toContain('Next: run `espalier plan` to review the project as it is now')
    expect(text).toContain('Apply incomplete: 0 done, 1 stale.')
    const left = ['a', 'b', 'c', 'd']
    const open = terminalOutcome(PLAN, { ...ALL_DONE, converged: false, left }, plain(400))
    expect(open).toContain('(not-converged): a; b; c; and 1 more. Next:')
    const already = { ...stale, status: 'done', message: 'Nothing was sent.' } as const
    expect(terminalOutcome(PLAN, { ...ALL_DONE, steps: [already] }, plain(400))).toContain('Nothing was sent.')
  })
  test('prints one line for a complete apply', () =>
    golden(terminalOutcome(PLAN, ALL_DONE, plain(80)), 'outcome-done.txt'))

  test('names the flag that a step needed', () => {
    expect(terminalOutcome(PLAN, OUTCOME, plain(80))).toContain('espalier apply --allow delete')
    expect(terminalOutcome(PLAN, ALL_DONE, plain(80))).not.toContain('--allow')
  })

  test('reports an interrupted apply, or one that has not converged, as incomplete', () => {
    for (const one of [
      { ...ALL_DONE, interrupted: true },
      { ...ALL_DONE, converged: false },
    ]) {
      expect(terminalOutcome(PLAN, one, plain(80))).toMatch(/Apply incomplete: 2 done\..*\n$/)
    }
  })
})

test('the size table matches its golden file', () => golden(sizesTable(plain(80)), 'sizes.txt'))

test('a log has a line when a step starts, one a minute while it waits, and one when it ends', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T10:00:00.000Z') })
  try {
    const lines: string[] = []
    const log = applyLog(PLAN, plain(80), (line) => lines.push(line), Date.now)
    const time = new Date().toISOString()
    const [, , step] = PLAN.steps
    if (step === undefined) throw new Error('there is no such step')
    const operation = { id: 'op-1', action: 'apply_config', status: 'running', failuresCount: 0 } as const
    const finished = { ...operation, status: 'finished' } as const
    log.report({ time, type: 'step-start', step })
    log.report({ time, type: 'call', step: step.id, method: 'PATCH', path: '/x', attempt: 2 })
    log.report({ time, type: 'operation', step: step.id, operation })
    vi.advanceTimersByTime(125_000)
    const outcome = { step: step.id, status: 'done', operations: [finished], durationMs: 125_000 } as const
    log.report({ time, type: 'step-end', outcome })
    vi.advanceTimersByTime(60_000)
    log.end()
    expect(vi.getTimerCount()).toBe(0)
    expect(lines).toEqual([
      'start  update primary on main (ep-main-1)  ! restarts: existing connections drop',
      'wait  update primary on main (ep-main-1)  1 min  apply_config running',
      'wait  update primary on main (ep-main-1)  2 min  apply_config running',
      'done  update primary on main (ep-main-1)  2 min 5 s',
    ])
  } finally {
    vi.useRealTimers()
  }
})

test('an event that is already shown in another section has no line of its own', () => {
  const time = '2026-11-20T10:00:00.000Z'
  expect(eventLine({ time, type: 'plan', plan: PLAN }, plain(80))).toBeUndefined()
  expect(eventLine({ time, type: 'outcome', outcome: OUTCOME }, plain(80))).toBeUndefined()
  expect(eventLine({ time, type: 'version', espalier: '1', format: '1.0' }, plain(80))).toBeUndefined()
})

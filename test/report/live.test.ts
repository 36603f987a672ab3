/** What a terminal shows while an apply runs. */
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { type ApplyEvent, type Plan, STEP_STATUSES, type Step, type StepStatus } from '../../src/model/index.ts'
import { afterEvent, endedCount, type RunState, runView, startOf, timeLeftOf } from '../../src/report/index.ts'
import { runs } from '../long-runs.ts'
import { PLAN } from './fixtures.ts'

const AT = Date.parse('2026-11-20T10:00:00Z')
const [SAMPLE] = PLAN.steps

const stepOf = (project: string, index: number, more: Partial<Step> = {}): Step => {
  if (SAMPLE === undefined) throw new Error('the fixture has no steps')
  return { ...SAMPLE, id: `${project}/${index}#1`, project, branch: { id: 'br-1', name: `branch-${index}` }, ...more }
}

const planOf = (projects: number, each: number, medianMs?: number): Plan => {
  const ids = Array.from({ length: projects }, (_, index) => `project-${index}`)
  return {
    ...PLAN,
    projects: ids,
    steps: ids.flatMap((project) => Array.from({ length: each }, (_, index) => stepOf(project, index))),
    estimates:
      medianMs === undefined ? [] : ids.map((project) => ({ project, medianMs, p95Ms: medianMs * 2, samples: 5 })),
  }
}

type Told = ApplyEvent extends infer E ? (E extends ApplyEvent ? Omit<E, 'time'> : never) : never
const event = (told: Told, afterMs = 0): ApplyEvent =>
  ({ ...told, time: new Date(AT + afterMs).toISOString() }) as ApplyEvent

const start = (step: Step, afterMs = 0) => event({ type: 'step-start', step }, afterMs)
const end = (step: Step, status: StepStatus, afterMs = 0) =>
  event({ type: 'step-end', outcome: { step: step.id, status, operations: [], durationMs: 0 } }, afterMs)

const stateOf = (plan: Plan, events: readonly ApplyEvent[]): RunState => {
  const projects = new Map(plan.steps.map(({ id, project }) => [id, project]))
  return events.reduce((state, one) => afterEvent(state, one, (id) => projects.get(id)), startOf(plan, AT))
}

const view = (
  state: RunState,
  {
    width = 80,
    rows = 24,
    now = AT,
    leftMs,
    names = new Map(),
  }: Partial<{
    width: number
    rows: number
    now: number
    leftMs: number
    names: ReadonlyMap<string, string>
  }> = {},
) =>
  runView(state, {
    now,
    spinner: '*',
    leftMs,
    names: { isMixed: names.size > 0, project: (id) => names.get(id) ?? id },
    style: { color: false, width, rows },
  })

const [one, two] = planOf(1, 2).steps as [Step, Step]

// promise: outcomes-on-terminal
describe.each(STEP_STATUSES)('a step that ends as %s', (status) => {
  test.each([
    ['before it starts', []],
    ['after it has started', [start(one)]],
    [
      'while it waits',
      [start(one), event({ type: 'wait', step: one.id, why: 'locked', message: 'busy', delayMs: 1_000 })],
    ],
  ])('is removed from the running steps and counted once if it ends %s', (_when, before) => {
    const state = stateOf(planOf(1, 2), [...before, end(one, status)])
    expect(state.running.size).toBe(0)
    expect([...state.ended]).toEqual([[status, 1]])
    expect(view(state)).toHaveLength(1)
    expect(view(state)[0]).toContain('Applying 1/2')
  })
})

describe('the header of the live view', () => {
  test.each([
    ['the number of completed steps and the elapsed time', {}, '* Applying 1/4  1 min 5 s  2 waiting'],
    ['the time left if it is known', { leftMs: 20_400 }, '* Applying 1/4  1 min 5 s  about 20 s left  2 waiting'],
    ['no time left if it is below a second', { leftMs: 999 }, '* Applying 1/4  1 min 5 s  2 waiting'],
  ])('shows %s', (_what, more, expected) => {
    const plan = planOf(1, 4)
    const [first, second] = plan.steps as [Step, Step]
    const state = stateOf(plan, [start(first), end(first, 'done'), start(second)])
    expect(view(state, { now: AT + 65_900, ...more })[0]).toBe(expected)
  })

  test('counts steps that failed or were not allowed', () => {
    const plan = planOf(1, 3)
    const [first, second] = plan.steps as [Step, Step]
    const state = stateOf(plan, [end(first, 'failed'), end(second, 'not-allowed')])
    expect(view(state)[0]).toBe('* Applying 2/3  0 s  1 waiting  1 failed  1 not allowed')
  })

  test('reports immediately that the apply is stopping, and how many steps will not start', () => {
    const state = stateOf(planOf(1, 3), [start(one), event({ type: 'interrupt', message: 'Stopping' })])
    expect(view(state, { leftMs: 60_000 })[0]).toBe('* Stopping 0/3  0 s  2 will not start')
  })
})

describe('a running step', () => {
  const restarting = stepOf('shop-1', 0, { kind: 'update', impact: 'restart', branch: { id: 'br', name: 'main' } })
  const plan: Plan = { ...PLAN, steps: [restarting, two] }

  test.each([
    [
      'an operation',
      event({
        type: 'operation',
        step: restarting.id,
        operation: { id: 'op', action: 'apply_config', status: 'running', failuresCount: 0 },
      }),
      'apply_config running',
    ],
    [
      'an operation that failed before',
      event({
        type: 'operation',
        step: restarting.id,
        operation: { id: 'op', action: 'apply_config', status: 'running', failuresCount: 2 },
      }),
      'apply_config running, 2 failures',
    ],
    [
      'a lock',
      event({ type: 'wait', step: restarting.id, why: 'locked', message: 'locked by somebody', delayMs: 2_000 }),
      'waiting 2 s: locked by somebody',
    ],
    [
      'a repeated call',
      event({ type: 'call', step: restarting.id, method: 'PATCH', path: '/x', attempt: 2 }),
      'attempt 2: PATCH /x',
    ],
    ['a first call', event({ type: 'call', step: restarting.id, method: 'PATCH', path: '/x', attempt: 1 }), ''],
  ])('shows its branch, title, impact, elapsed time and activity during %s', (_what, happened, doing) => {
    const state = stateOf(plan, [start(restarting), happened])
    expect(view(state, { width: 120, now: AT + 12_300 })[1]).toBe(
      `  main  update replica "reporting"  ! restarts  12 s  ${doing}`.trimEnd(),
    )
  })

  test('shows the name of its project if there are several', () => {
    const state = stateOf(plan, [start(restarting)])
    expect(view(state, { names: new Map([['shop-1', 'billing']]) })[1]).toMatch(/^ {2}billing {2}main {2}update/)
  })

  test.each([
    [120, '  amber-field-20000001  main  update replica "reporting"  ! restarts  0 s  start_compute running'],
    [80, '  amber-f…000001  main  update replic…  ! restarts  0 s  start_compute running'],
  ])('shortens the longest columns in the middle to fit %i columns', (width, expected) => {
    const operation = { id: 'op', action: 'start_compute', status: 'running', failuresCount: 0 }
    const state = stateOf(plan, [start(restarting), event({ type: 'operation', step: restarting.id, operation })])
    expect(view(state, { width, names: new Map([['shop-1', 'amber-field-20000001']]) })[1]).toBe(expected)
  })

  test('escapes characters that could move the cursor', () => {
    const odd = stepOf('p', 1, { branch: { id: 'br', name: 'a\u001b[2Jb' } })
    const state = stateOf({ ...PLAN, steps: [odd] }, [
      start(odd),
      event({ type: 'wait', step: odd.id, why: 'locked', message: '\u001b[31mred\nline', delayMs: 1 }),
    ])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them
    expect(view(state).join('')).not.toMatch(/[\u0000-\u001f]/)
  })
})

describe('any sequence of events', () => {
  const plan = planOf(30, 10)
  const anyEvent = fc.oneof(
    fc.constantFrom(...plan.steps).map((step) => start(step)),
    fc
      .tuple(fc.constantFrom(...plan.steps), fc.constantFrom(...STEP_STATUSES))
      .map(([step, status]) => end(step, status)),
    fc
      .tuple(fc.constantFrom(...plan.steps), fc.string({ unit: 'grapheme' }))
      .map(([{ id }, message]) => event({ type: 'wait', step: id, why: 'locked', message, delayMs: 1_000 })),
    fc.constant(event({ type: 'interrupt', message: 'Stopping' })),
  )
  const names = new Map(plan.projects.map((id) => [id, `the project with a long name ${id}`]))

  test.each([
    [80, 24],
    [120, 40],
    [40, 5],
    [40, 1],
  ])('never fills more than a terminal of %ix%i', (width, rows) => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 80 }), (events) => {
        const lines = view(stateOf(plan, events), { width, rows, names })
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1))
        for (const line of lines) expect(stringWidth(line)).toBeLessThan(width)
      }),
      { numRuns: runs(60) },
    )
  })

  test('leaves no step running after all steps have ended', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 80 }), (events) => {
        const { running } = stateOf(plan, [...events, ...plan.steps.map((step) => end(step, 'done'))])
        expect(running.size).toBe(0)
      }),
      { numRuns: runs(30) },
    )
  })
})

test('the live view of 3,000 steps in 200 projects fits the terminal', () => {
  const plan = planOf(200, 15)
  const running = plan.steps.filter(({ id }) => id.endsWith('/3#1')).map((step) => start(step))
  const state = stateOf(plan, [...plan.steps.slice(0, 1_500).map((step) => end(step, 'done')), ...running])
  const lines = view(state, { rows: 24 })
  expect(endedCount(state)).toBe(1_500)
  expect(lines).toHaveLength(23)
  expect(lines[0]).toContain('Applying 1,500/3,000')
  expect(lines.at(-1)).toBe('  and 179 more running')
})

describe('the estimated time left', () => {
  test.each([
    ['a plan without an estimate', planOf(1, 4), 16, [], undefined],
    ['the whole plan', planOf(1, 4, 40_000), 16, [], 40_000],
    ['the remaining steps', planOf(1, 4, 40_000), 16, ['done'], 30_000],
    ['concurrent projects', planOf(3, 4, 40_000), 16, [], 40_000],
    ['more projects than run concurrently', planOf(3, 4, 40_000), 2, [], 60_000],
  ] as const)('is computed for %s', (_what, plan, concurrency, statuses, expected) => {
    const events = statuses.map((status, index) => end(plan.steps[index] ?? one, status))
    expect(timeLeftOf(plan, concurrency)(stateOf(plan, events), AT)).toBe(expected)
  })

  test('shrinks while a step runs, by at most the expected duration of the step', () => {
    const plan = planOf(1, 4, 40_000)
    const state = stateOf(plan, [start(plan.steps[0] ?? one)])
    const left = timeLeftOf(plan, 16)
    expect(left(state, AT + 3_000)).toBe(37_000)
    expect(left(state, AT + 60_000)).toBe(30_000)
  })
})

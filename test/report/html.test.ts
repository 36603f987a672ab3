/** Pages of plans and applies: their contents, security and size. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Plan, RestartWindow, StepOutcome } from '../../src/model/index.ts'
import { type PlanRun, planPage } from '../../src/report/html/index.ts'
import { eventsFor, OUTCOME, PLAN } from './fixtures.ts'
import { HOSTILE_NAMES, UNSEEN } from './names.ts'
import { textOf } from './page-text.ts'

const EVENTS = PLAN.steps.flatMap((step) => eventsFor(step, 'told'))

const FRAME = {
  version: '1.2.3',
  sha256: (text: string): string => createHash('sha256').update(text).digest('base64'),
}
const planned = (plan: Plan): string => planPage(plan, { ...FRAME, takenAt: '2026-01-01T00:00:00.000Z' })
const ended = (plan: Plan, run: PlanRun): string => planPage(plan, { ...FRAME, run })
const applied = (plan: Plan = PLAN): string => ended(plan, { events: EVENTS, outcome: OUTCOME })

describe('the contents of pages', () => {
  test('show a plan', async () => {
    await expect(`${textOf(planned(PLAN))}\n`).toMatchFileSnapshot('golden/plan-page.txt')
  })

  test('show an apply', async () => {
    await expect(`${textOf(applied())}\n`).toMatchFileSnapshot('golden/apply-page.txt')
  })

  test('state that an empty plan has no changes', () => {
    const text = textOf(planned({ ...PLAN, changes: [], steps: [], warnings: [] }))
    expect(text).toContain('No changes. The live project matches the manifests.')
    expect(text).not.toContain('interrupted')
  })

  test('report a run that was cut off, with the command to run next', () => {
    const text = textOf(ended(PLAN, { events: EVENTS.slice(0, 4) }))
    expect(text).toContain('The run was cut off before it ended. Run `espalier apply` again.')
    expect(text).toContain('5 unknown')
  })

  test('draws the time that each step took, and how it ended', () => {
    const [first, second] = PLAN.steps
    if (first === undefined || second === undefined) throw new Error('no steps')
    const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 20, 10, 0, seconds)).toISOString()
    const done = (step: string) => ({ step, status: 'done', operations: [], durationMs: 0 }) as const
    const page = ended(PLAN, {
      events: [
        { type: 'step-start', time: at(0), step: first },
        { type: 'step-end', time: at(6), outcome: done(first.id) },
        { type: 'step-start', time: at(8), step: second },
        { type: 'interrupt', time: at(12), message: 'Stopping.' },
      ],
    })
    expect(page.match(/<g class="bar good".*?<rect [^>]*x="0%" width="50%"/s)).not.toBeNull()
    const text = textOf(page)
    expect(text).toContain('started after 0 s, took 6 s done')
    expect(text).toContain('started after 8 s, took 4 s end unknown')
    expect(text).toContain('It took 12 s, about 2.5 s was expected.\n')
    expect(text).toContain('\nStopping.\n')
    expect(text.match(/never started\n/g)).not.toBeNull()
  })

  test('shows a message that several steps share once, and refers the other steps to it', () => {
    const steps = PLAN.steps.map(
      ({ id }, index): StepOutcome => ({
        step: id,
        status: 'failed',
        message: `The quota is used up (PATCH /projects/p/endpoints/ep-${index}, request ${index}).`,
        operations: [],
        durationMs: 0,
      }),
    )
    const page = ended(PLAN, { events: [], outcome: { steps, interrupted: false, notes: [] } })
    expect(page.match(/The quota is used up/g)).toHaveLength(1)
    expect(textOf(page)).toContain(`The same for ${steps.length - 1} other steps.`)
    expect(page.match(/see <a href="#step-1">step 1<\/a>/g)).toHaveLength(steps.length - 1)
  })

  test('lists each planned interruption with the result of its steps', () => {
    const steps = PLAN.steps.map(({ id, kind }): StepOutcome => {
      const status = kind === 'delete' ? 'done' : kind === 'move' ? 'not-allowed' : 'failed'
      return { step: id, status, operations: [], durationMs: 0 }
    })
    const text = textOf(ended(PLAN, { events: [], outcome: { steps, interrupted: false, notes: [] } }))
    expect(text).toMatch(
      /Planned interruptions\nreplica on old deleted.* done\n.* moves.* not allowed\n.* restarts.* failed\n/,
    )
  })

  test('shows restart windows, and the steps that wait for one', () => {
    const windows: readonly RestartWindow[] = [{ days: ['sun'], from: '02:00', to: '04:00', timezone: 'UTC' }]
    const [change, ...changes] = PLAN.changes
    const [step] = PLAN.steps.filter((one) => one.change === change?.id)
    if (change === undefined || step === undefined) throw new Error('no change')
    const plan = {
      ...PLAN,
      changes: [{ ...change, windows }, ...changes],
      steps: PLAN.steps.map((one) => (one === step ? { ...step, windows } : one)),
    }
    expect(textOf(planned(plan))).toContain('only in its restart window: Sun 02:00–04:00 UTC')
    const steps = plan.steps.map(({ id }) => ({
      step: id,
      status: id === step.id ? ('scheduled' as const) : ('done' as const),
      operations: [],
      durationMs: 0,
    }))
    const events = steps.map((outcome) => ({ time: '2026-11-20T10:00:00.000Z', type: 'step-end', outcome }) as const)
    const page = ended(plan, { events, outcome: { steps, interrupted: false, notes: [] } })
    expect(textOf(page)).toContain(`Apply scheduled: ${steps.length - 1} done, 1 scheduled.`)
  })
})

const NASTY = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '</style></title><!--',
  'javascript:alert(1)',
  ...HOSTILE_NAMES,
]

describe('the security of pages', () => {
  // promise: html-names
  test.each([
    ['a plan', planned],
    ['an apply', applied],
  ])('escapes all names on the page of %s', (_what, render) => {
    const nasty = NASTY.join(' ')
    const rename = (value: unknown): unknown => {
      if (typeof value === 'string') return value === 'main' || value === 'reporting' ? nasty : value
      if (Array.isArray(value)) return value.map(rename)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rename(one)]))
    }
    const page = render(rename(PLAN) as Plan)
    expect(page).toContain('&lt;script&gt;')
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(page).not.toMatch(/<(img|svg)[^>]*\son/)
    const tags = page.replace(/<(style|script)>.*?<\/\1>/gs, '').match(/<[a-z][^>]*>/g) ?? []
    expect(tags.filter((tag) => /\son[a-z]+\s*=/.test(tag.replace(/"[^"]*"/g, '""')))).toEqual([])
    expect(page).not.toMatch(UNSEEN)
  })

  test.each([
    ['a plan', planned(PLAN)],
    ['an apply', applied()],
  ])('allows only its own style and script on the page of %s, which loads nothing', (_what, page) => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]
    const [style = '', script = ''] = ['style', 'script'].map(
      (tag) => new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(page)?.[1],
    )
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${FRAME.sha256(style)}'; script-src 'sha256-${FRAME.sha256(script)}'; base-uri 'none'; form-action 'none'`,
    )
    expect(page.match(/(\b(src|action|background|poster)=|url\((?!#)|@import|https?:\/\/).*/)).toBeNull()
    expect(page.match(/href="[^#"][^"]*"/g)).toBeNull()
    // A policy with hashes forbids inline styles.
    expect(page).not.toMatch(/\sstyle=/)
  })
})

test('the size of a page is linear in the number of steps', () => {
  const many = (count: number): Plan => {
    const copies = Array.from({ length: count }, (_, index) => index)
    const rename = (id: string, index: number): string => `${id}-${index}`
    return {
      ...PLAN,
      changes: copies.flatMap((index) => PLAN.changes.map((one) => ({ ...one, id: rename(one.id, index) }))),
      steps: copies.flatMap((index) =>
        PLAN.steps.map((one) => ({
          ...one,
          id: rename(one.id, index),
          change: rename(one.change, index),
          after: one.after.map((id) => rename(id, index)),
        })),
      ),
    }
  }
  const [small, large] = [many(20), many(200)]
  const bytes = (plan: Plan): number => Buffer.byteLength(planned(plan))
  const perStep = (bytes(large) - bytes(small)) / (large.steps.length - small.steps.length)
  expect(large.steps.length).toBeGreaterThanOrEqual(1_000)
  expect(perStep).toBeLessThan(3_500)
})

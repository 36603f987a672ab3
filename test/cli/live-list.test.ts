/** The live view of a large apply, on a terminal that is resized during the run. */
import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { liveList } from '../../src/cli/terminal/progress.ts'
import type { Plan, Step } from '../../src/model/index.ts'
import { fakeIo } from '../in-process.ts'
import { PLAN } from '../report/fixtures.ts'
import { screenOf } from '../terminal/screen.ts'

const PROJECTS = 10
const EACH = 75
/** Longer than until the next tick of the spinner, which draws the state. */
const SPINNER_MS = 200

const planOf = (): Plan => {
  const [sample] = PLAN.steps
  if (sample === undefined) throw new Error('the fixture has no steps')
  const ids = Array.from({ length: PROJECTS }, (_, index) => `project-${index}`)
  const steps = ids.flatMap((project) =>
    Array.from({ length: EACH }, (_, index): Step => {
      const branch = { id: `br-${index}`, name: `preview/feature-${index}` }
      return { ...sample, id: `${project}/${index}#1`, change: `${project}/${index}`, project, branch, after: [] }
    }),
  )
  return { ...PLAN, projects: ids, changes: [], steps, estimates: [] }
}

const onScreen = (columns: number, rows: number) => {
  const screen = screenOf(columns, rows)
  const { io } = fakeIo({ cwd: '/', env: { TERM: 'xterm' } })
  let written: Promise<unknown> = Promise.resolve()
  const stream = Object.assign(new EventEmitter(), {
    isTTY: true as const,
    columns,
    rows,
    write: (text: string | Uint8Array): boolean => {
      written = screen.write(String(text))
      return true
    },
  })
  return {
    io: { ...io, stdout: stream as unknown as typeof io.stdout, stderr: stream as unknown as typeof io.stderr },
    lines: async () => {
      await written
      return screen.lines()
    },
    /** Waits until everything is drawn, because pending output was made for the old size. */
    resize: async (wide: number, tall: number): Promise<void> => {
      await written
      Object.assign(stream, { columns: wide, rows: tall })
      screen.resize(wide, tall)
    },
  }
}

test('an apply of many steps prints each outcome once and never draws more rows than the terminal has', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const plan = planOf()
  const { io, lines, resize } = onScreen(100, 30)
  const list = liveList(plan, {}, io)
  const time = new Date(io.clock.date()).toISOString()
  const seen: (readonly string[])[] = []
  for (let at = 0; at < EACH; at += 1) {
    const round = plan.steps.filter((_, index) => index % EACH === at)
    for (const step of round) list.report({ time, type: 'step-start', step })
    if (at === 20) await resize(60, 12)
    if (at === 40) await resize(120, 40)
    if (at % 20 === 5) {
      vi.advanceTimersByTime(SPINNER_MS)
      seen.push(await lines())
    }
    for (const { id } of round) {
      const outcome = { step: id, status: 'done', operations: [], durationMs: 1_000 } as const
      list.report({ time, type: 'step-end', outcome })
    }
  }
  list.end()
  const log = (await lines()).join('\n').replace(/\n {2}/g, ' ')
  expect(log.match(/^done {2}/gm)).toHaveLength(750)
  expect(new Set(log.match(/^done.*preview\/feature-\d+ in project-\d+ /gm)).size).toBe(750)
  // A drawing that is on the screen during one of the two resizes cannot be erased. Everything else is.
  expect(log.match(/Applying/g)?.length ?? 0).toBeLessThanOrEqual(2)
  for (const [index, tall] of [30, 12, 40, 40].entries()) {
    const view = (seen[index] ?? []).slice(-tall)
    const header = view.findLastIndex((line) => /Applying \d+\/750/.test(line))
    expect(header, view.join('\n')).toBeGreaterThanOrEqual(0)
    expect(view.slice(header).join('\n')).toMatch(/and \d+ more running|in project|project-9/)
  }
})

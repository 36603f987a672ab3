/** Shows the events of an apply, as a live view on a terminal and otherwise line by line. */

import { Spinner } from 'listr2'
import { DEFAULT_CONCURRENCY } from '../../base/index.ts'
import type { ApplyEvent, Plan } from '../../model/index.ts'
import {
  afterEvent,
  applyLog,
  delaysOf,
  eventLine,
  newsFilter,
  planNames,
  runView,
  startOf,
  timeLeftOf,
  wrapped,
} from '../../report/index.ts'
import type { Io } from '../setup/io.ts'
import { BottomLines } from './bottom-lines.ts'
import { canRedraw, print, type StyleFlags, styleOf } from './terminal.ts'

export interface Progress {
  report(event: ApplyEvent): void
  /** Called when the run ends, whether or not it succeeded. */
  end(): void
}

export const progressOf = (plan: Plan, flags: StyleFlags, io: Io): Progress =>
  canRedraw(io.stdout, io.env)
    ? liveList(plan, flags, io)
    : applyLog(plan, styleOf(io.stdout, flags, io.env), (line) => print(line, io.stdout), io.clock.date)

/**
 * Shows running steps at the bottom of the terminal, and above them a log of the steps that have ended. Only the
 * spinner comes from listr2. Steps are not listr2 tasks, because each task needs a promise, and the promises of steps
 * that never start would have to be resolved one by one.
 */
export const liveList = (plan: Plan, flags: StyleFlags, io: Io): Progress => {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const names = planNames(plan)
  const timeLeft = timeLeftOf(plan, DEFAULT_CONCURRENCY)
  const bottom = new BottomLines(io.stdout, io.stderr, io.onSignal)
  const isNews = newsFilter()
  let state = startOf(plan, io.clock.date())
  const spinner = new Spinner()
  const draw = (): void => {
    const now = io.clock.date()
    const style = { ...styleOf(io.stdout, flags, io.env), rows: io.stdout.rows ?? 24 }
    bottom.draw(runView(state, { now, spinner: spinner.fetch(), leftMs: timeLeft(state, now), names, style }))
  }
  draw()
  spinner.start(draw)
  return {
    report: (event) => {
      const delays = delaysOf(state, event)
      state = afterEvent(state, event, (step) => steps.get(step)?.project)
      // The plan shows which restart windows are overridden, and the outcome counts them.
      if (event.type !== 'step-end') return
      const style = styleOf(io.stdout, flags, io.env)
      const line = isNews(event) ? eventLine(event, style, names, delays) : undefined
      if (line !== undefined) print(wrapped(line, style), io.stdout)
    },
    end: () => {
      spinner.stop()
      bottom.close()
    },
  }
}

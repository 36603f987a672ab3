/** The log of an apply without a terminal: a line when a step starts and ends, and one a minute while it waits. */
import type { ApplyEvent, Plan } from '../../model/index.ts'
import { elapsed } from '../words/counts.ts'
import { planNames } from '../words/names.ts'
import { eventLine, newsFilter } from './events.ts'
import { afterEvent, delaysOf, startOf } from './progress.ts'
import { paintOf, type Style } from './style.ts'

const WAITING_INTERVAL_MS = 60_000

export interface ApplyLog {
  report(event: ApplyEvent): void
  end(): void
}

/** @param now the time of day, in milliseconds since the epoch. */
export const applyLog = (plan: Plan, style: Style, print: (line: string) => void, now: () => number): ApplyLog => {
  const names = planNames(plan)
  const paint = paintOf(style)
  const isNews = newsFilter()
  let state = startOf(plan, now())
  const timer = setInterval(() => {
    for (const { step, since, doing } of state.running.values()) {
      const waited = now() - since
      if (waited < WAITING_INTERVAL_MS) continue
      print(`${paint.dim('wait')}  ${names.step(step)}  ${elapsed(waited)}  ${doing}`.trimEnd())
    }
  }, WAITING_INTERVAL_MS)
  return {
    report: (event) => {
      const line = eventLine(event, style, names, delaysOf(state, event))
      state = afterEvent(state, event, () => undefined)
      if (line !== undefined && isNews(event)) print(line)
    },
    end: () => clearInterval(timer),
  }
}

/** Shows the events of an apply: as a live view on a terminal, else line by line. */
import type { ApplyEvent, Plan } from '../model/index.ts'
import { eventLine, isNews, stepNamesOf } from '../report/index.ts'
import type { Io } from './io.ts'
import { liveList } from './live-list.ts'
import { canRedraw, print, styleOf } from './terminal.ts'

export interface Progress {
  report(event: ApplyEvent): void
  /** Called however the run ended. */
  end(): Promise<void>
}

export interface ProgressFlags {
  readonly noColor?: boolean | undefined
  readonly concurrency: number
}

export const progressOf = (plan: Plan, flags: ProgressFlags, io: Io): Progress =>
  canRedraw(io.stdout, io.env) ? liveList(plan, flags, io) : plainLines(plan, flags.noColor, io)

const plainLines = (plan: Plan, noColor: boolean | undefined, io: Io): Progress => {
  const names = stepNamesOf(plan)
  return {
    report: (event) => {
      const line = isNews(event) ? eventLine(event, styleOf(io.stdout, { noColor }, io.env), names) : undefined
      if (line !== undefined) print(line, io.stdout)
    },
    end: async () => undefined,
  }
}

/** An apply on a terminal: what runs now is at the bottom, and what ended scrolls away above as a log. */
import { Listr, type ListrRendererFactory, Spinner } from 'listr2'
import type { ApplyEvent, Plan } from '../model/index.ts'
import {
  afterEvent,
  eventLine,
  isNews,
  projectTitle,
  runView,
  startOf,
  stepNamesOf,
  timeLeftOf,
  wrapped,
} from '../report/index.ts'
import { BottomLines } from './bottom-lines.ts'
import type { Io } from './io.ts'
import { print, styleOf } from './terminal.ts'

export interface LiveOptions {
  readonly noColor?: boolean | undefined
  readonly concurrency: number
}

/**
 * listr2 runs the list: when it is drawn, the turns of its spinner, and its end. What is drawn is worked out from the
 * events alone, and no step is a separate task: a task ends only if its promise is resolved, and steps that end
 * before they start, or never start, would have to be caught one by one.
 */
export const liveList = (plan: Plan, { noColor, concurrency }: LiveOptions, io: Io) => {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const names = stepNamesOf(plan)
  const timeLeft = timeLeftOf(plan, concurrency)
  const projectNames = titlesOf(plan)
  const bottom = new BottomLines(io.stdout, io.stderr, io.onSignal)
  let state = startOf(plan, io.clock.date())
  const draw = (spinner: string): void => {
    const now = io.clock.date()
    const style = { ...styleOf(io.stdout, { noColor }, io.env), rows: io.stdout.rows ?? 24 }
    bottom.draw(runView(state, { now, spinner, leftMs: timeLeft(state, now), projectNames, style }))
  }
  let close: () => void = () => undefined
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  const list = new Listr(
    { title: 'Applying', task: () => closed },
    {
      renderer: rendererOf(draw, () => bottom.close()),
      // The run handles Ctrl-C: the first one lets running steps complete.
      registerSignalListeners: false,
    },
  )
  const ended = list.run()
  return {
    report: (event: ApplyEvent) => {
      state = afterEvent(state, event, (step) => steps.get(step)?.project)
      if (event.type !== 'step-end' && event.type !== 'window-overridden') return
      const style = styleOf(io.stdout, { noColor }, io.env)
      const line = isNews(event) ? eventLine(event, style, names) : undefined
      if (line !== undefined) print(wrapped(line, style), io.stdout)
    },
    end: async () => {
      close()
      await ended
    },
  }
}

const rendererOf = (draw: (spinner: string) => void, end: () => void): ListrRendererFactory =>
  class {
    static readonly nonTTY = true
    static readonly rendererOptions = {}
    static readonly rendererTaskOptions = {}
    readonly #spinner = new Spinner()

    render(): void {
      draw(this.#spinner.fetch())
      this.#spinner.start(() => draw(this.#spinner.fetch()))
    }

    end(): void {
      this.#spinner.stop()
      end()
    }
  }

/** What to call the projects; nothing if there is one only. */
const titlesOf = (plan: Plan): ReadonlyMap<string, string> => {
  const projects = new Set(plan.steps.map(({ project }) => project))
  const titleOf = projectTitle(plan)
  return projects.size < 2 ? new Map() : new Map([...projects].map((id) => [id, titleOf(id)]))
}

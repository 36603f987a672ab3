/** Shows the events of an apply: as a live view on a terminal, else line by line. */
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

/**
 * Shows running steps at the bottom, and ended steps above as a log.
 *
 * listr2 provides the drawing loop and the spinner. The contents come from the events, and steps are not listr2 tasks:
 * each task would need a promise, and steps that never start would have to be resolved one by one.
 */
export const liveList = (plan: Plan, { noColor, concurrency }: ProgressFlags, io: Io): Progress => {
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
      // We handle Ctrl-C ourselves.
      registerSignalListeners: false,
    },
  )
  const ended = list.run()
  return {
    report: (event) => {
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

/** Project names to show; empty if there is only one project. */
const titlesOf = (plan: Plan): ReadonlyMap<string, string> => {
  const projects = new Set(plan.steps.map(({ project }) => project))
  const titleOf = projectTitle(plan)
  return projects.size < 2 ? new Map() : new Map([...projects].map((id) => [id, titleOf(id)]))
}

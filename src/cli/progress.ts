/** Events of an apply as people watch them: a live list on a terminal, plain lines elsewhere. */
import { Listr } from 'listr2'
import type { ApplyEvent, Plan, StepOutcome } from '../model/index.ts'
import { eventLine, plainText, stepTitle } from '../report/index.ts'
import { print, styleOf } from './terminal.ts'

export interface Progress {
  tell(event: ApplyEvent): void
  /** Once the last event was told. */
  end(): Promise<void>
}

type ColorFlag = { readonly noColor?: boolean | undefined }

/** The live list, where it fits on the screen. */
export const progressOf = (plan: Plan, flags: ColorFlag): Progress => {
  const rows = process.stdout.rows ?? 0
  const fits = process.stdout.isTTY === true && plan.steps.length * 2 + 4 < rows
  return fits && styleOf(process.stdout, flags).color ? liveList(plan) : plainLines(plan, flags)
}

const plainLines = (plan: Plan, flags: ColorFlag): Progress => {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  return {
    tell: (event) => {
      const line = eventLine(event, styleOf(process.stdout, flags), steps)
      if (line !== undefined) print(line)
    },
    end: async () => undefined,
  }
}

interface Row {
  readonly ended: Promise<StepOutcome>
  end(outcome: StepOutcome): void
  say(text: string): void
}

const liveList = (plan: Plan): Progress => {
  const rows = new Map<string, Row>()
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const list = new Listr<unknown, 'default', 'default'>(
    plan.steps.map((step) => {
      let end: (outcome: StepOutcome) => void = () => undefined
      const ended = new Promise<StepOutcome>((resolve) => {
        end = resolve
      })
      return {
        title: stepTitle(step, changes),
        task: async (_context, task) => {
          task.output = 'waits for its turn'
          rows.set(step.id, { ended, end, say: (text) => (task.output = plainText(text)) })
          const outcome = await ended
          // Of the step itself: the list's own timer would count the wait for its turn as well.
          if (outcome.status === 'done') task.title = `${task.title}  ${(outcome.durationMs / 1_000).toFixed(1)} s`
          if (outcome.status === 'failed') throw new Error(plainText(outcome.message ?? outcome.reason ?? 'failed'))
          if (outcome.status !== 'done') task.skip(plainText(outcome.message ?? outcome.status))
        },
      }
    }),
    {
      concurrent: true,
      exitOnError: false,
      registerSignalListeners: false,
      rendererOptions: { collapseErrors: false, collapseSkips: false },
    },
  )
  const running = list.run()
  return {
    tell: (event) => {
      if (event.type === 'step-start') rows.get(event.step.id)?.say('starts')
      if (event.type === 'call') rows.get(event.step)?.say(`${event.method} ${event.path}`)
      if (event.type === 'wait') rows.get(event.step)?.say(event.message)
      if (event.type === 'operation') rows.get(event.step)?.say(`${event.operation.action}: ${event.operation.status}`)
      if (event.type === 'step-end') rows.get(event.outcome.step)?.end(event.outcome)
    },
    end: async () => {
      await running
    },
  }
}

/** What became of a plan: the measured time and the result of each step, from the events of the run. */
import {
  type ApplyEvent,
  isEmptyPlan,
  type Outcome,
  type Plan,
  type Step,
  type StepOutcome,
} from '../../model/index.ts'
import { alikeSteps } from '../words/alike.ts'
import { applyVerdict, nextSteps, statusWords } from '../words/apply-verdict.ts'
import { time } from '../words/counts.ts'
import { STATUS_MARKS } from '../words/impacts.ts'
import { emptyVerdict, expectedMs } from '../words/plan-lines.ts'
import type { Span } from './chart.ts'
import type { Look } from './markup.ts'

export interface PlanRun {
  readonly events: readonly ApplyEvent[]
  /** Absent if the run was cut off before it ended. */
  readonly outcome?: Outcome | undefined
  /** Completes the commands that a note suggests. By default, they are shown as they are. */
  readonly complete?: ((text: string) => string) | undefined
}

export interface StepResult {
  readonly look: Look
  /** `not allowed`, `never started`. */
  readonly words: string
  /** Absent if the step did not finish. */
  readonly outcome?: StepOutcome | undefined
  /** In milliseconds since the first event. Absent if the step never started. */
  readonly span?: Span | undefined
  /** The numbers of the steps that ended for the same reason, this one included. */
  readonly alike: readonly number[]
}

export interface RunResults {
  readonly startedAt?: string | undefined
  /** The time of the last event, in milliseconds since the first one. */
  readonly end: number
  readonly verdict: { readonly words: string; readonly look: Look }
  /** How long the run took, compared with the estimate. */
  readonly duration: string
  /** Messages of the run, and what the user should do next. */
  readonly notes: readonly string[]
  of(step: Step): StepResult
}

export const resultsOf = (plan: Plan, { events, outcome, complete = (text) => text }: PlanRun): RunResults => {
  const startedAt = events[0]?.time
  const since = (event: ApplyEvent): number => Math.max(0, Date.parse(event.time) - Date.parse(startedAt ?? event.time))
  const end = events.reduce((most, event) => Math.max(most, since(event)), 0)
  const starts = new Map<string, number>()
  const ends = new Map<string, number>()
  const outcomes = new Map(outcome?.steps.map((one) => [one.step, one]))
  for (const event of events) {
    if (event.type === 'step-start') starts.set(event.step.id, since(event))
    if (event.type !== 'step-end') continue
    ends.set(event.outcome.step, since(event))
    outcomes.set(event.outcome.step, event.outcome)
  }
  const ended = plan.steps.flatMap(({ id }) => outcomes.get(id) ?? [])
  const numbers = new Map(plan.steps.map(({ id }, index) => [id, index + 1]))
  const alike = new Map(
    alikeSteps(ended).flatMap((same) => {
      const own = same.flatMap(({ step }) => numbers.get(step) ?? [])
      return same.map(({ step }) => [step, own] as const)
    }),
  )
  const { kind, words } = applyVerdict(
    plan,
    outcome,
    plan.steps.map(({ id }) => outcomes.get(id)?.status),
  )
  const verdict = isEmptyPlan(plan)
    ? { words: emptyVerdict(plan), look: VERDICT_LOOKS[plan.leftOut === undefined ? 'complete' : 'incomplete'] }
    : { words, look: VERDICT_LOOKS[kind] }
  const expected = expectedMs(plan) === 0 ? '' : `, about ${time(expectedMs(plan))} was expected`
  return {
    startedAt,
    end,
    verdict,
    duration: `It took ${time(end)}${expected}.`,
    notes: [
      ...events.flatMap((event) => (event.type === 'interrupt' ? [event.message] : [])),
      ...(outcome === undefined
        ? ['The run was cut off before it ended. Run `espalier apply` again.']
        : [...outcome.notes, ...nextSteps(plan, outcome)]),
    ].map(complete),
    of: ({ id }) => {
      const start = starts.get(id)
      // If the run was cut off, a running step is drawn until the last event.
      const span = start === undefined ? undefined : { start, end: ends.get(id) ?? end }
      return { ...resultOf(outcomes.get(id), start !== undefined), span, alike: alike.get(id) ?? [] }
    },
  }
}

const resultOf = (
  outcome: StepOutcome | undefined,
  isStarted: boolean,
): Pick<StepResult, 'look' | 'words' | 'outcome'> =>
  outcome === undefined
    ? { look: { icon: 'clock', tone: 'quiet' }, words: isStarted ? 'end unknown' : 'never started' }
    : { look: STATUS_MARKS[outcome.status], words: statusWords(outcome.status), outcome }

const VERDICT_LOOKS = {
  complete: STATUS_MARKS.done,
  scheduled: STATUS_MARKS.scheduled,
  incomplete: STATUS_MARKS.failed,
} as const

/** Works out from events what happened in each step. Times are in milliseconds since the first event. */
import { groupBy } from '../../base/index.ts'
import type { ApplyEvent, OperationProgress, Outcome, StepOutcome } from '../../model/index.ts'
import type { Span, Timescale } from './span.ts'

export interface Moment {
  readonly at: number
  readonly event: Extract<ApplyEvent, { type: 'call' | 'wait' | 'operation' }>
}

export interface OperationSpan extends Span {
  readonly last: OperationProgress
}

/** What happened in a step. If `span` is absent, the step never started. */
export interface StepRun {
  readonly span?: Span
  /** In order. */
  readonly moments: readonly Moment[]
  readonly calls: readonly { readonly at: number; readonly attempt: number }[]
  readonly waits: readonly Span[]
  readonly operations: readonly OperationSpan[]
  /** Absent if the run was cut off before the step ended. */
  readonly outcome?: StepOutcome
}

export interface Run {
  readonly startedAt?: string
  readonly scale: Timescale
  readonly steps: ReadonlyMap<string, StepRun>
  readonly interrupts: readonly { readonly at: number; readonly message: string }[]
}

const ENDED = new Set(['finished', 'skipped', 'cancelled', 'error'])

export const whatHappened = (events: readonly ApplyEvent[], outcome: Outcome | undefined): Run => {
  const [first] = events
  const zero = first === undefined ? 0 : Date.parse(first.time)
  const since = ({ time }: ApplyEvent): number => Math.max(0, Date.parse(time) - zero)
  // If the run was cut off, waits and steps end at the last event.
  const last = events.reduce((most, event) => Math.max(most, since(event)), 0)
  const byStep = groupBy(events, stepOf)
  const outcomes = new Map(outcome?.steps.map((one) => [one.step, one]))
  // Some steps have no events.
  const ids = [...new Set([...outcomes.keys(), ...byStep.keys()])].filter((id) => id !== undefined)
  return {
    ...(first === undefined ? {} : { startedAt: first.time }),
    scale: { unit: 'ms', end: Math.max(1, last) },
    steps: new Map(ids.map((id) => [id, runOf(byStep.get(id) ?? [], outcomes.get(id), since, last)])),
    interrupts: events.flatMap((event) =>
      event.type === 'interrupt' ? [{ at: since(event), message: event.message }] : [],
    ),
  }
}

const stepOf = (event: ApplyEvent): string | undefined => {
  switch (event.type) {
    case 'step-start':
      return event.step.id
    case 'call':
    case 'wait':
    case 'operation':
      return event.step
    case 'step-end':
      return event.outcome.step
    default:
      return undefined
  }
}

const runOf = (
  events: readonly ApplyEvent[],
  known: StepOutcome | undefined,
  since: (event: ApplyEvent) => number,
  last: number,
): StepRun => {
  const start = events.find(({ type }) => type === 'step-start')
  const ended = events.find((event) => event.type === 'step-end')
  const end = ended === undefined ? last : since(ended)
  const outcome = ended?.outcome ?? known
  const moments = events.flatMap((event): readonly Moment[] =>
    event.type === 'call' || event.type === 'wait' || event.type === 'operation' ? [{ at: since(event), event }] : [],
  )
  return {
    ...(start === undefined ? {} : { span: { start: since(start), end } }),
    moments,
    calls: moments.flatMap(({ at, event }) => (event.type === 'call' ? [{ at, attempt: event.attempt }] : [])),
    waits: moments.flatMap(({ at, event }) =>
      event.type === 'wait' ? [{ start: at, end: Math.min(at + event.delayMs, end) }] : [],
    ),
    operations: operationSpans(moments, end),
    ...(outcome === undefined ? {} : { outcome }),
  }
}

const operationSpans = (moments: readonly Moment[], end: number): readonly OperationSpan[] => {
  const spans = new Map<string, OperationSpan>()
  for (const { at, event } of moments) {
    if (event.type !== 'operation') continue
    const { operation } = event
    const start = spans.get(operation.id)?.start ?? at
    spans.set(operation.id, { start, end: ENDED.has(operation.status) ? at : end, last: operation })
  }
  return [...spans.values()]
}

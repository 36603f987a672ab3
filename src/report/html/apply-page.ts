/** The HTML page for an apply. It shows the plan and a timeline of its steps. */
import {
  type ApplyEvent,
  type Change,
  isEmptyPlan,
  type Observed,
  type Outcome,
  type Plan,
  STEP_STATUSES,
  type Step,
} from '../../model/index.ts'
import { applyVerdict, nextSteps, statusWords } from '../words/apply-verdict.ts'
import { counted, time } from '../words/counts.ts'
import { isDisruptive } from '../words/impacts.ts'
import { emptyVerdict, expectedMs, planLine } from '../words/plan-lines.ts'
import { capacitySection } from './capacity.ts'
import type { StepExtras } from './change-card.ts'
import { changesSection } from './changes.ts'
import { chart, type Drawing, em, lanesOf } from './chart.ts'
import { type Effects, effectsOf } from './effects.ts'
import { type Run, type StepRun, whatHappened } from './happened.ts'
import { chip, chipList, icon, type Look, STATUS_LOOKS } from './looks.ts'
import { type Markup, markup, NOTHING, section, timestamp, when } from './markup.ts'
import { type PageFrame, page } from './page.ts'
import { projectLine, titleWith } from './plan-page.ts'
import { checksSection } from './review-sections.ts'
import { runLog } from './run-log.ts'
import {
  chips,
  interruptionsSection,
  leftOutSection,
  legend,
  legendRow,
  unmanagedSection,
  warningsSection,
} from './sections.ts'
import { percent, type Timescale } from './span.ts'

export interface ApplyPage {
  readonly plan: Plan
  /** The events of the run, in order. */
  readonly events: readonly ApplyEvent[]
  /** Absent if the run was cut off before it ended. */
  readonly outcome?: Outcome
  /** The snapshot that the plan was made from. */
  readonly observed?: Observed
}

export const applyPage = ({ plan, events, outcome, observed }: ApplyPage, frame: PageFrame): string => {
  const run = whatHappened(events, outcome)
  const { words, look } = verdictOf(plan, run, outcome)
  const hasChanges = !isEmptyPlan(plan)
  const effects = effectsOf(plan, (step) => runOf(run, step).outcome)
  return page(frame, {
    title: titleWith(words, plan),
    command: 'apply',
    seen: run.startedAt === undefined ? NOTHING : markup`Started at ${timestamp(run.startedAt)}`,
    head: markup`<h1 class="verdict ${look.tone}">${icon(look.icon)}${words}</h1>
<p class="facts">${planLine(plan.summary)}${hasChanges ? ` ${factsOf(plan, run)}` : ''}</p>${projectLine(plan)}
${when(hasChanges, () => chipList(effectChips(plan, effects)))}${notes(plan, run, outcome)}`,
    body: [
      leftOutSection(plan),
      when(hasChanges, () => stepsSection(plan, run)),
      warningsSection(plan),
      when(
        hasChanges,
        () => markup`<div class="pair-up">${interruptedSections(plan, effects)}${capacitySection(effects)}</div>`,
      ),
      checksSection(plan),
      changesSection(plan, observed, {
        extrasOf: (step) => extrasOf(runOf(run, step)),
        facts: (changes) => madeOf(changes, effects),
      }),
      unmanagedSection(plan.unmanaged),
      when(hasChanges, () => legend(LEGEND)),
    ],
  })
}

const effectChips = (plan: Plan, { counts, uncertain }: Effects): readonly Markup[] => {
  const unknown = uncertain.filter(({ impact }) => isDisruptive(impact)).length
  const none = unknown > 0 ? 'no one is known to have been interrupted' : 'no one was interrupted'
  return [
    ...chips({ ...counts, refused: plan.summary.refused }, none),
    ...(unknown > 0 ? [chip(STATUS_LOOKS.failed, `${unknown} unknown`)] : []),
  ]
}

const interruptedSections = (plan: Plan, { done, uncertain }: Effects): readonly Markup[] => [
  interruptionsSection(plan, done, 'Who was interrupted'),
  when(
    uncertain.some(({ impact }) => isDisruptive(impact)),
    () =>
      interruptionsSection(plan, uncertain, 'Who may have been interrupted: the step was sent and failed', 'uncertain'),
  ),
]

const madeOf = (changes: readonly Change[], { done }: Effects): string => {
  const made = new Set(done.map(({ id }) => id))
  return `${counted(changes.length, 'change')} planned, ${changes.filter(({ id }) => made.has(id)).length} made`
}

const NOT_STARTED: StepRun = { moments: [], calls: [], waits: [], operations: [] }

const runOf = (run: Run, step: Step): StepRun => run.steps.get(step.id) ?? NOT_STARTED

/** The status of the step, in the same terms as on a terminal. A step that the run did not finish has no status. */
const wordsOf = ({ outcome, span }: StepRun): string => {
  if (outcome === undefined) return span === undefined ? 'never started' : 'end unknown'
  return `${statusWords(outcome.status)}${outcome.reason === undefined ? '' : ` (${outcome.reason})`}`
}

const lookOf = ({ outcome }: StepRun): Look =>
  outcome === undefined ? { icon: 'clock', tone: 'quiet' } : STATUS_LOOKS[outcome.status]

const VERDICT_LOOKS = {
  complete: STATUS_LOOKS.done,
  scheduled: STATUS_LOOKS.scheduled,
  incomplete: STATUS_LOOKS.failed,
} as const

const verdictOf = (
  plan: Plan,
  run: Run,
  outcome: Outcome | undefined,
): { readonly words: string; readonly look: Look } => {
  if (isEmptyPlan(plan)) {
    return { words: emptyVerdict(plan), look: VERDICT_LOOKS[plan.leftOut === undefined ? 'complete' : 'incomplete'] }
  }
  const ends = plan.steps.map((step) => runOf(run, step).outcome?.status)
  const { kind, words } = applyVerdict(plan, outcome, ends)
  return { words, look: VERDICT_LOOKS[kind] }
}

const factsOf = (plan: Plan, run: Run): string => {
  const all = [...run.steps.values()]
  const calls = all.reduce((sum, { calls }) => sum + calls.length, 0)
  const waits = all.reduce((sum, one) => sum + one.waits.length, 0)
  const expected = expectedMs(plan) === 0 ? '' : `, about ${time(expectedMs(plan))} was expected`
  return `It took ${time(run.scale.end)}${expected}; ${counted(calls, 'call')}, ${counted(waits, 'wait')}.`
}

const notes = (plan: Plan, run: Run, outcome: Outcome | undefined): Markup => {
  const lines = [
    ...run.interrupts.map(({ at, message }) => `After ${time(at)}: ${message}`),
    ...(outcome === undefined
      ? ['The run was cut off before it ended. Run `espalier apply` again.']
      : [...outcome.notes, ...nextSteps(plan, outcome)]),
  ]
  return when(lines.length > 0, () => markup`<ul class="notes">${lines.map((one) => markup`<li>${one}</li>`)}</ul>`)
}

const stepsSection = (plan: Plan, run: Run): Markup => {
  const { scale } = run
  const lanes = lanesOf(
    plan,
    (step) => drawingOf(runOf(run, step), scale),
    (steps, end) => {
      const notDone = steps.filter((step) => runOf(run, step).outcome?.status !== 'done').length
      return [notDone === 0 ? 'all done' : `${notDone} not done`, end === 0 ? '' : time(end)]
    },
  )
  const moments = run.interrupts.map(({ at }) => ({ at, words: 'interrupted' }))
  const body = markup`<p class="lead">Each bar shows a step from its start to its end. An arrow marks an API call, and a ring marks a retry. Hatching shows time spent waiting. A line below a bar shows an operation on the service.</p>
${HATCH}${chart({ label: 'Timeline of the steps as they ran', lanes, scale, moments })}`
  return section('steps', 'Timeline', body)
}

/** Waiting is hatched, so that it can be distinguished without colour. */
const HATCH = markup`<svg class="sheet" width="0" height="0" aria-hidden="true" focusable="false"><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" x2="0" y1="0" y2="5"/></pattern></svg>`

const drawingOf = (run: StepRun, scale: Timescale): Drawing => {
  const { span, calls, waits, operations, outcome } = run
  const look = lookOf(run)
  const length = span === undefined ? '' : time(span.end - span.start)
  const again = calls.filter(({ attempt }) => attempt > 1).length
  const isDone = outcome?.status === 'done'
  return {
    span,
    tone: look.tone,
    icon: isDone ? undefined : look.icon,
    words: [isDone ? '' : wordsOf(run), length].filter((one) => one !== '').join(' · '),
    description: [
      wordsOf(run),
      ...(span === undefined ? [] : [`started after ${time(span.start)}, took ${length}`]),
      ...(calls.length === 0 ? [] : [counted(calls.length, 'call')]),
      ...(again === 0 ? [] : [`${again} retried`]),
      ...(waits.length === 0 ? [] : [counted(waits.length, 'wait')]),
      ...(operations.length === 0 ? [] : [counted(operations.length, 'operation')]),
    ].join('; '),
    details: (middle) => overlay(run, scale, middle),
  }
}

const overlay = ({ calls, waits, operations }: StepRun, scale: Timescale, middle: number): Markup =>
  markup`${waits.map(
    ({ start, end }) =>
      markup`<rect class="wait" x="${percent(start, scale)}" width="${percent(end - start, scale)}" y="${em(middle - 0.475)}" height="0.95em"/>`,
  )}${operations.map(
    ({ start, end }, index) =>
      markup`<rect class="operation" x="${percent(start, scale)}" width="${percent(end - start, scale)}" y="${em(middle + 0.6 + (index % 2) * 0.3)}" height="0.22em"/>`,
  )}${calls.map(
    ({ at, attempt }) =>
      markup`<svg class="call" x="${percent(at, scale)}" y="${em(middle - 0.9)}" overflow="visible"><path d="M-3.5 0h7L0 6z"/>${when(attempt > 1, () => markup`<circle cx="0" cy="2" r="6.5"/>`)}</svg>`,
  )}`

const extrasOf = (run: StepRun): StepExtras => {
  const { outcome, span } = run
  const look = lookOf(run)
  const took = span === undefined ? NOTHING : markup` <span class="took">${time(span.end - span.start)}</span>`
  return {
    summary: markup` ${chip(look, wordsOf(run))}${took}`,
    verdict: when(
      outcome?.message !== undefined,
      () =>
        markup`<p class="message ${look.tone}">${icon(look.icon)}<span><b>${wordsOf(run)}</b> ${outcome?.message}</span></p>`,
    ),
    details: runLog(run),
  }
}

const LEGEND: readonly Markup[] = [
  ...STEP_STATUSES.map((status) => legendRow(chip(STATUS_LOOKS[status], statusWords(status)), 'the result of a step')),
  legendRow(
    markup`<span class="key hatched" aria-hidden="true"></span> hatched`,
    'waiting for a lock, for the rate limit, or before reading the project again',
  ),
  legendRow(
    markup`<span class="key line" aria-hidden="true"></span> line below`,
    'an operation on the service, from the time it was first reported',
  ),
]

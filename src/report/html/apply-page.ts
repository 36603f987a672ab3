/** The page of an apply: the plan, and what happened over time. */
import {
  type ApplyEvent,
  type Change,
  isEmptyPlan,
  type Observed,
  type Outcome,
  type Plan,
  type Step,
} from '../../model/index.ts'
import { nextSteps } from '../terminal/outcome.ts'
import {
  applyVerdict,
  counted,
  emptyVerdict,
  isDisruptive,
  planLine,
  projectsLeftOut,
  projectTitle,
  STATUS_WORDS,
  time,
} from '../words/index.ts'
import { capacitySection } from './capacity.ts'
import type { StepExtras } from './change-card.ts'
import { changesSection } from './changes.ts'
import { type Chart, chart, em, type Lane, laneFacts, type Row } from './chart.ts'
import { type Effects, effectsOf } from './effects.ts'
import { filters } from './filters.ts'
import { byProject } from './foretell.ts'
import { type Run, type StepRun, whatHappened } from './happened.ts'
import { chip, icon, type Look, STATUS_LOOKS } from './looks.ts'
import { type Markup, markup, NOTHING, when } from './markup.ts'
import { type PageFrame, page } from './page.ts'
import { projectNames, projectWords } from './plan-page.ts'
import { checksSection } from './review-sections.ts'
import { runLog } from './run-log.ts'
import { chips, interruptionsSection, leftOutSection, legend, unmanagedSection, warningsSection } from './sections.ts'
import { percent, type Timescale } from './span.ts'

export interface ApplyPage {
  readonly plan: Plan
  /** The events of the run, in order. */
  readonly events: readonly ApplyEvent[]
  /** Absent if the run was cut off. */
  readonly outcome?: Outcome
  /** The snapshot that the plan was made from. */
  readonly observed?: Observed
}

export const applyPage = ({ plan, events, outcome, observed }: ApplyPage, frame: PageFrame): string => {
  const run = whatHappened(events, outcome)
  const verdict = verdictOf(plan, run, outcome)
  const names = projectNames(plan)
  const isEmpty = isEmptyPlan(plan)
  const effects = effectsOf(plan, (step) => runOf(run, step).outcome)
  return page(frame, {
    title: `${verdict.words} ${names.slice(0, 3).join(', ')}`,
    command: 'apply',
    seen:
      run.startedAt === undefined
        ? NOTHING
        : markup`Started at <time datetime="${run.startedAt}">${run.startedAt.replace('T', ' ').replace(/\.\d+/, '')}</time>`,
    head: markup`<h1 class="verdict ${verdict.look.tone}">${icon(verdict.look.icon)}${verdict.words}</h1>
<p class="facts">${planLine(plan.summary)}${isEmpty ? '' : ` ${factsOf(plan, run)}`}</p><p class="projects">${projectWords(names)}</p>
${isEmpty ? NOTHING : markup`<ul class="chips">${happenedChips(plan, effects).map((one) => markup`<li>${one}</li>`)}</ul>`}${whatNow(plan, run, outcome)}`,
    body: [
      leftOutSection(plan),
      isEmpty ? NOTHING : stepsSection(plan, run),
      warningsSection(plan),
      isEmpty
        ? NOTHING
        : markup`<div class="pair-up">${interruptedSections(plan, effects)}${capacitySection(effects)}</div>`,
      checksSection(plan),
      filters(plan),
      changesSection(plan, observed, {
        extras: extrasOf(run),
        isDrift: () => undefined,
        facts: (changes) => madeOf(changes, effects),
      }),
      unmanagedSection(plan.unmanaged),
      isEmpty ? NOTHING : legend(LEGEND),
    ],
  })
}

const happenedChips = (plan: Plan, { counts, uncertain }: Effects): readonly Markup[] => {
  const refused = plan.summary.refused
  const disruptive = uncertain.filter(({ impact }) => isDisruptive(impact)).length
  const none = disruptive > 0 ? 'no one is known to have been interrupted' : 'no one was interrupted'
  return [
    ...chips({ ...counts, refused }, none),
    ...(disruptive > 0 ? [chip(STATUS_LOOKS.failed, `${disruptive} not known`)] : []),
  ]
}

const interruptedSections = (plan: Plan, { done, uncertain }: Effects): Markup => {
  const disruptive = uncertain.filter(({ impact }) => isDisruptive(impact))
  return markup`${interruptionsSection(plan, done, 'Who was interrupted')}${when(disruptive.length > 0, () =>
    interruptionsSection(plan, disruptive, 'Who may have been: the step was sent, and did not end well', 'uncertain'),
  )}`
}

const madeOf = (changes: readonly Change[], { done }: Effects): string => {
  const made = new Set(done.map(({ id }) => id))
  return `${counted(changes.length, 'change')} planned, ${changes.filter(({ id }) => made.has(id)).length} made`
}

const NOT_STARTED: StepRun = { moments: [], calls: [], waits: [], operations: [] }
const UNKNOWN_LOOK: Look = { icon: 'clock', tone: 'quiet' }

const runOf = (run: Run, step: Step): StepRun => run.steps.get(step.id) ?? NOT_STARTED

const lookOf = ({ outcome }: StepRun): Look => (outcome === undefined ? UNKNOWN_LOOK : STATUS_LOOKS[outcome.status])

/** The status, in the terminal's terms; a run that was cut off has none. */
const wordsOf = ({ outcome, span }: StepRun): string => {
  if (outcome === undefined) return span === undefined ? 'never started' : 'its end is unknown'
  return `${STATUS_WORDS[outcome.status]}${outcome.reason === undefined ? '' : ` (${outcome.reason})`}`
}

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
    const isWhole = projectsLeftOut(plan) === undefined
    return { words: emptyVerdict(plan), look: isWhole ? STATUS_LOOKS.done : STATUS_LOOKS.failed }
  }
  const ends = plan.steps.map((step) => runOf(run, step).outcome?.status)
  const { kind, words } = applyVerdict(plan, ends, outcome)
  return { words, look: VERDICT_LOOKS[kind] }
}

const factsOf = (plan: Plan, run: Run): string => {
  const estimate = plan.estimates.reduce((most, { medianMs }) => Math.max(most, medianMs), 0)
  const all = [...run.steps.values()]
  const calls = all.reduce((sum, { calls }) => sum + calls.length, 0)
  const waits = all.reduce((sum, one) => sum + one.waits.length, 0)
  const expected = estimate === 0 ? '' : `, about ${time(estimate)} was expected`
  return `It took ${time(run.scale.end)}${expected}; ${counted(calls, 'call')}, ${counted(waits, 'wait')}.`
}

const whatNow = (plan: Plan, run: Run, outcome: Outcome | undefined): Markup => {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const lines = [
    ...run.interrupts.map(({ at, message }) => `After ${time(at)}: ${message}`),
    ...(outcome === undefined
      ? ['The run was cut off before it ended. Run `espalier apply` again.']
      : [...outcome.notes, ...nextSteps(plan, outcome, steps)]),
  ]
  return when(lines.length > 0, () => markup`<ul class="notes">${lines.map((one) => markup`<li>${one}</li>`)}</ul>`)
}

const stepsSection = (plan: Plan, run: Run): Markup =>
  markup`<section aria-labelledby="steps"><h2 id="steps">What happened, along time</h2>
<p class="lead">A bar is a step, from its start to its end. In it: arrows are calls (with a ring: sent again), hatched is waiting, the line below is an operation of the service.</p>
${HATCH}${chart(chartOf(plan, run))}</section>`

/** Hatching shows waiting, so that it differs not only by colour. */
const HATCH = markup`<svg class="sheet" width="0" height="0" aria-hidden="true" focusable="false"><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" x2="0" y1="0" y2="5"/></pattern></svg>`

const chartOf = (plan: Plan, run: Run): Chart => {
  const numbers = new Map(plan.steps.map((step, index) => [step.id, index + 1]))
  const changes = new Map(plan.changes.map(({ id }, index) => [id, index + 1]))
  const titleOf = projectTitle(plan)
  const lanes = byProject(plan.steps).map((steps): Lane => {
    const project = steps[0]?.project ?? ''
    const rows = steps.map((step) =>
      rowOf(step, runOf(run, step), run.scale, numbers.get(step.id) ?? 0, changes.get(step.change) ?? 0),
    )
    const notDone = steps.filter((step) => runOf(run, step).outcome?.status !== 'done').length
    const end = rows.reduce((most, { span }) => Math.max(most, span?.end ?? 0), 0)
    return {
      title: titleOf(project),
      facts: laneFacts(rows, notDone === 0 ? 'all done' : `${notDone} not done`, end === 0 ? '' : time(end)),
      rows,
    }
  })
  return {
    label: 'Steps along time, as they happened',
    lanes,
    scale: run.scale,
    moments: run.interrupts.map(({ at }) => ({ at, words: 'interrupted' })),
  }
}

const rowOf = (step: Step, own: StepRun, scale: Timescale, number: number, change: number): Row => {
  const look = lookOf(own)
  const length = own.span === undefined ? '' : time(own.span.end - own.span.start)
  const again = own.calls.filter(({ attempt }) => attempt > 1).length
  const isPlain = own.outcome?.status === 'done'
  return {
    number,
    step,
    change,
    ...(own.span === undefined ? {} : { span: own.span }),
    tone: look.tone,
    ...(isPlain ? {} : { icon: look.icon }),
    words: [isPlain ? '' : wordsOf(own), length].filter((one) => one !== '').join(' · '),
    description: [
      wordsOf(own),
      ...(own.span === undefined ? [] : [`started after ${time(own.span.start)}, took ${length}`]),
      ...(own.calls.length === 0 ? [] : [counted(own.calls.length, 'call')]),
      ...(again === 0 ? [] : [`${again} sent again`]),
      ...(own.waits.length === 0 ? [] : [counted(own.waits.length, 'wait')]),
      ...(own.operations.length === 0 ? [] : [counted(own.operations.length, 'operation')]),
    ].join('; '),
    details: (middle) => overlay(own, scale, middle),
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

const extrasOf = (run: Run): StepExtras => ({
  summary: (step) => {
    const own = runOf(run, step)
    return markup` ${chip(lookOf(own), wordsOf(own))}${own.span === undefined ? '' : markup` <span class="took">${time(own.span.end - own.span.start)}</span>`}`
  },
  verdict: (step) => {
    const { outcome } = runOf(run, step)
    if (outcome?.message === undefined) return NOTHING
    const look = STATUS_LOOKS[outcome.status]
    return markup`<p class="message ${look.tone}">${icon(look.icon)}<span><b>${wordsOf({ ...NOT_STARTED, outcome })}</b> ${outcome.message}</span></p>`
  },
  details: (step) => runLog(runOf(run, step)),
})

const LEGEND: readonly Markup[] = [
  ...Object.entries(STATUS_WORDS).map(
    ([status, words]) =>
      markup`<div><dt>${chip(STATUS_LOOKS[status as keyof typeof STATUS_LOOKS], words)}</dt><dd>what became of a step</dd></div>`,
  ),
  markup`<div><dt><span class="key hatched" aria-hidden="true"></span> hatched</dt><dd>waiting: for a lock, for the rate limit, before reading back</dd></div>`,
  markup`<div><dt><span class="key line" aria-hidden="true"></span> line below</dt><dd>an operation of the service, from when it was first seen</dd></div>`,
]

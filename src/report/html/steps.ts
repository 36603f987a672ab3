/** The section with the chart of steps: in turns before the run, and with measured times and results after it. */
import { counted, groupBy } from '../../base/index.ts'
import { IMPACT_NAMES, type Plan, STEP_STATUSES, type Step } from '../../model/index.ts'
import { statusWords } from '../words/apply-verdict.ts'
import { capitalised, time } from '../words/counts.ts'
import { IMPACT_MARKS, isDisruptive, STATUS_MARKS, windowWords } from '../words/impacts.ts'
import { expectedTime } from '../words/plan-lines.ts'
import { chart, type Drawing, lanesOf } from './chart.ts'
import { chip, type Markup, markup, section } from './markup.ts'
import type { RunResults } from './run.ts'
import { legendRow } from './sections.ts'

export const stepsSection = (plan: Plan, results: RunResults | undefined): Markup => {
  const title = `${counted(plan.steps.length, 'step')}, in order`
  return section('steps', title, results === undefined ? turns(plan) : measured(plan, results))
}

const turns = (plan: Plan): Markup => {
  const byProject = [...groupBy(plan.steps, ({ project }) => project).values()]
  const turnOf = new Map(byProject.flatMap((steps) => steps.map((step, turn) => [step, turn] as const)))
  const medians = new Map(plan.estimates.map(({ project, medianMs }) => [project, medianMs]))
  const lanes = lanesOf(
    plan,
    (step, waitsFor) => plannedDrawing(step, turnOf.get(step) ?? 0, waitsFor),
    (steps, project) => {
      const disruptive = steps.filter(({ impact }) => isDisruptive(impact)).length
      const median = medians.get(project)
      return [
        disruptive === 0 ? '' : `${disruptive} ${disruptive === 1 ? 'interrupts' : 'interrupt'}`,
        median === undefined ? '' : `about ${time(median)}`,
      ]
    },
  )
  const estimate =
    plan.estimates.length === 0
      ? 'Durations are unknown.'
      : `${capitalised(expectedTime(plan))}, estimated from the project's past operations.`
  const scale = { unit: 'turn', end: Math.max(1, ...byProject.map((steps) => steps.length)) } as const
  return markup`<p class="lead">Projects run concurrently, with one step at a time in each. ${estimate}</p>
${chart('Order of the steps', lanes, scale)}`
}

const plannedDrawing = (step: Step, turn: number, waitsFor: readonly number[]): Drawing => {
  const { impact, refused, windows } = step
  const look = IMPACT_MARKS[impact]
  const isLoud = isDisruptive(impact)
  const words = [
    refused === undefined ? '' : 'refused',
    isLoud ? IMPACT_NAMES[impact] : '',
    windows !== undefined && isLoud ? 'in its window' : '',
  ]
  return {
    span: { start: turn, end: turn + 1 },
    tone: look.tone,
    icon: isLoud ? look.icon : undefined,
    words: words.filter((one) => one !== '').join(' · '),
    description: [
      IMPACT_NAMES[impact],
      ...(refused === undefined ? [] : ['refused, it will not run']),
      ...(windows === undefined ? [] : [windowWords(step)]),
      ...(waitsFor.length === 0 ? [] : [`after ${waitsFor.map((one) => `step ${one}`).join(', ')}`]),
    ].join('; '),
  }
}

const measured = (plan: Plan, results: RunResults): Markup => {
  const lanes = lanesOf(
    plan,
    (step) => measuredDrawing(step, results),
    (steps) => {
      const notDone = steps.filter((step) => results.of(step).outcome?.status !== 'done').length
      const end = steps.reduce((most, step) => Math.max(most, results.of(step).span?.end ?? 0), 0)
      return [notDone === 0 ? 'all done' : `${notDone} not done`, end === 0 ? '' : time(end)]
    },
  )
  const scale = { unit: 'ms', end: Math.max(1, results.end) } as const
  return markup`<p class="lead">Each bar shows a step from its start to its end.</p>
${chart('Timeline of the steps as they ran', lanes, scale)}`
}

const measuredDrawing = (step: Step, results: RunResults): Drawing => {
  const { look, words, span } = results.of(step)
  const length = span === undefined ? '' : time(span.end - span.start)
  return {
    span,
    tone: look.tone,
    icon: look === STATUS_MARKS.done ? undefined : look.icon,
    words: length,
    description: [
      IMPACT_NAMES[step.impact],
      ...(span === undefined ? [] : [`started after ${time(span.start)}, took ${length}`]),
    ].join('; '),
    result: chip(look, words),
  }
}

export const RESULT_LEGEND: readonly Markup[] = STEP_STATUSES.map((status) =>
  legendRow(chip(STATUS_MARKS[status], statusWords(status)), 'the result of a step'),
)

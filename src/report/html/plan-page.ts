/** The HTML page for a plan. */
import { isEmptyPlan, type Observed, type Origin, type Plan, type Step } from '../../model/index.ts'
import { capitalised, counted, group, time } from '../words/counts.ts'
import { isDisruptive, shortImpact, windowWords } from '../words/impacts.ts'
import { projectTitle } from '../words/names.ts'
import { coverageLine, emptyVerdict, expectedTime, interruptions, planLine } from '../words/plan-lines.ts'
import { capacitySection } from './capacity.ts'
import { changesSection } from './changes.ts'
import { chart, type Drawing, lanesOf } from './chart.ts'
import { foretell, UNKNOWN_MS } from './foretell.ts'
import { chipList, IMPACT_LOOKS } from './looks.ts'
import { type Markup, markup, NOTHING, section, timestamp, when } from './markup.ts'
import { type PageFrame, page } from './page.ts'
import { checksSection, costSection } from './review-sections.ts'
import {
  chips,
  interruptionsSection,
  leftOutSection,
  legend,
  releasedSection,
  unmanagedSection,
  warningsSection,
} from './sections.ts'
import type { Span, Timescale } from './span.ts'

export interface PlanPageOptions extends PageFrame {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string | undefined
  /** The age of the snapshot file that the plan was made against, such as `3 h`. */
  readonly age?: string
  /** The snapshot that the plan was made from, including past operations. */
  readonly observed?: Observed
  /** The git ref that the plan is compared with, and the result of the comparison. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
  /** How many projects are processed concurrently. */
  readonly concurrency: number
}

export const planPage = (plan: Plan, options: PlanPageOptions): string => {
  const hasChanges = !isEmptyPlan(plan)
  const verdict = hasChanges ? planLine(plan.summary) : emptyVerdict(plan)
  const { since, observed } = options
  const drift = new Set(since?.origin.drift.map(({ id }) => id))
  const counts = `${coverageLine(plan)}.`
  const facts = `${interruptions(plan.summary)}; ${counted(plan.summary.calls, 'API call')}; ${counts}`
  return page(options, {
    title: titleWith(verdict, plan),
    command: 'plan',
    seen: seenAt(options),
    head: markup`<h1>${verdict}</h1>
<p class="facts">${hasChanges ? facts : counts}</p>${projectLine(plan)}
${since === undefined ? NOTHING : sinceLine(since)}${when(hasChanges, () => chipList(chips(plan.summary)))}`,
    body: [
      leftOutSection(plan),
      warningsSection(plan),
      when(
        hasChanges,
        () => markup`<div class="pair-up">${interruptionsSection(plan)}${capacitySection(plan.summary)}</div>`,
      ),
      checksSection(plan),
      costSection(plan),
      when(hasChanges, () => stepsSection(plan, options)),
      changesSection(plan, observed, { isDrift: ({ id }) => drift.has(id) }),
      releasedSection(since?.origin.released ?? [], plan),
      unmanagedSection(plan.unmanaged),
      when(hasChanges, legend),
    ],
  })
}

/** The title of a page, which names the first projects. */
export const titleWith = (verdict: string, plan: Plan): string =>
  `${verdict} ${plan.projects.slice(0, 3).map(projectTitle(plan)).join(', ')}`

const MOST_NAMES = 6

export const projectLine = (plan: Plan): Markup => {
  const names = plan.projects.slice(0, MOST_NAMES).map(projectTitle(plan))
  const count = plan.projects.length
  const more = count > MOST_NAMES ? ` and ${group(count - MOST_NAMES)} more` : ''
  return markup`<p class="projects">${count === 1 ? 'Project' : `${counted(count, 'project')}:`} ${names.map((name, at) => [at === 0 ? '' : ', ', markup`<b>${name}</b>`])}${more}</p>`
}

const seenAt = ({ takenAt, age }: PlanPageOptions): Markup =>
  takenAt === undefined
    ? NOTHING
    : markup`Snapshot of ${timestamp(takenAt)}${age === undefined ? '' : `, ${age} before this page was made`}`

const sinceLine = ({ ref, origin }: NonNullable<PlanPageOptions['since']>): Markup => {
  const { introduced, drift, settled, released, gaps = [] } = origin
  const words = [
    `: ${counted(introduced.length, 'change')}. Existing drift: ${counted(drift.length, 'change')}.`,
    ...(settled.length === 0 ? [] : [`The manifests now accept drift of ${counted(settled.length, 'compute')}.`]),
    ...(released.length === 0 ? [] : [`No longer managed: ${counted(released.length, 'compute')}.`]),
    ...gaps,
  ]
  return markup`<p class="since">Introduced since <code>${ref}</code>${words.join(' ')}</p>`
}

const stepsSection = (plan: Plan, { observed, concurrency }: PlanPageOptions): Markup => {
  const { scale, spans } = foretell(plan, observed, concurrency)
  const isTimed = scale.unit === 'ms'
  const basis = isTimed
    ? `${capitalised(expectedTime(plan))}, from the project's past operations; steps with unknown durations are drawn as ${time(UNKNOWN_MS)}.`
    : 'Durations are unknown, so all steps are drawn with the same length.'
  const lanes = lanesOf(
    plan,
    (step, waitsFor) => drawingOf(step, spans.get(step.id), scale, waitsFor),
    (steps, end) => {
      const disruptive = steps.filter(({ impact }) => isDisruptive(impact)).length
      return [
        disruptive === 0 ? '' : `${disruptive} ${disruptive === 1 ? 'interrupts' : 'interrupt'}`,
        isTimed ? `about ${time(end)}` : '',
      ]
    },
  )
  const body = markup`<p class="lead">Projects run concurrently, with one step at a time in each. ${basis}</p>
${chart({ label: 'Timeline of the steps', lanes, scale })}`
  return section('steps', `${counted(plan.steps.length, 'step')}, in order`, body)
}

const drawingOf = (step: Step, span: Span | undefined, { unit }: Timescale, waitsFor: readonly number[]): Drawing => {
  const { impact, refused, windows } = step
  const look = IMPACT_LOOKS[impact]
  const isLoud = isDisruptive(impact)
  const timed = unit === 'ms' ? span : undefined
  const length = timed === undefined ? '' : time(timed.end - timed.start)
  const words = [
    refused === undefined ? '' : 'refused',
    isLoud ? shortImpact(impact) : '',
    windows !== undefined && isLoud ? 'in its window' : '',
    length,
  ]
  return {
    span,
    tone: look.tone,
    icon: isLoud ? look.icon : undefined,
    words: words.filter((one) => one !== '').join(' · '),
    description: [
      shortImpact(impact),
      ...(refused === undefined ? [] : ['refused, it will not run']),
      ...(windows === undefined ? [] : [windowWords(step)]),
      ...(timed === undefined ? [] : [`starts after about ${time(timed.start)}, takes about ${length}`]),
      ...(waitsFor.length === 0 ? [] : [`after ${waitsFor.map((one) => `step ${one}`).join(', ')}`]),
    ].join('; '),
  }
}

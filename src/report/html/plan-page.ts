/** The page of a plan. */
import { isEmptyPlan, type Observed, type Origin, type Plan, type Step } from '../../model/index.ts'
import {
  counted,
  emptyVerdict,
  group,
  interruptions,
  isDisruptive,
  planLine,
  projectsLeftOut,
  projectTitle,
  time,
  windowWords,
} from '../words/index.ts'
import { capacitySection } from './capacity.ts'
import { NO_EXTRAS } from './change-card.ts'
import { changesSection } from './changes.ts'
import { chart, type Lane, laneFacts, type Row } from './chart.ts'
import { filters } from './filters.ts'
import { byProject, foretell, type Schedule, UNKNOWN_MS } from './foretell.ts'
import { IMPACT_LOOKS, shortImpact } from './looks.ts'
import { type Markup, markup, NOTHING } from './markup.ts'
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

export interface PlanPageOptions extends PageFrame {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** The age of the snapshot file that was planned against: `3 h`. */
  readonly age?: string
  /** The snapshot, with past operations. */
  readonly observed?: Observed
  /** The base, and how the plan compares with it. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
  /** Projects processed concurrently. */
  readonly concurrency: number
}

export const planPage = (plan: Plan, options: PlanPageOptions): string => {
  const isEmpty = isEmptyPlan(plan)
  const verdict = isEmpty ? emptyVerdict(plan) : planLine(plan.summary)
  const names = projectNames(plan)
  return page(options, {
    title: `${verdict} ${names.slice(0, 3).join(', ')}`,
    command: 'plan',
    seen: seenAt(options),
    head: markup`<h1>${verdict}</h1>
<p class="facts">${facts(plan)}</p><p class="projects">${projectWords(names)}</p>
${sinceWords(options.since)}${isEmpty ? NOTHING : markup`<ul class="chips">${chips(plan.summary).map((one) => markup`<li>${one}</li>`)}</ul>`}`,
    body: [
      leftOutSection(plan),
      warningsSection(plan),
      isEmpty
        ? NOTHING
        : markup`<div class="pair-up">${interruptionsSection(plan)}${capacitySection(plan.summary)}</div>`,
      checksSection(plan),
      costSection(plan),
      isEmpty ? NOTHING : stepsSection(plan, options),
      filters(plan),
      changesSection(plan, options.observed, { extras: NO_EXTRAS, isDrift: driftOf(options.since?.origin) }),
      releasedSection(options.since?.origin.released ?? [], plan),
      unmanagedSection(plan.unmanaged),
      isEmpty ? NOTHING : legend([]),
    ],
  })
}

export const projectNames = (plan: Plan): readonly string[] => plan.projects.map(projectTitle(plan))

const MOST_NAMES = 6

export const projectWords = (names: readonly string[]): Markup => {
  const more = names.length - MOST_NAMES
  return markup`${names.length === 1 ? 'Project' : counted(names.length, 'project')}${names.length === 1 ? '' : ':'} ${names
    .slice(0, MOST_NAMES)
    .map((name, at) => [at === 0 ? '' : ', ', markup`<b>${name}</b>`])}${more > 0 ? ` and ${group(more)} more` : ''}`
}

const seenAt = ({ takenAt, age }: PlanPageOptions): Markup =>
  takenAt === undefined
    ? NOTHING
    : markup`Snapshot of <time datetime="${takenAt}">${takenAt.replace('T', ' ').replace(/\.\d+/, '')}</time>${age === undefined ? '' : `, ${age} before this page was made`}`

const facts = (plan: Plan): string => {
  const { summary } = plan
  const missing = projectsLeftOut(plan)
  const counts = `${counted(summary.managed, 'compute')} managed, ${group(summary.unmanaged)} unmanaged${missing === undefined ? '' : `; ${missing} left out`}.`
  return isEmptyPlan(plan) ? counts : `${interruptions(summary)}; ${counted(summary.calls, 'API call')}; ${counts}`
}

const sinceWords = (since: PlanPageOptions['since']): Markup => {
  if (since === undefined) return NOTHING
  const { introduced, drift, settled, released, gaps = [] } = since.origin
  const settledWords =
    settled.length === 0 ? '' : ` The manifests now accept drift of ${counted(settled.length, 'compute')}.`
  return markup`<p class="since">Introduced since <code>${since.ref}</code>: ${counted(introduced.length, 'change')}. Existing drift: ${counted(drift.length, 'change')}.${settledWords}${released.length === 0 ? '' : ` No longer managed: ${counted(released.length, 'compute')}.`}${gaps.map((gap) => ` ${gap}`)}</p>`
}

const driftOf = (origin: Origin | undefined) => {
  const drift = new Set(origin?.drift.map(({ id }) => id))
  return ({ id }: { readonly id: string }) => (origin === undefined ? undefined : drift.has(id))
}

const stepsSection = (plan: Plan, { observed, concurrency }: PlanPageOptions): Markup => {
  const schedule = foretell(plan, observed, concurrency)
  const median = plan.estimates.reduce((most, { medianMs }) => Math.max(most, medianMs), 0)
  const slow = plan.estimates.reduce((most, { p95Ms }) => Math.max(most, p95Ms), 0)
  const basis =
    schedule.scale.unit === 'turn'
      ? 'Durations are unknown, so all steps are drawn with the same length.'
      : `About ${time(median)}, at most ${time(slow)} in 19 of 20 cases, from the project's past operations; steps with unknown durations are drawn as ${time(UNKNOWN_MS)}.`
  return markup`<section aria-labelledby="steps"><h2 id="steps">${counted(plan.steps.length, 'step')}, in order</h2>
<p class="lead">Projects run concurrently, with one step at a time in each. ${basis}</p>
${chart({ label: 'Steps along time', lanes: lanesOf(plan, schedule), scale: schedule.scale })}</section>`
}

const lanesOf = (plan: Plan, { spans, scale }: Schedule): readonly Lane[] => {
  const numbers = new Map(plan.steps.map((step, index) => [step.id, index + 1]))
  const changes = new Map(plan.changes.map(({ id }, index) => [id, index + 1]))
  const titleOf = projectTitle(plan)
  return byProject(plan.steps).map((steps) => {
    const project = steps[0]?.project ?? ''
    const rows = steps.map((step): Row => rowOf(step, spans.get(step.id), scale.unit === 'ms', { numbers, changes }))
    const end = rows.at(-1)?.span?.end ?? 0
    const disruptive = steps.filter(({ impact }) => isDisruptive(impact)).length
    return {
      title: titleOf(project),
      facts: laneFacts(
        rows,
        disruptive === 0 ? '' : `${disruptive} ${disruptive === 1 ? 'interrupts' : 'interrupt'}`,
        scale.unit === 'ms' ? `about ${time(end)}` : '',
      ),
      rows,
    }
  })
}

interface Numbering {
  readonly numbers: ReadonlyMap<string, number>
  readonly changes: ReadonlyMap<string, number>
}

const rowOf = (step: Step, span: Row['span'], isTimed: boolean, { numbers, changes }: Numbering): Row => {
  const look = IMPACT_LOOKS[step.impact]
  const length = span === undefined || !isTimed ? '' : time(span.end - span.start)
  const impact = isDisruptive(step.impact) ? shortImpact(step.impact) : ''
  const refused = step.refused === undefined ? '' : 'refused'
  const window = step.windows === undefined || !isDisruptive(step.impact) ? '' : 'in its window'
  const waits = step.after.map((id) => numbers.get(id)).filter((one) => one !== undefined)
  return {
    number: numbers.get(step.id) ?? 0,
    step,
    change: changes.get(step.change) ?? 0,
    ...(span === undefined ? {} : { span }),
    tone: look.tone,
    ...(isDisruptive(step.impact) ? { icon: look.icon } : {}),
    words: [refused, impact, window, length].filter((one) => one !== '').join(' · '),
    description: [
      shortImpact(step.impact),
      ...(refused === '' ? [] : ['refused, it will not run']),
      ...(step.windows === undefined ? [] : [windowWords(step)]),
      ...(length === '' || span === undefined ? [] : [`starts after about ${time(span.start)}, takes about ${length}`]),
      ...(waits.length === 0 ? [] : [`after ${waits.map((one) => `step ${one}`).join(', ')}`]),
    ].join('; '),
  }
}

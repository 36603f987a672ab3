/** The HTML page for a plan and, once it was applied, for what became of it. */
import { counted, group } from '../../base/index.ts'
import { isEmptyPlan, type Observed, type Plan, type Released } from '../../model/index.ts'
import { projectTitle, type Since } from '../words/names.ts'
import { coverageLine, emptyVerdict, interruptions, planLine } from '../words/plan-lines.ts'
import { releasedParts } from '../words/released.ts'
import { changesSection } from './changes.ts'
import { chipList, joined, type Markup, markup, NOTHING, noteList, timestamp, verdictHeading, when } from './markup.ts'
import { type PageFrame, page } from './page.ts'
import { type PlanRun, type RunResults, resultsOf } from './run.ts'
import {
  capacitySection,
  checksSection,
  chips,
  costSection,
  interruptionsSection,
  leftOutSection,
  legend,
  releasedSections,
  unmanagedSection,
  warningsSection,
} from './sections.ts'
import { RESULT_LEGEND, stepsSection } from './steps.ts'

interface PlanPageOptions extends PageFrame {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string | undefined
  /** The age of the snapshot file that the plan was made against, such as `3 h`. */
  readonly age?: string
  /** The snapshot that the plan was made from. */
  readonly observed?: Observed
  readonly since?: Since
  /** Set if the plan was applied. The page then shows the results. */
  readonly run?: PlanRun
}

export const planPage = (plan: Plan, options: PlanPageOptions): string => {
  const { since, observed, run } = options
  const released = since?.origin.released ?? []
  const hasChanges = !isEmptyPlan(plan)
  const results = run && resultsOf(plan, run)
  const verdict = results?.verdict.words ?? (hasChanges ? planLine(plan.summary) : emptyVerdict(plan, { released }))
  const drift = new Set(since?.origin.drift.map(({ id }) => id))
  return page(options, {
    title: `${verdict} ${plan.projects.slice(0, 3).map(projectTitle(plan)).join(', ')}`,
    command: results === undefined ? 'plan' : 'apply',
    seen: seenAt(options, results),
    head: markup`${results === undefined ? markup`<h1>${verdict}</h1>` : verdictHeading(results.verdict.look, verdict)}
<p class="facts">${factsOf(plan, results)}</p>${projectLine(plan)}
${since === undefined ? NOTHING : sinceLine(since)}${when(hasChanges && results === undefined, () => chipList(chips(plan)))}${noteList(results?.notes ?? [])}`,
    body: planSections(plan, { results, observed, released, drift }),
  })
}

interface SectionsOptions {
  readonly results?: RunResults | undefined
  readonly observed?: Observed | undefined
  readonly released: readonly Released[]
  /** The ids of the changes that undo drift. */
  readonly drift?: ReadonlySet<string>
}

export const planSections = (
  plan: Plan,
  { results, observed, released, drift = new Set() }: SectionsOptions,
): readonly Markup[] => {
  const hasChanges = !isEmptyPlan(plan)
  return [
    leftOutSection(plan),
    warningsSection(plan),
    when(
      hasChanges,
      () => markup`<div class="pair-up">${interruptionsSection(plan, results)}${capacitySection(plan.summary)}</div>`,
    ),
    checksSection(plan),
    costSection(plan),
    when(hasChanges, () => stepsSection(plan, results)),
    changesSection(plan, observed, { isDrift: ({ id }) => drift.has(id), resultOf: results?.of }),
    releasedSections(released, plan),
    unmanagedSection(plan.unmanaged),
    when(hasChanges, () => legend(results === undefined ? [] : RESULT_LEGEND)),
  ]
}

const factsOf = (plan: Plan, results: RunResults | undefined): string => {
  const counts = `${coverageLine(plan)}.`
  if (isEmptyPlan(plan)) return counts
  if (results !== undefined) return `${planLine(plan.summary)} ${results.duration}`
  const noticed = interruptions(plan)
  return `${noticed === '' ? '' : `${noticed}; `}${counted(plan.summary.calls, 'API call')}; ${counts}`
}

const MOST_NAMES = 6

const projectLine = (plan: Plan): Markup => {
  const names = plan.projects.slice(0, MOST_NAMES).map(projectTitle(plan))
  const count = plan.projects.length
  const more = count > MOST_NAMES ? ` and ${group(count - MOST_NAMES)} more` : ''
  return markup`<p class="projects">${count === 1 ? 'Project' : `${counted(count, 'project')}:`} ${joined(
    names.map((name) => markup`<b>${name}</b>`),
    ', ',
  )}${more}</p>`
}

const seenAt = ({ takenAt, age }: PlanPageOptions, results: RunResults | undefined): Markup => {
  const at = results === undefined ? takenAt : results.startedAt
  if (at === undefined) return NOTHING
  if (results !== undefined) return markup`Started at ${timestamp(at)}`
  return markup`Snapshot of ${timestamp(at)}${age === undefined ? '' : `, ${age} before this page was made`}`
}

const sinceLine = ({ ref, origin }: Since): Markup => {
  const { introduced, drift, settled, released, gaps = [] } = origin
  const words = [
    `: ${counted(introduced.length, 'change')}. Existing drift: ${counted(drift.length, 'change')}.`,
    ...(settled.length === 0 ? [] : [`The manifests now accept drift of ${counted(settled.length, 'compute')}.`]),
    ...releasedParts(released).map(({ title, counts }) => `${title}: ${counts}.`),
    ...gaps,
  ]
  return markup`<p class="since">Introduced since <code>${ref}</code>${words.join(' ')}</p>`
}

/** The shorter sections that pages share. */
import { counted } from '../../base/index.ts'
import {
  CHANGE_KINDS,
  type ChangeKind,
  CONSENTS,
  computeTitle,
  IMPACT_WORDS,
  IMPACTS,
  type Plan,
  type PlanSummary,
  type Released,
  type UnmanagedCompute,
} from '../../model/index.ts'
import { type Alike, alike, alikeByProject, warningsBeside } from '../words/alike.ts'
import { costDetails, planCostWords } from '../words/cost.ts'
import { number } from '../words/counts.ts'
import { IMPACT_MARKS, impactCount, impactCounts, impactWords, interrupting, noneWords } from '../words/impacts.ts'
import { computeOnBranch, messageOf, place, planNames, projectTitle } from '../words/names.ts'
import {
  ifInUse,
  type Measure,
  measuresOf,
  policyLines,
  projectsLeftOut,
  type Range,
  skippedLines,
} from '../words/plan-lines.ts'
import { releasedComputes, releasedGroups, releasedHint, releasedParts, unmanagedState } from '../words/released.ts'
import { andMore, chip, icon, kindLabel, type Markup, markup, NOTHING, section, type Value, when } from './markup.ts'
import type { RunResults } from './run.ts'

/** How many changes this section lists. The chart and the cards show all of them. */
const MOST_NAMED = 12
/** How many items other sections list. The JSON plan contains all of them. */
const MOST = 500

export const chips = ({ summary, changes }: Pick<Plan, 'summary' | 'changes'>): readonly Markup[] => {
  const shown = [
    ...impactCounts(summary).map(([impact, count]) => chip(IMPACT_MARKS[impact], impactCount(impact, count))),
    ...ifInUse(changes).map(([impact, words]) => chip(IMPACT_MARKS[impact], words)),
  ]
  const refused = chip({ icon: 'shield', tone: 'quiet' }, `${summary.refused} refused`)
  const all = [...shown, ...(summary.refused > 0 ? [refused] : [])]
  return all.length > 0 ? all : [chip(IMPACT_MARKS.none, noneWords(changes))]
}

export const warningsSection = (plan: Plan): Markup => {
  const warnings = warningsBeside(plan)
  return when(warnings.length > 0, () =>
    section('warnings', counted(warnings.length, 'warning'), diagnosticList(alike(warnings, plan)), 'warnings'),
  )
}

const diagnosticList = (problems: readonly Alike[]): Markup =>
  markup`<ul>${problems.map(({ diagnostic, same }) => {
    const { code, source } = diagnostic
    const where = source === undefined ? '' : markup` <code>${place(source)}</code>`
    return markup`<li>${icon('warning')}<p><b>${code}</b> ${messageOf(diagnostic)}${where}${same.map((words) => ` ${words}`)}</p></li>
`
  })}</ul>`

export const leftOutSection = (plan: Plan): Markup => {
  if (plan.leftOut === undefined) return NOTHING
  const lists = alikeByProject(plan).map(
    ({ title, problems }) => markup`<h3>Project <code>${title}</code></h3>${diagnosticList(problems)}`,
  )
  return section('left-out', `Left out: ${projectsLeftOut(plan)} could not be planned`, lists, 'warnings')
}

/** A list item for a compute that does not change. */
export const stillItem = (title: string, id: string, state: string, note: string, more: Value = NOTHING): Markup =>
  markup`<li>${icon('ring')}<span>${title}</span> <code>${id}</code> <span>${state}</span> <em>${note}</em>${more}</li>
`

const stillList = <T extends Pick<UnmanagedCompute, 'project' | 'branch' | 'compute'>>(
  all: readonly T[],
  noteOf: (one: T) => string,
  moreOf?: (one: T) => Markup,
): Markup => {
  const items = all.slice(0, MOST).map((one) => {
    return stillItem(computeOnBranch(one), one.compute.id ?? '', unmanagedState(one), noteOf(one), moreOf?.(one))
  })
  return markup`<ul class="still">${items}</ul>${andMore(all.length, MOST)}`
}

export const releasedSections = (released: readonly Released[], plan: Plan): Markup => {
  const titleOf = projectTitle(plan)
  const names = planNames(plan, released)
  const sections = releasedParts(released).map(({ id, title, counts, own }) => {
    const computes = releasedComputes(own)
    const list = stillList(
      computes,
      ({ project }) => titleOf(project),
      ({ source }) => markup` <span>was declared at <code>${place(source)}</code></span>`,
    )
    const groups = releasedGroups(own, names).map(
      ({ what, where, result }) => markup`<li><code>${what}</code> on ${where}: ${result}</li>`,
    )
    return section(
      id,
      `${title}: ${counts}`,
      markup`${when(computes.length > 0, () => markup`<p class="lead">${releasedHint(computes)}</p>\n${list}`)}${when(groups.length > 0, () => markup`<ul>${groups.slice(0, MOST)}</ul>${andMore(groups.length, MOST)}`)}`,
    )
  })
  return markup`${sections}`
}

/** Lists the disruptive changes, with the worst first. After a run, it also shows how their steps ended. */
export const interruptionsSection = ({ changes, projects, steps }: Plan, results: RunResults | undefined): Markup => {
  const title = results === undefined ? 'Who is interrupted' : 'Planned interruptions'
  const loud = interrupting(changes)
  if (loud.length === 0) return section('interrupts', title, markup`<p class="lead">Nobody.</p>`)
  const items = loud.slice(0, MOST_NAMED).map((change) => {
    const name = markup`${computeTitle(change.compute)} <span>on</span> ${change.branch.name}${when(projects.length > 1, () => markup` <small>${change.project}</small>`)}`
    const refused = when(
      change.refused !== undefined,
      () => markup`<span class="refused">refused: it will not run</span>`,
    )
    const ended = results && steps.filter((step) => step.change === change.id).map(results.of)
    return markup`<li><a href="#change-${changes.indexOf(change) + 1}">${name}</a>${chip(IMPACT_MARKS[change.impact], impactWords(change))}${refused}${ended?.map(({ look, words }) => chip(look, words))}</li>
`
  })
  return section(
    'interrupts',
    title,
    markup`<ul class="loud">${items}</ul>${andMore(loud.length, MOST_NAMED, ' below')}`,
  )
}

export const unmanagedSection = (unmanaged: readonly UnmanagedCompute[]): Markup => {
  if (unmanaged.length === 0) return NOTHING
  const body = markup`<p class="lead">No manifest declares them.</p>
<details class="more"><summary>${counted(unmanaged.length, 'compute')}</summary>${stillList(unmanaged, ({ project }) => project)}</details>`
  return section('unmanaged', 'Unmanaged', body)
}

const KIND_WORDS: Readonly<Record<ChangeKind, string>> = {
  create: 'a compute is created',
  update: 'attributes change',
  move: 'a compute moves to another branch',
  replace: 'a compute is deleted and a new one created',
  delete: 'a compute is deleted',
}

export const legend = (more: readonly Markup[] = []): Markup => {
  const rows = [
    ...IMPACTS.map((impact) => legendRow(chip(IMPACT_MARKS[impact], impact), IMPACT_WORDS[impact])),
    ...CHANGE_KINDS.map((kind) => legendRow(kindLabel(kind), KIND_WORDS[kind])),
    legendRow(markup`<span class="key was" aria-hidden="true"></span> now`, 'the upper bar of a pair'),
    legendRow(markup`<span class="key will" aria-hidden="true"></span> after`, 'the lower bar of a pair'),
    ...more,
  ]
  const body = markup`<dl>${rows}</dl><p class="lead"><code>--allow</code> accepts ${CONSENTS.join(', ')}; restart is allowed by default. <code>espalier explain CODE</code> explains each code.</p>`
  return section('legend', 'How to read this', body, 'legend')
}

export const legendRow = (key: Markup, words: string): Markup => markup`<div><dt>${key}</dt><dd>${words}</dd></div>
`

export const capacitySection = ({ capacity }: Pick<PlanSummary, 'capacity'>): Markup => {
  const body = markup`<p class="lead">The capacity of all computes in the planned projects before and after the plan, at their maximum size.</p>
<ul class="measures">${measuresOf(capacity).map(tile)}</ul>`
  return section('capacity', 'Capacity', body)
}

const tile = ({ name, unit, before, after }: Measure): Markup => {
  const most = Math.max(before.to, after.to, 1e-9)
  const share = (value: number): string => `${Math.round((Math.max(0, value) / most) * 10_000) / 100}%`
  return markup`<li><h3>${name}</h3>
<p class="figure">${when(before.words !== after.words, () => markup`<span class="from"><span class="vh">from </span>${before.words}</span> <span class="to-sign" aria-hidden="true">→</span><span class="vh">to</span> `)}<span class="to">${after.words}</span> <span class="delta">${delta(before.to, after.to, unit)}</span></p>
<svg height="1.25em" aria-hidden="true" focusable="false">${rangeBar('was', share, before, 0)}${rangeBar('will', share, after, 0.7)}</svg></li>
`
}

/** A solid bar up to the lower limit, and a lighter one up to the upper limit. */
export const rangeBar = (
  name: string,
  share: (value: number) => string,
  { from, to }: Pick<Range, 'from' | 'to'>,
  y: number,
): Markup =>
  markup`${when(from < to, () => markup`<rect class="${name} reach" width="${share(to)}" y="${y}em" height="0.5em" rx="2"/>`)}<rect class="${name}" width="${share(from)}" y="${y}em" height="0.5em" rx="2"/>`

const delta = (before: number, after: number, unit: string): string => {
  const difference = Math.round((after - before) * 100) / 100
  if (difference === 0) return 'unchanged'
  const sign = difference > 0 ? '+' : '−'
  const share = before === 0 ? '' : ` (${sign}${Math.round((Math.abs(difference) / before) * 100)}%)`
  return `${sign}${number(Math.abs(difference))}${unit}${share}`
}

export const costSection = (plan: Plan): Markup => {
  const words = planCostWords(plan)
  const lines = costDetails(plan)
  if (words === undefined && lines.length === 0) return NOTHING
  const body = markup`${when(words !== undefined, () => markup`<p>${words}</p>`)}
<details class="more"><summary>Details</summary><ul class="still">${lines.slice(0, MOST).map(
    (line) => markup`<li><span>${line}</span></li>
`,
  )}</ul>${andMore(lines.length, MOST)}</details>`
  return section('cost', 'Cost and service updates', body)
}

export const checksSection = (plan: Plan): Markup => {
  const items = [
    ...policyLines(plan)
      .slice(0, MOST)
      .map(({ text, isDenied }) => [isDenied ? 'shield' : 'warning', text] as const),
    ...(plan.policies?.changes ?? []).map(
      (text) => ['warning', `${text}${text.startsWith('After') ? '' : ', after the merge'}`] as const,
    ),
    ...skippedLines(plan)
      .slice(0, MOST)
      .map((line) => ['clock', `Skipped: ${line}`] as const),
  ].map(
    ([mark, text]) => markup`<li>${icon(mark)}<p>${text}</p></li>
`,
  )
  return when(items.length > 0, () =>
    section('checks', 'Policies and skipped changes', markup`<ul>${items}</ul>`, 'warnings'),
  )
}

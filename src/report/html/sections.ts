/** The shorter sections that pages share. */
import { counted, groupBy } from '../../base/index.ts'
import {
  type ChangeCounts,
  type ChangeKind,
  CONSENTS,
  computeTitle,
  type Diagnostic,
  IMPACT_WORDS,
  IMPACTS,
  type Plan,
  type ReleasedCompute,
  type UnmanagedCompute,
} from '../../model/index.ts'
import { impactCount, impactCounts, impactWords, isDisruptive, worstFirst } from '../words/impacts.ts'
import { IMPACT_MARKS } from '../words/marks.ts'
import { computeOnBranch, messageOf, place, projectTitle, withNamesOf } from '../words/names.ts'
import { projectsLeftOut, RELEASED_HINT } from '../words/plan-lines.ts'
import { chip, icon, kindLabel } from './icons.ts'
import { andMore, type Markup, markup, NOTHING, section, type Value, when } from './markup.ts'
import type { RunResults } from './run.ts'

/** How many changes this section lists. The chart and the cards show all of them. */
const MOST_NAMED = 12
const MOST_UNMANAGED = 500

export const chips = (summary: ChangeCounts): readonly Markup[] => {
  const shown = impactCounts(summary).map(([impact, count]) => chip(IMPACT_MARKS[impact], impactCount(impact, count)))
  const refused = chip({ icon: 'shield', tone: 'quiet' }, `${summary.refused} refused`)
  const all = [...shown, ...(summary.refused > 0 ? [refused] : [])]
  return all.length > 0 ? all : [chip(IMPACT_MARKS.none, IMPACT_WORDS.none)]
}

export const warningsSection = ({ warnings, ...plan }: Plan): Markup =>
  when(warnings.length > 0, () =>
    section('warnings', counted(warnings.length, 'warning'), diagnosticList(warnings, plan), 'warnings'),
  )

const diagnosticList = (diagnostics: readonly Diagnostic[], plan: Pick<Plan, 'projectNames'>): Markup =>
  markup`<ul>${diagnostics.map(withNamesOf(plan)).map((diagnostic) => {
    const { code, source } = diagnostic
    const where = source === undefined ? '' : markup` <code>${place(source)}</code>`
    return markup`<li>${icon('warning')}<p><b>${code}</b> ${messageOf(diagnostic)}${where}</p></li>
`
  })}</ul>`

export const leftOutSection = (plan: Plan): Markup => {
  if (plan.leftOut === undefined) return NOTHING
  const titleOf = projectTitle(plan)
  const lists = plan.leftOut.map(
    ({ project, diagnostics }) =>
      markup`<h3>Project <code>${titleOf(project)}</code></h3>${diagnosticList(diagnostics, plan)}`,
  )
  return section('left-out', `Left out: ${projectsLeftOut(plan)} could not be planned`, lists, 'warnings')
}

/** A list item for a compute that does not change. */
export const stillItem = (title: string, id: string, state: string, note: string, more: Value = NOTHING): Markup =>
  markup`<li>${icon('ring')}<span>${title}</span> <code>${id}</code> <span>${state}</span> <em>${note}</em>${more}</li>
`

export const releasedSection = (released: readonly ReleasedCompute[], plan: Plan): Markup => {
  if (released.length === 0) return NOTHING
  const titleOf = projectTitle(plan)
  const items = released.slice(0, MOST_UNMANAGED).map((one) => {
    const { id = '', state = '' } = one.compute
    const declared = markup` <span>was declared at <code>${place(one.source)}</code></span>`
    return stillItem(computeOnBranch(one), id, state, titleOf(one.project), declared)
  })
  const body = markup`<p class="lead">${RELEASED_HINT}</p>
<ul class="still">${items}</ul>${andMore(released.length, MOST_UNMANAGED)}`
  return section('released', `No longer managed: ${counted(released.length, 'compute')}`, body)
}

/** Lists the disruptive changes, with the worst first. After a run, it also shows how their steps ended. */
export const interruptionsSection = ({ changes, projects, steps }: Plan, results: RunResults | undefined): Markup => {
  const title = results === undefined ? 'Who is interrupted' : 'Planned interruptions'
  const numbers = new Map(changes.map(({ id }, index) => [id, index + 1]))
  const loud = worstFirst(changes.filter(({ impact }) => isDisruptive(impact)))
  if (loud.length === 0) return section('interrupts', title, markup`<p class="lead">Nobody.</p>`)
  const stepsOf = groupBy(steps, ({ change }) => change)
  const items = loud.slice(0, MOST_NAMED).map((change) => {
    const name = markup`${computeTitle(change.compute)} <span>on</span> ${change.branch.name}${when(projects.length > 1, () => markup` <small>${change.project}</small>`)}`
    const refused = when(
      change.refused !== undefined,
      () => markup`<span class="refused">refused: it will not run</span>`,
    )
    const ended = results && (stepsOf.get(change.id) ?? []).map(results.of)
    return markup`<li><a href="#change-${numbers.get(change.id)}">${name}</a>${chip(IMPACT_MARKS[change.impact], impactWords(change))}${refused}${ended?.map(({ look, words }) => chip(look, words))}</li>
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
  const items = unmanaged.slice(0, MOST_UNMANAGED).map((one) => {
    const { id = '', state = '' } = one.compute
    return stillItem(computeOnBranch(one), id, state, one.project)
  })
  const body = markup`<p class="lead">No manifest declares them.</p>
<details class="more"><summary>${counted(unmanaged.length, 'compute')}</summary><ul class="still">${items}</ul>${andMore(unmanaged.length, MOST_UNMANAGED)}</details>`
  return section('unmanaged', 'Unmanaged', body)
}

const KINDS: readonly (readonly [kind: ChangeKind, words: string])[] = [
  ['create', 'a compute is created'],
  ['update', 'attributes change'],
  ['move', 'a compute moves to another branch'],
  ['replace', 'a compute is deleted and a new one created'],
  ['delete', 'a compute is deleted'],
]

export const legend = (more: readonly Markup[] = []): Markup => {
  const rows = [
    ...IMPACTS.map((impact) => legendRow(chip(IMPACT_MARKS[impact], impact), IMPACT_WORDS[impact])),
    ...KINDS.map(([kind, words]) => legendRow(kindLabel(kind), words)),
    legendRow(markup`<span class="key was" aria-hidden="true"></span> now`, 'the upper bar of a pair'),
    legendRow(markup`<span class="key will" aria-hidden="true"></span> after`, 'the lower bar of a pair'),
    ...more,
  ]
  const body = markup`<dl>${rows}</dl><p class="lead"><code>--allow</code> accepts ${CONSENTS.join(', ')}; restart is allowed by default. <code>espalier explain CODE</code> explains each code.</p>`
  return section('legend', 'How to read this', body, 'legend')
}

export const legendRow = (key: Markup, words: string): Markup => markup`<div><dt>${key}</dt><dd>${words}</dd></div>
`

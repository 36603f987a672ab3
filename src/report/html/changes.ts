/** Lists changes by project and branch, together with the computes that do not change. */
import { counted, groupBy, plainJson } from '../../base/index.ts'
import {
  type Capacity,
  type Change,
  computeTitle,
  formatSize,
  IMPACTS,
  isIdle,
  type Observed,
  type ObservedCompute,
  type Plan,
  REASONS,
  type Step,
} from '../../model/index.ts'
import { number, time } from '../words/counts.ts'
import { effectLines } from '../words/effects.ts'
import { IMPACT_MARKS, impactWords, interrupting, noneWords, windowWords } from '../words/impacts.ts'
import { type NumberedStep, numberedSteps, place, projectTitle } from '../words/names.ts'
import {
  chip,
  icon,
  joined,
  kindLabel,
  LINE_END,
  type Markup,
  markup,
  NOTHING,
  section,
  trusted,
  type Value,
  when,
} from './markup.ts'
import type { StepResult } from './run.ts'
import { rangeBar, stillItem } from './sections.ts'

/** With more changes than this, projects are collapsed. */
const MOST_OPEN = 60

export const changesSection = (plan: Plan, observed: Observed | undefined, context: CardContext): Markup => {
  const { changes } = plan
  if (changes.length === 0) return NOTHING
  const steps = groupBy(numberedSteps(plan), ({ change }) => change)
  const unchanged = unchangedComputes(plan, observed)
  const titleOf = projectTitle(plan)
  const numbered = changes.map((change, index) => ({ change, number: index + 1 }))
  const branchBlock = (own: typeof numbered, { branch, project }: Change): Markup =>
    markup`<div class="branch" data-branch="${branch.name}"><h4>${branch.name} <code>${branch.id}</code></h4>
<ol>${own.map(({ change, number }) => changeCard(change, number, steps.get(number) ?? [], context))}</ol>${unchanged(project, branch.id)}</div>
`
  const projects = [...groupBy(numbered, ({ change }) => change.project)].map(([id, own]) => {
    const name = titleOf(id)
    const branches = groupBy(own, ({ change }) => change.branch.id).values()
    return markup`<details class="project" data-project="${id}"${when(changes.length <= MOST_OPEN, () => markup` open`)}><summary><h3>${name === id ? '' : markup`${name} `}<code>${id}</code></h3><span class="counts">${projectFacts(own.map(({ change }) => change))}</span></summary>
${[...branches].flatMap((ofBranch) => ofBranch.slice(0, 1).map(({ change }) => branchBlock(ofBranch, change)))}</details>
`
  })
  const className = changes.length > MOST_OPEN ? 'many' : undefined
  return markup`${filters(changes)}${section('changes', 'Branches and their computes', projects, className)}`
}

const projectFacts = (changes: readonly Change[]): string => {
  const loud = interrupting(changes).length
  return `${counted(changes.length, 'change')}, ${loud === 0 ? noneWords(changes) : `${loud} of them interrupt${loud === 1 ? 's' : ''}`}`
}

/** Returns a function that lists the computes of a branch that the plan does not change. */
const unchangedComputes = (plan: Plan, observed: Observed | undefined) => {
  const touched = new Set(plan.changes.map(({ compute }) => compute.id))
  const unmanaged = new Set(plan.unmanaged.map(({ compute }) => compute.id))
  const untouched = new Map(
    observed?.projects.map(({ id, computes }) => [
      id,
      groupBy(
        computes.filter((compute) => !touched.has(compute.id)),
        ({ branchId }) => branchId,
      ),
    ]),
  )
  const itemOf = (compute: ObservedCompute): Markup => {
    const { name, size } = compute.attributes
    const title = computeTitle({ type: compute.type, name })
    const state = `${size === undefined ? '' : `${formatSize(size)}, `}${isIdle(compute) ? 'idle' : compute.state}`
    return stillItem(title, compute.id, state, unmanaged.has(compute.id) ? 'unmanaged' : 'unchanged')
  }
  return (project: string, branch: string): Markup => {
    const own = untouched.get(project)?.get(branch) ?? []
    return when(own.length > 0, () => markup`<ul class="still">${own.map(itemOf)}</ul>`)
  }
}

/** The form that filters changes. It is hidden until its script runs. */
const filters = (changes: readonly Change[]): Markup => {
  if (changes.length < 2) return NOTHING
  const projects = [...new Set(changes.map(({ project }) => project))]
  const impacts = IMPACTS.filter((one) => changes.some(({ impact }) => impact === one))
  const kinds = [...new Set(changes.map(({ kind }) => kind))]
  return markup`<search><form id="filters" hidden aria-label="Filter the changes">
${when(projects.length > 1, () => select('project', projects))}<p><label for="f-branch">branch</label><input id="f-branch" name="branch" type="search" autocomplete="off" spellcheck="false" placeholder="any"></p>
${select('impact', impacts)}${select('kind', kinds)}<p class="buttons"><button type="reset">Clear</button><button type="button" id="unfold">Open all</button></p>
<p role="status" aria-live="polite" id="shown"></p></form></search>`
}

const select = (name: string, values: readonly string[]): Markup =>
  markup`<p><label for="f-${name}">${name}</label><select id="f-${name}" name="${name}"><option value="">any</option>${values.map(
    (value) => markup`<option>${value}</option>`,
  )}</select></p>
`

// The card of a change. It shows the values before and after, the impact, and the requests.

interface CardContext {
  /** How a step ended. Absent before the run. */
  readonly resultOf?: ((step: Step) => StepResult) | undefined
  isDrift?(change: Change): boolean
}

const changeCard = (change: Change, index: number, steps: readonly NumberedStep[], context: CardContext): Markup => {
  const { kind, compute, impact, reasons, refused, source } = change
  return markup`<li class="change" id="change-${index}" data-c="${index}" data-impact="${impact}" data-kind="${kind}">
<div class="who"><p>${kindLabel(kind)}</p><h5>${computeTitle(compute)}</h5>
<p class="id">${compute.id === undefined ? 'a new one' : markup`<code>${compute.id}</code> ${compute.state ?? ''}`}</p>${when(
    context.isDrift?.(change) === true,
    () => markup`<p class="drift">existing drift</p>`,
  )}</div>
<div class="values">${valueTable(change)}</div>
<div class="effect"><p>${chip(IMPACT_MARKS[impact], impactWords(change))}</p>${effectLines(change).map(
    ({ text, warns }) => markup`<p class="quiet">${warns ? markup`<b>${text}</b>` : text}</p>`,
  )}${when(
    change.windows !== undefined,
    () => markup`<p class="window">${icon('clock')}${windowWords(change)}</p>`,
  )}${when(refused !== undefined, () => markup`<p class="refused">${icon('shield')}<b>refused:</b> ${refused}</p>`)}
<p class="why">${reasons.map((reason) => REASONS[reason]).join('; ')} <span class="codes">${reasons.join(', ')}</span></p>
<p class="place">${source === undefined ? 'not declared' : markup`<code>${place(source)}</code>`}</p></div>
<div class="steps">${steps.map((one) => stepBlock(one, context))}</div></li>
`
}

const valueTable = ({ kind, compute, from, branch, attributes, before, after }: Change): Markup => {
  const row = (name: string, was: string | undefined, is: string | undefined, isDerived = false): Markup =>
    markup`<tr${when(isDerived, () => markup` class="derived"`)}><th scope="row">${breakable(name)}</th><td>${was ?? none()}</td><td>${is ?? none()}</td></tr>
`
  const derived = (name: string, words: (capacity: Capacity) => string): Markup => {
    const [was, is] = [before && words(before), after && words(after)]
    return when(was !== is, () => row(name, was, is, true))
  }
  return markup`<table><caption class="vh">Before and after</caption><thead><tr><th scope="col">attribute</th><th scope="col">now</th><th scope="col">after</th></tr></thead><tbody>
${[
  when(kind === 'delete', () => row('compute', 'exists', 'deleted')),
  when(kind === 'replace', () => row('compute', compute.id ?? 'exists', 'a new one, with a new host')),
  from === undefined ? NOTHING : row('branch', from.name, branch.name),
  ...attributes.map(({ path, beforeText, afterText }) => row(path, beforeText, afterText)),
  derived('RAM', ({ ramGb }) => `${number(ramGb)} GB`),
]}</tbody></table>${rangeFigure(before, after)}`
}

/** Allows line breaks in long paths. */
const breakable = (path: string): Value => joined(path.split(/(?<=[._])/), trusted('<wbr>'))

const none = (): Markup => markup`<span aria-hidden="true">–</span><span class="vh">none</span>`

/** Where the scale starts. It is below the smallest size, so that the bar of the smallest size is visible. */
const LEFT_CU = 0.125
const RIGHT_CU = 64

/** Draws the sizes before and after as bars on a logarithmic scale. */
const rangeFigure = (before: Capacity | undefined, after: Capacity | undefined): Markup => {
  if (before === undefined && after === undefined) return NOTHING
  const share = (cu: number): string => {
    const part = Math.log2(cu / LEFT_CU) / Math.log2(RIGHT_CU / LEFT_CU)
    return `${Math.round(Math.min(1, Math.max(0, part)) * 9_400) / 100}%`
  }
  const drawn = (name: string, capacity: Capacity | undefined, y: number): Markup =>
    capacity === undefined ? NOTHING : rangeBar(name, share, { from: capacity.size.min, to: capacity.size.max }, y)
  return markup`<svg class="range" height="2.7em" aria-hidden="true" focusable="false">${[0.25, 1, 4, 16, RIGHT_CU].map(
    (cu) =>
      markup`<line class="grid" x1="${share(cu)}" x2="${share(cu)}" y1="0" y2="1.55em"/><text x="${share(cu)}" y="2.9em">${cu === RIGHT_CU ? '64 CU' : cu}</text>`,
  )}${drawn('was', before, 0.15)}${drawn('will', after, 0.85)}</svg>`
}

/** A step: its request, and how it ended. */
const stepBlock = ({ step, number: own, waitsFor }: NumberedStep, { resultOf }: CardContext): Markup => {
  const { request, consents, rule } = step
  const result = resultOf?.(step)
  const body = request.body === undefined ? undefined : plainJson(request.body, 2)
  return markup`${result && resultMessage(result, own)}<details class="step" id="step-${own}"><summary><span class="no">${own}</span><span class="sr">${step.reason === 'PARKED' ? 'park' : step.kind}</span> <code>${request.method} ${request.path}</code>${result && resultSummary(result)}</summary>
${body === undefined ? markup`<p class="quiet">The request has no body.</p>` : markup`<pre tabindex="0" role="group" aria-label="Body of the request">${joined(body.split('\n'), LINE_END)}</pre>`}
<dl>${when(
    waitsFor.length > 0,
    () =>
      markup`<dt>after</dt><dd>${joined(
        waitsFor.map((one) => markup`<a href="#step-${one}">step ${one}</a>`),
        ', ',
      )}</dd>`,
  )}${when(
    consents.length > 0,
    () => markup`<dt>needs</dt><dd>--allow ${consents.join(',')}</dd>`,
  )}<dt>rule</dt><dd>${rule}</dd></dl></details>
`
}

const resultSummary = ({ look, words, span }: StepResult): Markup =>
  markup` ${chip(look, words)}${span === undefined ? NOTHING : markup` <span class="took">${time(span.end - span.start)}</span>`}`

/** Shown even while the request is collapsed. Of the steps that ended for the same reason, only the first shows it. */
const resultMessage = ({ look, words, outcome, alike: [first = 0, ...others] }: StepResult, own: number): Markup => {
  if (outcome?.message === undefined) return NOTHING
  const rest = others.length === 0 ? '' : ` The same for ${counted(others.length, 'other step')}.`
  const why = first === own ? markup`${outcome.message}${rest}` : markup`see <a href="#step-${first}">step ${first}</a>`
  return markup`<p class="message ${look.tone}">${icon(look.icon)}<span><b>${words}${outcome.reason === undefined ? '' : ` (${outcome.reason})`}</b> ${why}</span></p>`
}

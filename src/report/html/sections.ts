/** Short sections of the pages. */
import {
  type Change,
  type ChangeCounts,
  type ChangeKind,
  CONSENTS,
  type Diagnostic,
  IMPACT_WORDS,
  IMPACTS,
  type Plan,
  type ReleasedCompute,
  type UnmanagedCompute,
} from '../../model/index.ts'
import {
  computeTitle,
  counted,
  group,
  impactWords,
  isDisruptive,
  place,
  projectsLeftOut,
  projectTitle,
  RELEASED_HINT,
  SYMBOLS,
  withNamesOf,
} from '../words/index.ts'
import { chip, IMPACT_LOOKS, icon, KIND_TONES, type Look } from './looks.ts'
import { type Markup, markup, NOTHING, when } from './markup.ts'

/** The chart and the cards show all. */
const MOST_NAMED = 12
const MOST_UNMANAGED = 500

/** @param none words for a plan without impact. */
export const chips = (summary: ChangeCounts, none = IMPACT_WORDS.none): readonly Markup[] => {
  const all: readonly (readonly [number, Look, string])[] = [
    [summary.restarts, IMPACT_LOOKS.restart, counted(summary.restarts, 'restart')],
    [summary.mayRestart, IMPACT_LOOKS['may-restart'], `${summary.mayRestart} that may restart`],
    [summary.disconnects, IMPACT_LOOKS.disconnect, counted(summary.disconnects, 'disconnect')],
    [summary.move, IMPACT_LOOKS.move, counted(summary.move, 'move')],
    [summary.replace, IMPACT_LOOKS.replace, `${summary.replace} replaced`],
    [summary.delete, IMPACT_LOOKS.delete, `${summary.delete} deleted`],
    [summary.refused, { icon: 'shield', tone: 'quiet' }, `${summary.refused} refused`],
  ]
  const shown = all.flatMap(([count, look, words]) => (count > 0 ? [chip(look, words)] : []))
  return shown.length > 0 ? shown : [chip(IMPACT_LOOKS.none, none)]
}

export const warningsSection = (plan: Plan): Markup => {
  const warnings = plan.warnings.map(withNamesOf(plan))
  return when(
    warnings.length > 0,
    () => markup`<section aria-labelledby="warnings" class="warnings"><h2 id="warnings">${counted(warnings.length, 'warning')}</h2>
<ul>${warnings.map(diagnosticItem)}</ul></section>`,
  )
}

const diagnosticItem = ({ code, message, hint, source }: Diagnostic): Markup =>
  markup`<li>${icon('warning')}<p><b>${code}</b> ${message}${hint === undefined ? '' : ` ${hint}`}${source === undefined ? '' : markup` <code>${place(source)}</code>`}</p></li>
`

export const leftOutSection = (plan: Plan): Markup =>
  when(
    plan.leftOut !== undefined,
    () => markup`<section aria-labelledby="left-out" class="warnings"><h2 id="left-out">Left out: ${projectsLeftOut(plan) ?? ''} could not be planned</h2>
${plan.leftOut?.map(({ project, diagnostics }) => markup`<h3>Project <code>${projectTitle(plan)(project)}</code></h3><ul>${diagnostics.map(withNamesOf(plan)).map(diagnosticItem)}</ul>`)}</section>`,
  )

export const releasedSection = (released: readonly ReleasedCompute[], plan: Plan): Markup => {
  if (released.length === 0) return NOTHING
  const titleOf = projectTitle(plan)
  const shown = released.slice(0, MOST_UNMANAGED)
  return markup`<section aria-labelledby="released"><h2 id="released">No longer managed: ${counted(released.length, 'compute')}</h2><p class="lead">${RELEASED_HINT}</p>
<ul class="still">${shown.map(
    ({ branch, compute, project, source }) =>
      markup`<li>${icon('ring')}<span>${computeTitle(compute)} on ${branch.name}</span> <code>${compute.id ?? ''}</code> <span>${compute.state ?? ''}</span> <em>${titleOf(project)}</em> <span>was declared at <code>${place(source)}</code></span></li>
`,
  )}</ul>${when(released.length > shown.length, () => markup`<p class="lead">and ${group(released.length - shown.length)} more</p>`)}</section>`
}

/** Disruptive changes, the worst first. @param noticed the changes to list. */
export const interruptionsSection = (
  { changes, projects }: Plan,
  noticed: readonly Change[] = changes,
  title = 'Who is interrupted',
  id = 'interrupts',
): Markup => {
  const numbers = new Map(changes.map(({ id }, index) => [id, index + 1]))
  const loud = noticed
    .map((change) => ({ change, number: numbers.get(change.id) ?? 0 }))
    .filter(({ change }) => isDisruptive(change.impact))
    .toSorted((a, b) => IMPACTS.indexOf(b.change.impact) - IMPACTS.indexOf(a.change.impact))
  const shown = loud.slice(0, MOST_NAMED)
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${
  loud.length === 0
    ? markup`<p class="lead">Nobody.</p>`
    : markup`<ul class="loud">${shown.map(
        ({ change, number }) =>
          markup`<li><a href="#change-${number}">${computeTitle(change.compute)} <span>on</span> ${change.branch.name}${when(projects.length > 1, () => markup` <small>${change.project}</small>`)}</a>${chip(IMPACT_LOOKS[change.impact], impactWords(change))}${when(change.refused !== undefined, () => markup`<span class="refused">refused: it will not run</span>`)}</li>
`,
      )}</ul>${when(loud.length > shown.length, () => markup`<p class="lead">and ${group(loud.length - shown.length)} more below</p>`)}`
}</section>`
}

export const unmanagedSection = (unmanaged: readonly UnmanagedCompute[]): Markup => {
  if (unmanaged.length === 0) return NOTHING
  const shown = unmanaged.slice(0, MOST_UNMANAGED)
  return markup`<section aria-labelledby="unmanaged"><h2 id="unmanaged">Unmanaged</h2><p class="lead">No manifest declares them.</p>
<details class="more"><summary>${counted(unmanaged.length, 'compute')}</summary><ul class="still">${shown.map(
    ({ branch, compute, project }) =>
      markup`<li>${icon('ring')}<span>${computeTitle(compute)} on ${branch.name}</span> <code>${compute.id ?? ''}</code> <span>${compute.state ?? ''}</span> <em>${project}</em></li>
`,
  )}</ul>${when(unmanaged.length > shown.length, () => markup`<p class="lead">and ${group(unmanaged.length - shown.length)} more</p>`)}</details></section>`
}

const KINDS: Readonly<Record<ChangeKind, string>> = {
  create: 'a compute is created',
  update: 'attributes change',
  move: 'a compute moves to another branch',
  replace: 'a compute is deleted and a new one created',
  delete: 'a compute is deleted',
}

export const legend = (more: readonly Markup[]): Markup =>
  markup`<section aria-labelledby="legend" class="legend"><h2 id="legend">How to read this</h2><dl>
${IMPACTS.map((impact) => markup`<div><dt>${chip(IMPACT_LOOKS[impact], impact)}</dt><dd>${IMPACT_WORDS[impact]}</dd></div>`)}
${Object.entries(KINDS).map(([kind, words]) => markup`<div><dt><span class="kind ${KIND_TONES[kind as ChangeKind]}"><span aria-hidden="true">${SYMBOLS[kind as ChangeKind]}</span> ${kind}</span></dt><dd>${words}</dd></div>`)}
<div><dt><span class="key was" aria-hidden="true"></span> now</dt><dd>upper bar of a pair</dd></div><div><dt><span class="key will" aria-hidden="true"></span> after</dt><dd>lower bar of a pair</dd></div>
${more}</dl><p class="lead">What a plain yes does not cover needs <code>--allow</code>: ${CONSENTS.join(', ')}. <code>espalier explain CODE</code> explains each code.</p></section>`

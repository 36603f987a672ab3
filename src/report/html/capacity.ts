/** The section that shows the capacity before and after, as numbers and as bars. */
import type { PlanSummary } from '../../model/index.ts'
import { type Measure, measuresOf, type Range } from '../words/capacity.ts'
import { number } from '../words/counts.ts'
import { type Markup, markup, section, when } from './markup.ts'

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

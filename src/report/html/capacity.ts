/** Capacity before and after, as numbers and as bars. */
import type { CapacityTotal, PlanSummary } from '../../model/index.ts'
import { group } from '../words/index.ts'
import { type Markup, markup, when } from './markup.ts'

interface Measure {
  readonly name: string
  readonly unit: string
  /** Two equal numbers if it is not a range. */
  of(total: CapacityTotal): { readonly from: number; readonly to: number }
}

const one = (value: number) => ({ from: value, to: value })

const MEASURES: readonly Measure[] = [
  { name: 'computes', unit: '', of: ({ computes }) => one(computes) },
  { name: 'size', unit: ' CU', of: ({ minCu, maxCu }) => ({ from: minCu, to: maxCu }) },
  { name: 'RAM', unit: ' GB', of: ({ ramGb }) => one(ramGb) },
  { name: 'max_connections', unit: '', of: ({ maxConnections }) => one(maxConnections) },
]

export const capacitySection = ({ capacity: { before, after } }: Pick<PlanSummary, 'capacity'>): Markup =>
  markup`<section aria-labelledby="capacity"><h2 id="capacity">Capacity</h2>
<p class="lead">Of all computes of the planned projects, at the upper limits.</p>
<ul class="measures">${MEASURES.map((measure) => tile(measure, before, after))}</ul></section>`

const tile = ({ name, unit, of }: Measure, before: CapacityTotal, after: CapacityTotal): Markup => {
  const [from, to] = [of(before), of(after)]
  const most = Math.max(from.to, to.to, 1e-9)
  const words = (range: typeof from): string =>
    `${range.from === range.to ? number(range.to) : `${number(range.from)}–${number(range.to)}`}${unit}`
  const isSame = words(from) === words(to)
  return markup`<li><h3>${name}</h3>
<p class="figure">${when(!isSame, () => markup`<span class="from"><span class="vh">from </span>${words(from)}</span> <span class="to-sign" aria-hidden="true">→</span><span class="vh">to</span> `)}<span class="to">${words(to)}</span> <span class="delta">${delta(from.to, to.to, unit)}</span></p>
<svg height="1.25em" aria-hidden="true" focusable="false">${bars('was', from, most, 0)}${bars('will', to, most, 0.7)}</svg></li>
`
}

const bars = (name: string, { from, to }: { readonly from: number; readonly to: number }, most: number, y: number) =>
  rangeBar(name, (value) => `${Math.round((Math.max(0, value) / most) * 10_000) / 100}%`, { from, to }, y)

/** A solid bar up to the lower limit, and a lighter one up to the upper limit. */
export const rangeBar = (
  name: string,
  share: (value: number) => string,
  { from, to }: { readonly from: number; readonly to: number },
  y: number,
): Markup =>
  markup`${when(from < to, () => markup`<rect class="${name} reach" width="${share(to)}" y="${y}em" height="0.5em" rx="2"/>`)}<rect class="${name}" width="${share(from)}" y="${y}em" height="0.5em" rx="2"/>`

const delta = (before: number, after: number, unit: string): string => {
  const difference = Math.round((after - before) * 100) / 100
  if (difference === 0) return 'unchanged'
  const share =
    before === 0 ? '' : ` (${difference > 0 ? '+' : '−'}${Math.round((Math.abs(difference) / before) * 100)}%)`
  return `${difference > 0 ? '+' : '−'}${number(Math.abs(difference))}${unit}${share}`
}

export const number = (value: number): string => {
  const [whole = '0', rest] = String(Math.round(value * 100) / 100).split('.')
  return `${group(Number(whole))}${rest === undefined ? '' : `.${rest}`}`
}

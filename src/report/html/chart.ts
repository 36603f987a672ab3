/**
 * Draws steps as bars along a time axis, with a lane for each project. Positions are percentages and heights are in
 * `em`, so that the chart adapts to the width and text size of the page. Both are SVG attributes, because the page's
 * content security policy forbids inline styles.
 */
import { counted, groupBy } from '../../base/index.ts'
import { computeTitle, type Plan, type Step } from '../../model/index.ts'
import { time } from '../words/counts.ts'
import { KIND_MARKS, type Tone } from '../words/impacts.ts'
import { type NumberedStep, numberedSteps, projectTitle } from '../words/names.ts'
import { type IconName, type Markup, markup, NOTHING, type Value, when } from './markup.ts'

/** From the start of a step to its end, on the scale of the chart. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The unit is `ms` for measured times, or `turn` for a plan, in which each step takes one turn. The end is above 0. */
interface Timescale extends Pick<Span, 'end'> {
  readonly unit: 'ms' | 'turn'
}

/** How a step is drawn. */
export interface Drawing {
  /** `undefined` if the step never ran. */
  readonly span: Span | undefined
  readonly tone: Tone
  /** An icon next to the words, if the step is important. */
  readonly icon: IconName | undefined
  /** The text next to the bar. */
  readonly words: string
  /** A complete description of the step for screen readers. */
  readonly description: string
  /** How the step ended, in a column of its own. Absent before the run. */
  readonly result?: Markup
}

interface Row extends Drawing, NumberedStep {}

interface Lane {
  readonly title: string
  readonly facts: string
  readonly rows: readonly Row[]
}

/** @param facts the texts to show next to the title of a project. Empty strings are left out. */
export const lanesOf = (
  plan: Plan,
  draw: (step: Step, waitsFor: readonly number[]) => Drawing,
  facts: (steps: readonly Step[], project: string) => readonly string[],
): readonly Lane[] => {
  const titleOf = projectTitle(plan)
  return [...groupBy(numberedSteps(plan), ({ step }) => step.project)].map(([project, numbered]) => {
    const rows = numbered.map((one) => ({ ...one, ...draw(one.step, one.waitsFor) }))
    const steps = rows.map(({ step }) => step)
    const shown = [counted(rows.length, 'step'), ...facts(steps, project)].filter((one) => one !== '')
    return { title: titleOf(project), facts: shown.join(' · '), rows }
  })
}

const ROW_EM = 2.75
const BAR_EM = 0.95
/** With more steps than this, lanes are collapsed to one line. A lane with more steps has no room for icons. */
const MOST_OPEN = 60

const em = (value: number): string => `${Math.round(value * 1_000) / 1_000}em`

export const chart = (label: string, lanes: readonly Lane[], scale: Timescale): Markup => {
  const total = lanes.reduce((sum, { rows }) => sum + rows.length, 0)
  const isMeasured = scale.unit === 'ms'
  const tick = (at: number): string => (isMeasured && at > 0 ? time(at) : String(at))
  return markup`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><div class="chart${when(isMeasured, () => markup` ran`)}">
<div class="pair axis" aria-hidden="true"><span>${isMeasured ? 'time' : 'turn'}</span><svg height="1.5em">${ticks(
    scale,
  ).map(
    (at) =>
      markup`<text x="${percent(at, scale)}" y="1em"${when(at / scale.end > 0.9, () => markup` text-anchor="end"`)}>${tick(at)}</text>`,
  )}</svg></div>
${lanes.map((lane) => laneOf(lane, scale, total <= MOST_OPEN))}
</div></div>`
}

const laneOf = (lane: Lane, scale: Timescale, isOpen: boolean): Markup =>
  markup`<details class="lane"${when(isOpen, () => markup` open`)}><summary class="pair"><h3>${lane.title} <small>${lane.facts}</small></h3>${miniature(lane, scale)}</summary>
<div class="pair rows"><ol>${lane.rows.map(labelOf)}</ol>${track(lane, scale)}</div></details>`

const labelOf = ({ number, step, change, description, result }: Row): Markup =>
  markup`<li data-c="${change}"><a href="#step-${number}"><span class="no">${number}</span><span class="what"><b><span aria-hidden="true">${KIND_MARKS[step.kind].symbol}</span> ${step.kind} ${computeTitle(step.compute)}</b> <span>${step.branch.name}</span></span><span class="vh">. ${description}</span></a>${result}</li>
`

/** Draws a whole lane on one line, so that problems are visible while the lane is collapsed. */
const miniature = ({ rows }: Lane, scale: Timescale): Markup => {
  const marked = rows.length <= MOST_OPEN ? rows.filter((row) => row.icon !== undefined) : []
  return markup`<svg class="mini" height="2em" aria-hidden="true" focusable="false"><line class="base" x1="0" x2="100%" y1="1.5em" y2="1.5em"/>${rows.map(
    ({ span, tone }) =>
      span === undefined
        ? NOTHING
        : markup`<rect class="${tone}" x="${percent(span.start, scale)}" width="${width(span, scale)}" y="1.25em" height="0.5em"/>`,
  )}${marked.map(({ span, tone, icon: name = 'ring' }) =>
    span === undefined
      ? NOTHING
      : markup`<use class="${tone}" href="#i-${name}" x="${percent((span.start + span.end) / 2, scale)}" y="0" width="1em" height="1em" transform="translate(-8)"/>`,
  )}</svg>`
}

const width = ({ start, end }: Span, scale: Timescale): string => percent(end - start, scale)

const middleOf = (index: number): number => (index + 0.5) * ROW_EM

const track = ({ rows }: Lane, scale: Timescale): Markup => {
  const places = new Map(rows.map((row, index) => [row.step.id, { row, middle: middleOf(index) }]))
  return markup`<svg class="track" height="${em(rows.length * ROW_EM)}" aria-hidden="true" focusable="false">${ticks(
    scale,
  ).map((at) => markup`<line class="grid" x1="${percent(at, scale)}" x2="${percent(at, scale)}" y1="0" y2="100%"/>`)}
${rows.map((row, index) => [
  ...row.step.after.map((id) => arrow(places.get(id), row, middleOf(index), scale)),
  bar(row, middleOf(index), scale),
])}</svg>`
}

/** Draws a line from the end of a step to the start of a step that waits for it. */
const arrow = (
  from: { readonly row: Row; readonly middle: number } | undefined,
  to: Row,
  middle: number,
  scale: Timescale,
): Markup => {
  if (from?.row.span === undefined || to.span === undefined) return NOTHING
  const { end: start } = from.row.span
  const { start: end } = to.span
  const x = percent(start, scale)
  const target = percent(end, scale)
  // The line goes straight down if the waiting step starts immediately. Otherwise it continues along the step's row.
  const isStraight = end - start < scale.end / 100
  return markup`<g class="after" data-c="${to.change}">${
    isStraight
      ? markup`<line x1="${x}" x2="${x}" y1="${em(from.middle + BAR_EM / 2)}" y2="${em(middle - BAR_EM / 2 - 0.15)}" transform="translate(5)"/><svg x="${x}" y="${em(middle - BAR_EM / 2 - 0.05)}" overflow="visible"><path d="M1.5-5 5 0 8.5-5"/></svg>`
      : markup`<line x1="${x}" x2="${x}" y1="${em(from.middle + BAR_EM / 2)}" y2="${em(middle)}" transform="translate(-3)"/><line x1="${x}" x2="${target}" y1="${em(middle)}" y2="${em(middle)}" transform="translate(-3)"/><svg x="${target}" y="${em(middle)}" overflow="visible"><path d="M-8-3.5-3 0-8 3.5"/></svg>`
  }</g>`
}

const bar = (row: Row, middle: number, scale: Timescale): Markup => {
  const { span, tone, change } = row
  const drawn =
    span === undefined
      ? label(row, '0%', 'start', 4, middle)
      : markup`<rect x="${percent(span.start, scale)}" width="${width(span, scale)}" y="${em(middle - BAR_EM / 2)}" height="${em(BAR_EM)}" rx="3"/>${placedLabel(row, span, middle, scale)}`
  return markup`<g class="bar ${tone}" data-c="${change}">${drawn}</g>
`
}

/** Puts the text to the right or left of the bar if there is room, and otherwise over it. */
const placedLabel = (row: Row, { start, end }: Span, middle: number, scale: Timescale): Value => {
  if (row.words === '') return NOTHING
  const isRight = end / scale.end <= 0.7
  return !isRight && start / scale.end >= 0.3
    ? label(row, percent(start, scale), 'end', -10, middle)
    : label(row, percent(isRight ? end : start, scale), 'start', 8, middle)
}

/** A nested SVG, so that `em` refers to the font size of the chart. */
const label = (row: Row, x: string, anchor: 'start' | 'end', shift: number, middle: number): Markup => {
  const side = anchor === 'start' ? 1 : -1
  const drawn = row.icon
  return markup`<svg class="words" x="${x}" y="${em(middle)}" overflow="visible">${
    drawn === undefined
      ? NOTHING
      : markup`<use href="#i-${drawn}" x="${anchor === 'start' ? shift : shift - 15}" y="-7.5" width="15" height="15"/>`
  }<text x="${drawn === undefined ? shift : shift + 20 * side}" y="0.34em" text-anchor="${anchor}">${row.words}</text></svg>`
}

/** A position on the axis, in percent. */
const percent = (value: number, { end }: Timescale): string =>
  `${Math.round(Math.min(1, Math.max(0, value / end)) * 10_000) / 100}%`

const MOST_TICKS = 7

/** At most seven round values, starting at 0. */
const ticks = ({ end, unit }: Timescale): readonly number[] => {
  const bases =
    unit === 'ms' ? [100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000] : [1, 10, 100, 1_000, 10_000]
  const widths = bases.flatMap((base) => [1, 2, 5].map((step) => base * step)).sort((a, b) => a - b)
  const width = widths.find((one) => end / one <= MOST_TICKS) ?? end
  return Array.from({ length: Math.floor(end / width) + 1 }, (_, index) => index * width)
}

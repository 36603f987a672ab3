/** The lines at the bottom of a terminal while an apply runs, and while many projects are read. */
import { group, plainText } from '../../base/index.ts'
import { computeTitle, IMPACT_NAMES, type Step } from '../../model/index.ts'
import { statusWords } from '../words/apply-verdict.ts'
import { elapsed } from '../words/counts.ts'
import { isDisruptive } from '../words/impacts.ts'
import { IMPACT_MARKS } from '../words/marks.ts'
import type { PlanNames } from '../words/names.ts'
import { endedCount, type RunningStep, type RunState } from './run-state.ts'
import { clip, clipMiddle, type Paint, pad, paintOf, type Style, textWidth } from './style.ts'
import { fitWidths } from './table.ts'

interface RunView {
  readonly now: number
  /** The current character of the spinner. */
  readonly spinner: string
  /** Estimated remaining time in milliseconds. */
  readonly leftMs: number | undefined
  readonly names: Pick<PlanNames, 'isMixed' | 'project'>
  readonly style: Style & { readonly rows: number }
}

const GAP = '  '
/** The first three columns may be narrowed to this width. */
const NARROWEST = 12
const SHORTENED = 3
/** The width that is reserved for what a step is currently doing. */
const DOING = 22

/** Returns at most as many lines as the terminal has rows. No line wraps. */
export const runView = (state: RunState, view: RunView): readonly string[] => {
  const { style, spinner } = view
  const paint = paintOf(style)
  const room = Math.max(0, style.rows - 2)
  const all = [...state.running.values()]
  const shown = all.length <= room ? all : all.slice(0, Math.max(0, room - 1))
  const cells = shown.map((one) => cellsOf(one, view))
  const widths = widthsOf(cells, style.width)
  const more = all.length - shown.length
  return [
    headerOf(state, view, spinner, paint),
    ...cells.map((row) => rowOf(row, widths, style, paint)),
    ...(more > 0 && room > 0 ? [paint.dim(`  and ${group(more)} more running`)] : []),
  ]
}

const widthsOf = (cells: readonly Cells[], width: number): readonly number[] => {
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(0, ...cells.map(({ texts }) => textWidth(texts[column] ?? ''))),
  )
  const gaps = GAP.length * widths.filter((one) => one > 0).length
  const narrowest = widths.map((one, column) => (column < SHORTENED ? NARROWEST : one))
  return fitWidths(widths, narrowest, width - 1 - gaps - DOING - GAP.length)
}

const headerOf = (state: RunState, { now, leftMs, style }: RunView, spinner: string, paint: Paint): string => {
  const ended = endedCount(state)
  const waiting = state.total - ended - state.running.size
  const bad = [...state.ended].filter(([status]) => status !== 'done')
  const isLeftKnown = leftMs !== undefined && leftMs >= 1_000 && !state.isStopping && ended < state.total
  const facts = [
    elapsed(now - state.startedAt),
    ...(isLeftKnown ? [`about ${elapsed(leftMs)} left`] : []),
    ...(waiting > 0 ? [`${group(waiting)} ${state.isStopping ? 'will not start' : 'waiting'}`] : []),
    ...bad.map(([status, count]) => `${group(count)} ${statusWords(status)}`),
  ].join(GAP)
  const title = `${state.isStopping ? 'Stopping' : 'Applying'} ${group(ended)}/${group(state.total)}`
  const rest = clip(facts, style.width - 1 - textWidth(`${spinner} ${title}${GAP}`))
  return `${paint.cyan(spinner)} ${paint.bold(title)}${GAP}${rest}`
}

interface Cells {
  /** The project, the branch, what the step does, its impact mark, and the elapsed time. */
  readonly texts: readonly string[]
  readonly doing: string
}

const cellsOf = ({ step, since, doing }: RunningStep, { now, names }: RunView): Cells => ({
  texts: [
    names.isMixed ? plainText(names.project(step.project)) : '',
    plainText(step.branch.name),
    `${step.kind} ${computeTitle(step.compute)}`,
    markOf(step),
    elapsed(now - since),
  ],
  doing,
})

const markOf = ({ impact }: Step): string =>
  isDisruptive(impact) ? `${IMPACT_MARKS[impact].symbol} ${IMPACT_NAMES[impact]}` : ''

const rowOf = ({ texts, doing }: Cells, widths: readonly number[], style: Style, paint: Paint): string => {
  const colors: readonly ((text: string) => string)[] = [paint.bold, paint.bold, String, paint.red, paint.dim, String]
  let line = ''
  let left = style.width - 1
  for (const [column, text] of [...texts, doing].entries()) {
    const width = Math.min(widths[column] ?? textWidth(text), left - GAP.length)
    if (width <= 0) continue
    line +=
      GAP + (colors[column] ?? String)(pad(column < SHORTENED - 1 ? clipMiddle(text, width) : clip(text, width), width))
    left -= GAP.length + width
  }
  return line.trimEnd()
}

export interface ReadingView {
  readonly what: string
  readonly done: number
  readonly total: number
  readonly elapsedMs: number
  /** The rate limit. Absent if requests are not limited. */
  readonly limit?: { readonly left: number; readonly aMinute: number }
  readonly width: number
}

/** `Reading projects 120/400  12 s  about 28 s left  rate limit 340/700 left`. */
export const readingLine = (view: ReadingView): string => {
  const { what, done, total, elapsedMs, limit, width } = view
  const leftMs = timeLeft(view)
  const facts = [
    `Reading ${what} ${group(done)}/${group(total)}`,
    elapsed(elapsedMs),
    ...(leftMs === undefined ? [] : [`about ${elapsed(Math.max(1_000, leftMs))} left`]),
    ...(limit === undefined ? [] : [`rate limit ${group(limit.left)}/${group(limit.aMinute)} left`]),
  ]
  return clip(facts.join('  '), width - 1)
}

/** The estimated time left, extrapolated from the progress so far, but no shorter than the rate limit allows. */
const timeLeft = ({ done, total, elapsedMs, limit }: ReadingView): number | undefined => {
  if (done === 0) return undefined
  const open = total - done
  const pace = (elapsedMs / done) * open
  if (limit === undefined) return pace
  const sent = limit.aMinute - limit.left
  const missing = (sent / done) * open - limit.left
  return Math.max(pace, (missing / limit.aMinute) * 60_000)
}

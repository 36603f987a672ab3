/** The lines at the bottom of a terminal while an apply runs, and while many projects are read. */
import { group, groupBy, plainText } from '../../base/index.ts'
import {
  type ApplyEvent,
  computeTitle,
  IMPACT_NAMES,
  type Plan,
  type Step,
  type StepStatus,
} from '../../model/index.ts'
import { statusWords } from '../words/apply-verdict.ts'
import { elapsed } from '../words/counts.ts'
import { IMPACT_MARKS, isDisruptive } from '../words/impacts.ts'
import type { PlanNames } from '../words/names.ts'
import { activityOf, type Delays } from './events.ts'
import { clip, clipMiddle, type Paint, pad, paintOf, type Style, textWidth } from './style.ts'
import { fitWidths, widestCells } from './table.ts'

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
  const { style } = view
  const paint = paintOf(style)
  const room = Math.max(0, style.rows - 2)
  const all = [...state.running.values()]
  const shown = all.length <= room ? all : all.slice(0, Math.max(0, room - 1))
  const cells = shown.map((one) => cellsOf(one, view))
  const widths = widthsOf(cells, style.width)
  const more = all.length - shown.length
  return [
    headerOf(state, view, paint),
    ...shown.map(({ doing }, index) => rowOf([...(cells[index] ?? []), doing], widths, style, paint)),
    ...(more > 0 && room > 0 ? [paint.dim(`  and ${group(more)} more running`)] : []),
  ]
}

const widthsOf = (cells: readonly (readonly string[])[], width: number): readonly number[] => {
  const widths = widestCells(cells)
  const gaps = GAP.length * widths.filter((one) => one > 0).length
  const narrowest = widths.map((one, column) => (column < SHORTENED ? NARROWEST : one))
  return fitWidths(widths, narrowest, width - 1 - gaps - DOING - GAP.length)
}

const headerOf = (state: RunState, { now, leftMs, style, spinner }: RunView, paint: Paint): string => {
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

/** The project, the branch, what the step does, its impact mark, and the elapsed time. */
const cellsOf = ({ step, since }: RunningStep, { now, names }: RunView): readonly string[] => [
  names.isMixed ? plainText(names.project(step.project)) : '',
  plainText(step.branch.name),
  `${step.kind} ${computeTitle(step.compute)}`,
  isDisruptive(step.impact) ? `${IMPACT_MARKS[step.impact].symbol} ${IMPACT_NAMES[step.impact]}` : '',
  elapsed(now - since),
]

const rowOf = (cells: readonly string[], widths: readonly number[], style: Style, paint: Paint): string => {
  const colors: readonly ((text: string) => string)[] = [paint.bold, paint.bold, String, paint.red, paint.dim, String]
  let line = ''
  let left = style.width - 1
  for (const [column, text] of cells.entries()) {
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

interface RunningStep {
  readonly step: Step
  /** Milliseconds since the epoch. */
  readonly since: number
  /** What the step is doing or waiting for. Empty at first. */
  readonly doing: string
  readonly delays: Delays
}

/** The state of a running apply, computed from its events. */
export interface RunState {
  readonly total: number
  readonly startedAt: number
  readonly ended: ReadonlyMap<StepStatus, number>
  readonly endedIn: ReadonlyMap<string, number>
  /** The running steps by id, in the order in which they started. */
  readonly running: ReadonlyMap<string, RunningStep>
  readonly isStopping: boolean
}

export const startOf = (plan: Plan, startedAt: number): RunState => ({
  total: plan.steps.length,
  startedAt,
  ended: new Map(),
  endedIn: new Map(),
  running: new Map(),
  isStopping: false,
})

export const endedCount = ({ ended }: RunState): number => [...ended.values()].reduce((sum, count) => sum + count, 0)

/** The state after an event. A `step-end` event counts the step as ended, even if the step never started. */
export const afterEvent = (
  state: RunState,
  event: ApplyEvent,
  projectOf: (step: string) => string | undefined,
): RunState => {
  switch (event.type) {
    case 'step-start': {
      const started: RunningStep = { step: event.step, since: Date.parse(event.time), doing: '', delays: new Map() }
      return { ...state, running: new Map(state.running).set(event.step.id, started) }
    }
    case 'call':
      // The first attempt is not shown, because it is usually over at once.
      return doing(state, event.step, event.attempt > 1 ? activityOf(event) : '')
    case 'wait': {
      const own = state.running.get(event.step)
      if (own === undefined) return state
      const { why, message } = event
      const delayMs = event.delayMs + (own.delays.get(why)?.delayMs ?? 0)
      const delays = new Map(own.delays).set(why, { delayMs, message })
      return doing(
        { ...state, running: new Map(state.running).set(event.step, { ...own, delays }) },
        event.step,
        activityOf(event),
      )
    }
    case 'operation':
      return doing(state, event.step, activityOf(event))
    case 'step-end': {
      const { step, status } = event.outcome
      const running = new Map(state.running)
      running.delete(step)
      const project = projectOf(step)
      return {
        ...state,
        running,
        ended: plusOne(state.ended, status),
        endedIn: project === undefined ? state.endedIn : plusOne(state.endedIn, project),
      }
    }
    case 'interrupt':
      return { ...state, isStopping: true }
    case 'version':
    case 'plan':
    case 'policy-overridden':
    case 'window-overridden':
    case 'unpredicted':
    case 'outcome':
      return state
  }
}

/** What delayed the step that ends with this event. */
export const delaysOf = ({ running }: RunState, event: ApplyEvent): Delays | undefined =>
  event.type === 'step-end' ? running.get(event.outcome.step)?.delays : undefined

const doing = (state: RunState, step: string, text: string): RunState => {
  const own = state.running.get(step)
  if (own === undefined) return state
  return { ...state, running: new Map(state.running).set(step, { ...own, doing: plainText(text) }) }
}

const plusOne = <K>(counts: ReadonlyMap<K, number>, key: K): ReadonlyMap<K, number> =>
  new Map(counts).set(key, (counts.get(key) ?? 0) + 1)

/**
 * The estimated remaining time in milliseconds, or `undefined` if there is no estimate for one of the unfinished
 * projects.
 *
 * @param concurrency how many projects are processed concurrently.
 */
export const timeLeftOf = (plan: Plan, concurrency: number): ((state: RunState, now: number) => number | undefined) => {
  const medians = new Map(plan.estimates.map(({ project, medianMs }) => [project, medianMs]))
  const totals = [...groupBy(plan.steps, ({ project }) => project)].map(([project, steps]) => ({
    project,
    total: steps.length,
    medianMs: medians.get(project),
  }))
  return ({ endedIn, running }, now) => {
    const since = new Map([...running.values()].map((one) => [one.step.project, one.since]))
    let [longest, sum] = [0, 0]
    for (const { project, total, medianMs } of totals) {
      const open = total - (endedIn.get(project) ?? 0)
      if (open === 0) continue
      if (medianMs === undefined) return undefined
      const each = medianMs / total
      const started = since.get(project)
      const spent = started === undefined ? 0 : Math.min(each, Math.max(0, now - started))
      const left = each * open - spent
      longest = Math.max(longest, left)
      sum += left
    }
    return Math.max(longest, sum / Math.max(1, concurrency))
  }
}

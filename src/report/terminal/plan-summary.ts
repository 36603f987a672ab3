/** Capacity, time, and the summary on the last line. */
import { isEmptyPlan, type Plan } from '../../model/index.ts'
import {
  counted,
  emptyVerdict,
  group,
  interruptions,
  minuteOf,
  plainText,
  planLine,
  projectsLeftOut,
  time,
} from '../words/index.ts'
import { type Paint, pad, type Style, textWidth, wrap } from './style.ts'

const LABEL = 17

export const capacitySection = (
  { summary, estimates, steps }: Plan,
  style: Style,
  paint: Paint,
  isCompact: boolean,
): string => {
  if (steps.length === 0) return ''
  const { before, after } = summary.capacity
  const range = ({ minCu, maxCu }: typeof before): string =>
    minCu === maxCu ? `${number(minCu)} CU` : `${number(minCu)}–${number(maxCu)} CU`
  const median = estimates.reduce((most, { medianMs }) => Math.max(most, medianMs), 0)
  const slow = estimates.reduce((most, { p95Ms }) => Math.max(most, p95Ms), 0)
  const rows: readonly (readonly [string, string, string])[] = [
    ['computes', group(before.computes), group(after.computes)],
    ['size', range(before), range(after)],
    ['RAM', `${number(before.ramGb)} GB`, `${number(after.ramGb)} GB`],
    ['max_connections', group(before.maxConnections), group(after.maxConnections)],
  ]
  const changed = rows
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => [name, `${from} → ${to}`] as const)
  const duration = `about ${time(median)}, at most ${time(slow)} in 19 of 20 cases`
  if (isCompact) {
    const facts = [
      ...changed.map(([name, words]) => `${name} ${words}`),
      ...(estimates.length === 0 ? [] : [`about ${time(median)}`]),
    ]
    return facts.length === 0 ? '' : wrap(`${paint.bold('Capacity')}  ${facts.join('; ')}`, style, '', '  ')
  }
  const line = (name: string, words: string): string =>
    wrap(`${pad(name, LABEL)}${words}`, style, '  ', ' '.repeat(LABEL + 2))
  return [
    ...(changed.length === 0
      ? []
      : [
          wrap(
            `${paint.bold('Capacity')}${paint.dim('  of all computes of these projects, at the upper limits')}`,
            style,
            '',
            '  ',
          ),
          ...changed.map(([name, words]) => line(name, words)),
        ]),
    ...(estimates.length === 0
      ? []
      : [`${paint.bold('Time')}  ${duration}`].map((text) => wrap(text, style, '', '  '))),
  ].join('\n')
}

const number = (value: number): string => String(Math.round(value * 100) / 100)

/** The last line is the summary and never wraps; what does not fit is on the line above. */
export const closing = (plan: Plan, style: Style, paint: Paint, takenAt: string | undefined): string => {
  const { summary } = plan
  const missing = projectsLeftOut(plan)
  const computes = [
    `${counted(summary.managed, 'compute')} managed`,
    ...(summary.unmanaged === 0 ? [] : [`${group(summary.unmanaged)} unmanaged`]),
    ...(missing === undefined ? [] : [`${missing} left out`]),
  ].join(', ')
  const seen = takenAt === undefined ? '' : ` Snapshot of ${minuteOf(plainText(takenAt))}.`
  const facts = (...sentences: readonly string[]): string =>
    wrap(paint.dim(`${sentences.map((one) => `${one}.`).join(' ')}${seen}`), style, '', '')
  if (isEmptyPlan(plan)) {
    const verdict = emptyVerdict(plan)
    return `${facts(computes)}\n${missing === undefined ? paint.green(verdict) : paint.bold(verdict)}`
  }
  const [counts, noticed] = [planLine(summary), `${capitalised(interruptions(summary))}.`]
  const calls = counted(summary.calls, 'API call')
  return textWidth(`${counts} ${noticed}`) <= style.width
    ? `${facts(calls, computes)}\n${paint.bold(`${counts} ${noticed}`)}`
    : `${facts(calls, computes)}\n${wrap(paint.bold(noticed), style, '', '')}\n${paint.bold(counts)}`
}

const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

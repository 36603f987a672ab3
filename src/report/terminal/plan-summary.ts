/** The end of a plan: its capacity, its expected duration, and the summary on the last line. */
import { counted, plainText } from '../../base/index.ts'
import { isEmptyPlan } from '../../model/index.ts'
import { measuresOf } from '../words/capacity.ts'
import { capitalised, minuteOf, time } from '../words/counts.ts'
import { coverageLine, emptyVerdict, expectedMs, expectedTime, interruptions, planLine } from '../words/plan-lines.ts'
import type { PlanFrame } from './plan-frame.ts'
import { pad, textWidth, wrap, wrapped } from './style.ts'

const LABEL = 17

export const capacitySection = ({ plan, isCompact, style, paint }: PlanFrame): string => {
  if (plan.steps.length === 0) return ''
  const isTimed = plan.estimates.length > 0
  const changed = measuresOf(plan.summary.capacity)
    .filter(({ before, after }) => before.words !== after.words)
    .map(({ name, before, after }) => ({ name, words: `${before.words} → ${after.words}` }))
  if (isCompact) {
    const facts = changed.map(({ name, words }) => `${name} ${words}`)
    if (isTimed) facts.push(`about ${time(expectedMs(plan))}`)
    return facts.length === 0 ? '' : wrapped(`${paint.bold('Capacity')}  ${facts.join('; ')}`, style)
  }
  const title = `${paint.bold('Capacity')}${paint.dim('  of all computes in these projects, at their maximum size')}`
  const lines = changed.map(({ name, words }) =>
    wrap(`${pad(name, LABEL)}${words}`, style, '  ', ' '.repeat(LABEL + 2)),
  )
  return [
    ...(lines.length === 0 ? [] : [wrapped(title, style), ...lines]),
    ...(isTimed ? [wrapped(`${paint.bold('Time')}  ${expectedTime(plan)}`, style)] : []),
  ].join('\n')
}

/** The last line is the summary, which never wraps. Interruptions that do not fit on it are shown on the line above. */
export const closing = ({ plan, style, paint, takenAt }: PlanFrame): string => {
  const { summary } = plan
  const snapshot = takenAt === undefined ? [] : [`Snapshot of ${minuteOf(plainText(takenAt))}`]
  const facts = (...sentences: readonly string[]): string =>
    wrap(paint.dim([...sentences, coverageLine(plan), ...snapshot].map((one) => `${one}.`).join(' ')), style, '', '')
  if (isEmptyPlan(plan)) {
    const color = plan.leftOut === undefined ? paint.green : paint.bold
    return `${facts()}\n${color(emptyVerdict(plan))}`
  }
  const [counts, noticed] = [planLine(summary), `${capitalised(interruptions(summary))}.`]
  const calls = facts(counted(summary.calls, 'API call'))
  return textWidth(`${counts} ${noticed}`) <= style.width
    ? `${calls}\n${paint.bold(`${counts} ${noticed}`)}`
    : `${calls}\n${wrap(paint.bold(noticed), style, '', '')}\n${paint.bold(counts)}`
}

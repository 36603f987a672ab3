/** The comment about an apply. It lists every step, and says what to do if some steps are not done. */

import { counted } from '../../base/index.ts'
import type { StepOutcome } from '../../model/index.ts'
import { applyVerdict, statusWords } from '../words/apply-verdict.ts'
import { time } from '../words/counts.ts'
import { STATUS_MARKS } from '../words/marks.ts'
import { planNames } from '../words/names.ts'
import { leftOutPart } from './coverage.ts'
import { COMMENT_LIMIT, fitTo, type Limit } from './limit.ts'
import { heading, literal, table } from './text.ts'
import type { OutcomeView } from './view.ts'

const MOST_REMAINING = 10

/** If the comment is too long, steps that are done are left out first. */
export const outcomeComment = (view: OutcomeView, limit: Limit = COMMENT_LIMIT): string => {
  const { steps } = view.outcome
  const open = steps.filter(({ status }) => status !== 'done')
  // Steps that are not done are more important than the reasons why projects were left out.
  const forms = [steps, open].map((shown) => () => render(view, shown, true))
  return fitTo(limit, forms, open.length, (rows) => render(view, open.slice(0, rows), false))
}

/** @param withReasons whether to explain why projects were left out. */
const render = (view: OutcomeView, shown: readonly StepOutcome[], withReasons: boolean): string => {
  const { outcome, plan } = view
  const all = outcome.steps.length
  const { kind, counts } = applyVerdict(plan, outcome)
  const title = all === 0 && plan.leftOut === undefined ? 'nothing to apply' : `apply ${kind}: ${counts}`
  const rest = all - shown.length
  const parts = [
    view.marker,
    heading(view, title),
    ...leftOutPart(view, withReasons),
    ...(outcome.converged === false
      ? [
          'The projects do **not** match the manifests yet. Apply again.',
          ...(outcome.left ?? []).map((line) => `- ${literal(line)}`).slice(0, MOST_REMAINING),
        ]
      : []),
    ...(outcome.interrupted ? ['The apply was interrupted. Apply again to continue.'] : []),
    ...(shown.length === 0 ? [] : [stepTable(view, shown)]),
    ...(rest === 0 ? [] : [`${counted(rest, 'more step')}. All of them are in ${view.whole}.`]),
    ...outcome.notes.map((note) => `- ${literal(note)}`),
    `<sub>Commit ${literal(view.commit)}, ${counted(plan.changes.length, 'change')} planned.</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

const stepTable = ({ plan }: OutcomeView, shown: readonly StepOutcome[]): string => {
  const names = planNames(plan)
  const rows = shown.map(({ step, status, durationMs, reason, message }) => [
    literal(names.stepById(step)),
    `${STATUS_MARKS[status].emoji} ${statusWords(status)}`,
    status === 'done' || status === 'failed' ? time(durationMs) : '',
    [reason ?? [], message === undefined ? [] : literal(message)].flat().join(': '),
  ])
  return table(['step', '', 'took', ''], rows)
}

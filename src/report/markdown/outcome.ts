/** The comment on an apply: every step, and what to do about those that are not done. */
import type { StepOutcome } from '../../model/index.ts'
import { applyVerdict, counted, stepTitles, time } from '../words/index.ts'
import { leftOutPart } from './coverage.ts'
import { COMMENT_LIMIT, fitTo, type Limit } from './limit.ts'
import { heading, literal } from './text.ts'
import type { OutcomeView } from './view.ts'

const MARKS: Readonly<Record<StepOutcome['status'], string>> = {
  done: '✅ done',
  failed: '❌ failed',
  stale: '⚠️ stale',
  skipped: '⏭️ skipped',
  'not-allowed': '🚫 not allowed',
  scheduled: '🕑 scheduled',
}

/** At most this many remaining changes are listed. */
const LEFT = 10

/** If not everything fits, steps that are done are dropped first. */
export const outcomeComment = (view: OutcomeView, limit: Limit = COMMENT_LIMIT): string => {
  const { steps } = view.outcome
  const open = steps.filter(({ status }) => status !== 'done')
  // Steps that are not done matter more than why projects were left out.
  const forms = [steps, open].map((shown) => () => render(view, shown, true))
  return fitTo(limit, forms, open.length, (rows) => render(view, open.slice(0, rows), false))
}

/** @param withReasons whether to explain why projects were left out. */
const render = (view: OutcomeView, shown: readonly StepOutcome[], withReasons: boolean): string => {
  const { outcome, plan } = view
  const all = outcome.steps.length
  const ends = outcome.steps.map(({ status }) => status)
  const { kind, counts } = applyVerdict(plan, ends, outcome)
  const title = all === 0 && plan.leftOut === undefined ? 'nothing to apply' : `apply ${kind}: ${counts}`
  const rest = all - shown.length
  const parts = [
    view.marker,
    heading(view, title),
    ...leftOutPart(view, withReasons),
    ...(outcome.converged === false
      ? [
          'The projects have **not** converged: apply again.',
          ...(outcome.left ?? []).map((line) => `- ${literal(line)}`).slice(0, LEFT),
        ]
      : []),
    ...(outcome.interrupted ? ['The apply was interrupted: apply again to continue.'] : []),
    ...(shown.length === 0 ? [] : [table(view, shown)]),
    ...(rest === 0 ? [] : [`${counted(rest, 'more step')}. All of them are in ${view.whole}.`]),
    ...outcome.notes.map((note) => `- ${literal(note)}`),
    `<sub>Commit ${literal(view.commit)}, ${counted(plan.changes.length, 'change')} planned.</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

const table = ({ plan }: OutcomeView, shown: readonly StepOutcome[]): string => {
  const titleOf = stepTitles(plan)
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const rows = shown.map((outcome) => {
    const step = steps.get(outcome.step)
    const title = step === undefined ? outcome.step : titleOf(step)
    const words = [
      ...(outcome.reason === undefined ? [] : [outcome.reason]),
      ...(outcome.message === undefined ? [] : [literal(outcome.message)]),
    ].join(': ')
    const took = outcome.status === 'done' || outcome.status === 'failed' ? time(outcome.durationMs) : ''
    return `| ${literal(title)} | ${MARKS[outcome.status]} | ${took} | ${words} |`
  })
  return ['| step | | took | |', '|---|---|---|---|', ...rows].join('\n')
}

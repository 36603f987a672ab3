/** The comments that are not plans: about an apply, about errors in the manifests, and about a run that failed. */
import { counted, group, listed } from '../../base/index.ts'
import {
  type Diagnostic,
  hasErrors,
  isUnpredicted,
  type Outcome,
  observedWords,
  type Plan,
  type StepOutcome,
  sourceText,
} from '../../model/index.ts'
import { alikeSteps, MOST_NAMED } from '../words/alike.ts'
import { applyVerdict, nextSteps, statusWords } from '../words/apply-verdict.ts'
import { capitalised, severityCounts, time } from '../words/counts.ts'
import { STATUS_MARKS } from '../words/impacts.ts'
import { planNames } from '../words/names.ts'
import { leftOutPart } from './plan-parts.ts'
import { asked, boxed, COMMENT_LIMIT, type Frame, fitTo, heading, type Limit, linked, literal, table } from './text.ts'

const MOST_REMAINING = 10

/** What to do about changes without approval. */
export const HOW_TO_APPROVE =
  'Get the missing approvals, which count even after the merge, and run the workflow again. If no comment shows a change, apply a saved plan.'

interface OutcomeView extends Frame {
  readonly plan: Plan
  readonly outcome: Outcome
  /** One sentence for each change that is not approved. Nothing was applied in its project. */
  readonly lacking?: readonly string[]
}

/** If the comment is too long, steps that are done are left out first. */
export const outcomeComment = (view: OutcomeView, limit: Limit = COMMENT_LIMIT): string => {
  const open = view.outcome.steps.filter(({ status }) => status !== 'done')
  const steps = [...open, ...view.outcome.steps.filter(({ status }) => status === 'done')]
  // Steps that are not done are more important than the reasons why projects were left out.
  const forms = [steps, open].map((shown) => () => renderOutcome(view, shown, true))
  return fitTo(limit, forms, open.length, (rows) => renderOutcome(view, open.slice(0, rows), false))
}

/** @param withReasons whether to explain why projects were left out. */
const renderOutcome = (view: OutcomeView, shown: readonly StepOutcome[], withReasons: boolean): string => {
  const { outcome, plan, lacking = [] } = view
  const all = outcome.steps.length
  const { kind } = applyVerdict(plan, outcome)
  const rest = all - shown.length
  const next = nextSteps(plan, outcome, true).map((line) => capitalised(line.replace('Next: ', '')))
  const isCalm = kind !== 'incomplete' && lacking.length === 0
  const asks = [
    ...(lacking.length === 0 ? [] : [HOW_TO_APPROVE]),
    ...(plan.leftOut === undefined ? [] : ['Fix the errors below, then run the workflow again.']),
    ...next,
  ]
  if (asks.length === 0) asks.push('Fix what is refused below, then run the workflow again.')
  const ask = asked(isCalm ? [['Nothing.', ...next].join(' ')] : asks)
  const parts = [
    view.marker,
    heading(view, outcomeTitle(view, isCalm)),
    isCalm ? ask.join('\n') : boxed('CAUTION', [...ask, ...lacking.map((line) => `- ${literal(line)}`)]),
    ...leftOutPart(view, withReasons),
    ...(outcome.left ?? []).map((line) => `- Still to do: ${literal(line)}`).slice(0, MOST_REMAINING),
    ...(shown.length === 0 ? [] : [stepTable(view, shown)]),
    ...(rest === 0 ? [] : [`${counted(rest, 'more step')}. All of them are in ${view.whole}.`]),
    ...outcome.notes.map((note) => `- ${literal(note)}`),
    `<sub>Commit ${literal(view.commit)}${all === 0 ? '' : `, ${counted(plan.changes.length, 'change')} planned`}.</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** @param isCalm whether nothing is left to do. */
const outcomeTitle = ({ plan, outcome: { steps }, outcome, lacking = [] }: OutcomeView, isCalm: boolean): string => {
  const { kind, counts } = applyVerdict(plan, outcome)
  if (steps.length === 0 && plan.leftOut === undefined) {
    return lacking.length === 0 ? 'nothing to apply' : 'nothing was applied, because an approval is missing'
  }
  if (!isCalm || kind === 'complete') return `${isCalm ? '' : 'not '}everything is applied: ${counts}`
  const done = steps.filter(({ status }) => status === 'done').length
  const waiting = steps.length - done
  const begun = done === 0 ? 'nothing has run yet' : `${group(done)} done`
  return `${begun}: ${counted(waiting, 'step')} ${waiting === 1 ? 'waits' : 'wait'} for a restart window`
}

const stepTable = ({ plan }: OutcomeView, shown: readonly StepOutcome[]): string => {
  const names = planNames(plan)
  const rows = alikeSteps(shown).flatMap((alike) => {
    const [first] = alike
    if (first === undefined) return []
    const titles = alike.map(({ step }) => names.stepById(step))
    const count = alike.length > 1 ? `${counted(alike.length, 'step')}: ` : ''
    const { status, durationMs, reason, message, observation } = first
    const result = [
      [reason ?? [], message === undefined ? [] : literal(message)].flat().join(': '),
      observation === undefined
        ? ''
        : `${isUnpredicted(observation) ? '⚠️ not predicted: ' : ''}${observedWords(observation)}`,
    ]
    return [
      [
        `${count}${literal(listed(titles, MOST_NAMED))}`,
        `${STATUS_MARKS[status].emoji} ${statusWords(status)}`,
        alike.length === 1 && (status === 'done' || status === 'failed') ? time(durationMs) : '',
        result.filter((words) => words !== '').join('<br>'),
      ],
    ]
  })
  const columns = ['step', 'result', 'took', 'reason']
  const used = columns.map((_, at) => rows.some((row) => row[at] !== ''))
  const isUsed = (_cell: string, at: number): boolean => used[at] === true
  return table(
    columns.filter(isUsed),
    rows.map((row) => row.filter(isUsed)),
  )
}

interface ProblemView extends Frame {
  readonly diagnostics: readonly Diagnostic[]
  readonly notes: readonly string[]
}

export const problemComment = (view: ProblemView, limit: Limit = COMMENT_LIMIT): string => {
  const rank = ({ severity }: Diagnostic): number => (severity === 'error' ? 0 : 1)
  const sorted = view.diagnostics.toSorted((a, b) => rank(a) - rank(b))
  return fitTo(limit, [], sorted.length, (rows) => renderProblems(view, sorted, rows))
}

const renderProblems = (view: ProblemView, diagnostics: readonly Diagnostic[], shown: number): string => {
  const counts = severityCounts(diagnostics)
  const has = hasErrors(diagnostics)
  const lines = diagnostics.slice(0, shown).map((one) => line(one, view))
  const rest = diagnostics.length - shown
  const parts = [
    view.marker,
    heading(
      view,
      counts.length === 0
        ? 'the manifests are valid'
        : `${has ? 'nothing will run: ' : ''}${counts.join(' and ')} in the manifests`,
    ),
    ...(has ? [boxed('CAUTION', asked(['Fix this, and push again.']))] : []),
    ...view.notes.map((note) => `> ${note}`),
    ...(shown === 0 ? [] : [lines.join('\n')]),
    ...(rest === 0 ? [] : [`And ${rest} more. All of them are in ${view.whole}.`]),
    `<sub>Commit ${literal(view.commit)}</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

const line = ({ severity, code, message, hint, source }: Diagnostic, { linkTo }: ProblemView): string => {
  const where =
    source === undefined ? '' : `${linked(literal(sourceText(source)), linkTo?.(source.file, source.line))} `
  return `- ${severity === 'error' ? '❌' : '⚠️'} ${where}**${code}** ${literal(message)}${hint === undefined ? '' : `<br>${literal(hint)}`}`
}

interface FailureView extends Pick<Frame, 'marker' | 'name' | 'commit'> {
  /** The command that failed: `plan` or `apply`. */
  readonly what: string
  /** The failure reason, such as `auth`. */
  readonly reason: string
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** URL of the workflow run. */
  readonly run?: string
}

/** If the comment is too long, the message is truncated. */
export const failureComment = (view: FailureView, limit: Limit = COMMENT_LIMIT): string => {
  const { message } = view
  return fitTo(limit, [], message.length, (length) => renderFailure(view, message.slice(0, length)))
}

const renderFailure = (view: FailureView, message: string): string => {
  const { what, reason, code, hint, commit, run } = view
  const lines = [...message.split('\n'), hint ?? ''].map((line) => line.trim()).filter((line) => line !== '')
  const [effect, ask] =
    what === 'plan'
      ? [
          ', so it is unknown what would change',
          'Do not merge yet. Nothing was changed, and any plan shown here before may be out of date. ',
        ]
      : ['', 'Any outcome shown here before may be out of date. ']
  const parts = [
    view.marker,
    heading(view, `the ${what} failed (${reason})${effect}`),
    boxed('CAUTION', asked([`${ask}Once the cause below is resolved, run ${linked('the workflow', run)} again.`])),
    `**${code}** ${lines.map(literal).join('<br>')}`,
    ...(commit === '' ? [] : [`<sub>Commit ${literal(commit)}.</sub>`]),
  ]
  return `${parts.join('\n\n')}\n`
}

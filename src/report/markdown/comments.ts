/** The comments that are not plans: about an apply, about errors in the manifests, and about a run that failed. */
import { counted, formatUtc, listed } from '../../base/index.ts'
import {
  type Diagnostic,
  isUnpredicted,
  type Outcome,
  observedWords,
  type Plan,
  type StepOutcome,
  sourceText,
} from '../../model/index.ts'
import { alikeSteps, MOST_NAMED } from '../words/alike.ts'
import { applyVerdict, statusWords } from '../words/apply-verdict.ts'
import { severityCounts, time } from '../words/counts.ts'
import { STATUS_MARKS } from '../words/impacts.ts'
import { planNames } from '../words/names.ts'
import { leftOutPart } from './plan-parts.ts'
import { COMMENT_LIMIT, type Frame, fitTo, heading, type Limit, linked, literal, table } from './text.ts'

const MOST_REMAINING = 10

/** What to do about changes without approval. */
export const HOW_TO_APPROVE = 'Have a pull request approved whose plan shows these changes, and run the job again.'

interface OutcomeView extends Frame {
  readonly plan: Plan
  readonly outcome: Outcome
  /** One sentence for each change that is not approved. Nothing was applied in its project. */
  readonly lacking?: readonly string[]
}

/** If the comment is too long, steps that are done are left out first. */
export const outcomeComment = (view: OutcomeView, limit: Limit = COMMENT_LIMIT): string => {
  const { steps } = view.outcome
  const open = steps.filter(({ status }) => status !== 'done')
  // Steps that are not done are more important than the reasons why projects were left out.
  const forms = [steps, open].map((shown) => () => renderOutcome(view, shown, true))
  return fitTo(limit, forms, open.length, (rows) => renderOutcome(view, open.slice(0, rows), false))
}

/** @param withReasons whether to explain why projects were left out. */
const renderOutcome = (view: OutcomeView, shown: readonly StepOutcome[], withReasons: boolean): string => {
  const { outcome, plan, lacking = [] } = view
  const all = outcome.steps.length
  const { kind, counts } = applyVerdict(plan, outcome)
  const nothing = lacking.length === 0 ? 'nothing to apply' : 'nothing was applied, because an approval is missing'
  const title = all === 0 && plan.leftOut === undefined ? nothing : `apply ${kind}: ${counts}`
  const rest = all - shown.length
  const parts = [
    view.marker,
    heading(view, title),
    ...(lacking.length === 0
      ? []
      : [
          [
            '> [!CAUTION]',
            `> **Needs a decision:** ${HOW_TO_APPROVE}`,
            ...lacking.map((line) => `> - ${literal(line)}`),
          ].join('\n'),
        ]),
    ...leftOutPart(view, withReasons),
    ...(outcome.converged === false
      ? [
          'The projects do **not** match the manifests yet. Apply again.',
          ...(outcome.left ?? []).map((line) => `- ${literal(line)}`).slice(0, MOST_REMAINING),
        ]
      : []),
    ...(outcome.interrupted ? ['The apply was interrupted. Apply again to continue.'] : []),
    ...scheduledPart(outcome),
    ...(shown.length === 0 ? [] : [stepTable(view, shown)]),
    ...(rest === 0 ? [] : [`${counted(rest, 'more step')}. All of them are in ${view.whole}.`]),
    ...outcome.notes.map((note) => `- ${literal(note)}`),
    `<sub>Commit ${literal(view.commit)}${all === 0 ? '' : `, ${counted(plan.changes.length, 'change')} planned`}.</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** Who runs the steps that wait for a restart window, and when. */
const scheduledPart = ({ steps }: Outcome): readonly string[] => {
  const waiting = steps.filter(({ status }) => status === 'scheduled')
  if (waiting.length === 0) return []
  const [opensAt] = waiting.flatMap((step) => step.opensAt ?? []).sort()
  const when = opensAt === undefined ? '' : `, from ${formatUtc(Date.parse(opensAt))} on`
  return [
    `${counted(waiting.length, 'step')} ${waiting.length === 1 ? 'waits' : 'wait'} for a restart window. The next apply in the window runs ${waiting.length === 1 ? 'it' : 'them'}${when}: the scheduled workflow if there is one, or a job that someone starts.`,
  ]
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
  const lines = diagnostics.slice(0, shown).map((one) => line(one, view))
  const rest = diagnostics.length - shown
  const parts = [
    view.marker,
    heading(view, counts.length === 0 ? 'the manifests are valid' : `${counts.join(' and ')} in the manifests`),
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
  /** Whether the comment replaces the comment of an earlier run. */
  readonly isOutOfDate: boolean
  /** URL of the workflow run. */
  readonly run?: string
}

/** If the comment is too long, the message is truncated. */
export const failureComment = (view: FailureView, limit: Limit = COMMENT_LIMIT): string => {
  const { message } = view
  return fitTo(limit, [], message.length, (length) => renderFailure(view, message.slice(0, length)))
}

const OUT_OF_DATE =
  '> [!CAUTION]\n> The previous contents of this comment are out of date. The current state of the live project is unknown.'

const renderFailure = (view: FailureView, message: string): string => {
  const { what, reason, code, hint, isOutOfDate, commit, run } = view
  const lines = [...message.split('\n'), hint ?? ''].map((line) => line.trim()).filter((line) => line !== '')
  const parts = [
    view.marker,
    heading(view, `the ${what} failed (${reason})`),
    ...(isOutOfDate ? [OUT_OF_DATE] : []),
    `**${code}** ${lines.map(literal).join('<br>')}`,
    `<sub>${commit === '' ? '' : `Commit ${literal(commit)}. `}${run === undefined ? '' : `See [the log](${run}) for details.`}</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

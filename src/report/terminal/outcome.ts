/** The outcome of an apply on a terminal. */
import { groupBy } from '../../base/index.ts'
import {
  CONSENT_OF,
  type Consent,
  type Outcome,
  type Plan,
  type Step,
  type StepOutcome,
  type StepStatus,
} from '../../model/index.ts'
import { applyVerdict, counted, group, minuteOf, plainValue, STATUS_WORDS, stepTitles } from '../words/index.ts'
import { type Paint, paintOf, type Style, wrap } from './style.ts'

/** Further steps are only counted, so that it fits on a screen. The journal and the page have all. */
const MOST_SHOWN = 12

/** Whether a step never started. There may be many, so they are not shown while others run. */
export const isNotStarted = (status: StepStatus): boolean =>
  status === 'skipped' || status === 'not-allowed' || status === 'scheduled'

/**
 * Lists steps that are not done, by reason, then what to do next. The last line is the verdict.
 *
 * @param isLogged whether steps were printed as they ended; then only those that never started are listed.
 * @param args arguments for suggested commands, such as ` --project shop`.
 */
export const terminalOutcome = (
  rawPlan: Plan,
  rawOutcome: Outcome,
  style: Style,
  isLogged = false,
  args = '',
): string => {
  const [plan, outcome] = [plainValue(rawPlan), plainValue(rawOutcome)]
  const paint = paintOf(style)
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  const titleOf = stepTitles(plan)
  // A step that is done has a message only if something unexpected happened.
  const open = outcome.steps.filter(({ status, message }) =>
    isLogged ? isNotStarted(status) : status !== 'done' || message !== undefined,
  )
  const groups = [...groupBy(open, ({ status, reason, message }) => `${status} ${reason} ${message}`).values()]
  const most = Math.max(1, Math.floor(MOST_SHOWN / Math.max(1, groups.length)))
  const lines = groups.slice(0, MOST_SHOWN).flatMap((alike) => {
    const titles = alike.map(({ step }) => {
      const known = steps.get(step)
      return known === undefined ? step : titleOf(known)
    })
    return groupLines(alike, titles, most, style, paint)
  })
  const rest = groups.slice(MOST_SHOWN).reduce((sum, alike) => sum + alike.length, 0)
  const notes = outcome.notes.map((note) => wrap(`${paint.cyan('Note')} ${note}`, style, '', '  '))
  const next = nextSteps(plan, outcome, steps, plainValue(args)).map((line) => wrap(line, style, '', '  '))
  return `${[
    rest === 0 ? lines : [...lines, `and ${counted(rest, 'more step')}`],
    notes,
    next,
    [closing(plan, outcome, style, paint)],
  ]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`
}

/** Steps that ended for the same reason, which is shown once. */
const groupLines = (
  alike: readonly StepOutcome[],
  titles: readonly string[],
  most: number,
  style: Style,
  paint: Paint,
): readonly string[] => {
  const [first] = alike
  if (first === undefined) return []
  const mark = statusMark(first.status, paint)
  const [title = ''] = titles
  if (alike.length === 1) return [wrap(`${mark}  ${title}${whyOf(first)}`, style, '', '  ')]
  const more = titles.length - most
  return [
    wrap(`${mark}  ${counted(alike.length, 'step')}${whyOf(first)}`, style, '', '  '),
    ...titles.slice(0, most).map((one) => wrap(one, style, '  ', '    ')),
    ...(more > 0 ? [`  and ${group(more)} more`] : []),
  ]
}

/** The reason code comes first, since people and scripts search for it. */
export const whyOf = ({ reason, message }: Pick<StepOutcome, 'reason' | 'message'>): string =>
  [reason === undefined ? '' : ` (${reason})`, message === undefined ? '' : `: ${message}`].join('')

const markOf = (paint: Paint): Readonly<Record<StepStatus, (text: string) => string>> => ({
  done: paint.green,
  failed: paint.red,
  stale: paint.yellow,
  skipped: paint.yellow,
  'not-allowed': paint.yellow,
  scheduled: paint.cyan,
})

export const statusMark = (status: StepStatus, paint: Paint): string => {
  return markOf(paint)[status](STATUS_WORDS[status])
}

export const nextSteps = (
  plan: Plan,
  outcome: Outcome,
  steps: ReadonlyMap<string, Step>,
  args = '',
): readonly string[] => {
  const missing = new Set(
    outcome.steps.filter(({ reason }) => reason === 'not-consented').flatMap(({ step }) => consentsOf(steps.get(step))),
  )
  return [
    ...(missing.size > 0
      ? [`Next: to allow this, run \`espalier apply${args} --allow ${[...missing].join(',')}\`.`]
      : []),
    ...(outcome.interrupted ? [`Next: to continue, run \`espalier apply${args}\` again.`] : []),
    ...scheduledNext(outcome, args),
    ...(outcome.converged === false && outcome.steps.every(({ status }) => status === 'done' || status === 'scheduled')
      ? [
          `The project does not match the manifests yet (not-converged)${leftOf(outcome)}. Next: run \`espalier plan${args}\` to see what is left.`,
        ]
      : []),
    ...(outcome.steps.some(({ status }) => status === 'stale')
      ? [
          `Next: run \`espalier plan${args}\` to review the project as it is now, then apply again. The stale steps were not sent.`,
        ]
      : []),
    ...(plan.steps.length > 0 && !outcome.interrupted && outcome.steps.some(({ status }) => status === 'failed')
      ? [
          `Next: fix the cause of each failure, then run \`espalier apply${args}\` again: it continues where it stopped.`,
        ]
      : []),
  ]
}

/** Only the first few; `plan` shows all. */
const LEFT = 3

const leftOf = ({ left = [] }: Outcome): string => {
  if (left.length === 0) return ''
  const more = left.length > LEFT ? `; and ${left.length - LEFT} more` : ''
  return `: ${left.slice(0, LEFT).join('; ')}${more}`
}

/** If an idle compute has started since the plan was made, its step may need a different consent. */
const consentsOf = (step: Step | undefined): readonly Consent[] => {
  if (step === undefined) return []
  const activeConsent =
    step.consents.length > 0 || step.unlessIdle === undefined ? undefined : CONSENT_OF[step.unlessIdle]
  return activeConsent === undefined ? step.consents : [activeConsent]
}

const scheduledNext = ({ steps }: Outcome, args: string): readonly string[] => {
  if (!steps.some(({ status }) => status === 'scheduled')) return []
  const [first] = steps.flatMap(({ opensAt }) => opensAt ?? []).sort()
  const when = first === undefined ? '' : ` from ${minuteOf(first)} on`
  return [
    `Next: run \`espalier apply${args}\` again in the restart window${when}, or with --now to interrupt immediately.`,
  ]
}

const closing = (plan: Plan, outcome: Outcome, style: Style, paint: Paint): string => {
  const { kind, words } = applyVerdict(
    plan,
    outcome.steps.map(({ status }) => status),
    outcome,
  )
  const color = { complete: paint.green, scheduled: paint.cyan, incomplete: paint.red }[kind]
  return wrap(
    words.replace(/^[^:]*/, (title) => paint.bold(color(title))),
    style,
    '',
    '  ',
  )
}

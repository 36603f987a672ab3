/** What became of a run, for the terminal. */
import { groupBy } from '../../base/index.ts'
import {
  CONSENT_OF,
  type Consent,
  isScheduled,
  type Outcome,
  type Plan,
  STEP_STATUSES,
  type Step,
  type StepOutcome,
  type StepStatus,
} from '../../model/index.ts'
import { counted, isOfFleet, plainValue, projectsLeftOut, stepTitle } from '../words/index.ts'
import { type Paint, paintOf, type Style, wrap } from './style.ts'

export const STATUS_WORDS: Readonly<Record<StepStatus, string>> = {
  done: 'done',
  failed: 'failed',
  stale: 'stale',
  skipped: 'skipped',
  'not-allowed': 'not allowed',
  scheduled: 'scheduled',
}

/** Longer lists are counted: what to do is below them, and all of it is in the journal and in the report. */
const MOST_SHOWN = 20

/** Whether a step never started: such steps come in great numbers, and are no news while others run. */
export const isNotStarted = (status: StepStatus): boolean =>
  status === 'skipped' || status === 'not-allowed' || status === 'scheduled'

/**
 * Steps that are not done, each with its reason, then what to do; the last line says whether all is done.
 *
 * @param isLogged whether the steps that started were printed as they ended: then only the others are listed.
 * @param args with which the commands that it suggests mean the same projects: ` --project shop`.
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
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const isFleet = isOfFleet(plan.steps)
  // One that is done says something only where it was done in another way than planned.
  const open = outcome.steps.filter(({ status, message }) =>
    isLogged ? isNotStarted(status) : status !== 'done' || message !== undefined,
  )
  const lines = [...groupBy(open, ({ status, reason }) => `${status} ${reason}`).values()].flatMap((alike) => {
    const more = alike.slice(MOST_SHOWN)
    return [
      ...alike.slice(0, MOST_SHOWN).map((one) => {
        const step = steps.get(one.step)
        const title = step === undefined ? one.step : stepTitle(step, changes, isFleet)
        return wrap(`${statusMark(one.status, paint)} ${title}${whyOf(one)}`, style, '', '  ')
      }),
      ...more.slice(0, 1).map(({ status }) => `${statusMark(status, paint)} ${counted(more.length, 'more step')}`),
    ]
  })
  const notes = outcome.notes.map((note) => wrap(`${paint.cyan('Note')} ${note}`, style, '', '  '))
  const next = nextSteps(plan, outcome, steps, plainValue(args)).map((line) => wrap(line, style, '', '  '))
  return `${[lines, notes, next, [closing(plan, outcome, paint)]]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`
}

/** The reason's own word leads, since scripts and people look for it. */
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
      ? [`Next: run \`espalier apply${args} --allow ${[...missing].join(',')}\` if that is what you want.`]
      : []),
    ...(outcome.interrupted ? [`Next: run \`espalier apply${args}\` again. What is done stays done.`] : []),
    ...scheduledNext(outcome, args),
    ...(outcome.converged === false && outcome.steps.every(({ status }) => status === 'done' || status === 'scheduled')
      ? [
          `The project is not as the manifests say yet (not-converged)${leftOf(outcome)}. Next: run \`espalier plan${args}\` to see what is left.`,
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

/** The first few: `plan` shows all of them. */
const LEFT = 3

const leftOf = ({ left = [] }: Outcome): string => {
  if (left.length === 0) return ''
  const more = left.length > LEFT ? `; and ${left.length - LEFT} more` : ''
  return `: ${left.slice(0, LEFT).join('; ')}${more}`
}

/** An idle compute may have woken up since the plan was made: then it is the restart that needs consent. */
const consentsOf = (step: Step | undefined): readonly Consent[] => {
  if (step === undefined) return []
  const awake = step.consents.length > 0 || step.unlessIdle === undefined ? undefined : CONSENT_OF[step.unlessIdle]
  return awake === undefined ? step.consents : [awake]
}

const scheduledNext = ({ steps }: Outcome, args: string): readonly string[] => {
  if (!steps.some(({ status }) => status === 'scheduled')) return []
  const [first] = steps.flatMap(({ opensAt }) => opensAt ?? []).sort()
  const when = first === undefined ? '' : ` from ${first} on`
  return [`Next: run \`espalier apply${args}\` again in the restart window${when}, or with --now to interrupt at once.`]
}

const closing = (plan: Plan, outcome: Outcome, paint: Paint): string => {
  const count = (status: StepStatus): number =>
    outcome.steps.filter((step: StepOutcome) => step.status === status).length
  const leftOut = projectsLeftOut(plan)
  const isCovered = leftOut === undefined && outcome.converged !== false && !outcome.interrupted
  const whole = count('done') === outcome.steps.length && isCovered
  const counts = STEP_STATUSES.filter((status) => status === 'done' || count(status) > 0)
    .map((status) => `${count(status)} ${STATUS_WORDS[status]}`)
    .concat(leftOut === undefined ? [] : `${leftOut} left out`)
    .join(', ')
  if (isScheduled(outcome) && isCovered) {
    return `${paint.bold(paint.cyan('Apply scheduled'))}: ${counts}.`
  }
  return whole
    ? `${paint.bold(paint.green('Apply complete'))}: ${counts}.`
    : `${paint.bold(paint.red('Apply incomplete'))}: ${counts}.`
}

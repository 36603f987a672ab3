/** A plan as Markdown: the verdict first, then what interrupts, then the rest. */
import { type Change, isEmptyPlan, type Origin, type Plan, REASONS } from '../model/index.ts'
import { folded, literal } from './markdown.ts'
import { counted, group } from './style.ts'
import {
  computeTitle,
  impactWords,
  interruptions,
  isDisruptive,
  isOfFleet,
  NO_CHANGES,
  planLine,
  SYMBOLS,
  stepTitle,
  windowWords,
} from './words.ts'

export interface MarkdownContext {
  /** ISO 8601. */
  readonly takenAt?: string
  /** Since which commit, and what was so before. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
}

export const markdownPlan = (plan: Plan, extra: MarkdownContext = {}): string => {
  const { summary } = plan
  const seen = extra.takenAt === undefined ? '' : ` Seen at ${literal(extra.takenAt)}.`
  if (isEmptyPlan(plan)) return `**${NO_CHANGES}**${seen}\n`
  const { introduced, drift } = extra.since?.origin ?? { introduced: plan.changes, drift: [] }
  const loud = introduced.filter(({ impact, refused }) => isDisruptive(impact) || refused !== undefined)
  const quiet = introduced.filter(({ impact, refused }) => !isDisruptive(impact) && refused === undefined)
  return `${[
    `**${planLine(summary)}** ${sentence(interruptions(summary))}${seen}`,
    ...parts(loud, quiet),
    ...(drift.length > 0 ? [folded(`Drift that was already there: ${drift.length}`, table(drift))] : []),
    folded(`Order of ${counted(plan.steps.length, 'step')}`, stepList(plan)),
    ...(plan.unmanaged.length > 0 ? [folded(`Not managed: ${group(plan.unmanaged.length)}`, unmanagedList(plan))] : []),
    ...(plan.warnings.length > 0
      ? [plan.warnings.map(({ code, message }) => `- **${code}** ${literal(message)}`).join('\n')]
      : []),
  ].join('\n\n')}\n`
}

const parts = (loud: readonly Change[], quiet: readonly Change[]): readonly string[] => [
  ...(loud.length > 0 ? ['### Interrupts', table(loud)] : []),
  ...(quiet.length > 0 ? ['### Interrupts no one', table(quiet)] : []),
]

const table = (changes: readonly Change[]): string => {
  const isFleet = isOfFleet(changes)
  return [
    `| |${isFleet ? ' project |' : ''} branch | compute | change | impact |`,
    `|---|${isFleet ? '---|' : ''}---|---|---|---|`,
    ...changes.map((change) => {
      const cells = [
        `\`${SYMBOLS[change.kind]}\``,
        ...(isFleet ? [literal(change.project)] : []),
        literal(change.branch.name),
        `${literal(computeTitle(change.compute))}${change.compute.id === undefined ? '' : ` ${literal(change.compute.id)}`}`,
        whatChanges(change),
        `${isDisruptive(change.impact) ? `**${impactWords(change)}**` : impactWords(change)}${
          change.windows === undefined ? '' : `<br>${literal(windowWords(change))}`
        }${change.refused === undefined ? '' : `<br>refused: ${literal(change.refused)}`}`,
      ]
      return `| ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

const whatChanges = (change: Change): string => {
  const attributes = change.attributes.map(
    ({ path, before, after }) =>
      `${literal(path)} ${before === undefined ? '' : `${literal(before)} → `}${literal(after)}`,
  )
  const moved = change.from === undefined ? [] : [`from ${literal(change.from.name)}`]
  const [reason] = change.reasons
  const words = [...moved, ...attributes]
  return words.length > 0 ? words.join('<br>') : reason === undefined ? '' : REASONS[reason]
}

const stepList = (plan: Plan): string => {
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const isFleet = isOfFleet(plan.steps)
  return plan.steps
    .map(
      (step, index) =>
        `${index + 1}. ${literal(stepTitle(step, changes, isFleet))}${isDisruptive(step.impact) ? ` — **${impactWords(step)}**` : ''}`,
    )
    .join('\n')
}

const unmanagedList = ({ unmanaged }: Plan): string =>
  unmanaged
    .map(
      ({ branch, compute }) =>
        `- ${literal(computeTitle(compute))} on ${literal(branch.name)}${compute.id === undefined ? '' : ` ${literal(compute.id)}`}`,
    )
    .join('\n')

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

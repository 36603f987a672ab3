/** A plan as Markdown: the verdict first, then what interrupts, then the rest. */
import {
  type Change,
  type Diagnostic,
  isEmptyPlan,
  type Origin,
  type Plan,
  REASONS,
  type ReleasedCompute,
} from '../../model/index.ts'
import {
  computeTitle,
  counted,
  emptyVerdict,
  group,
  hasSeveralProjects,
  impactWords,
  interruptions,
  isDisruptive,
  isOfFleet,
  isUnchanged,
  place,
  planLine,
  projectsLeftOut,
  RELEASED_HINT,
  SYMBOLS,
  stepTitle,
  windowWords,
} from '../words/index.ts'
import { folded, literal } from './text.ts'

export interface MarkdownContext {
  /** ISO 8601. */
  readonly takenAt?: string
  /** Since which commit, and what was so before. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
}

export const markdownPlan = (plan: Plan, extra: MarkdownContext = {}): string => {
  const seen = extra.takenAt === undefined ? '' : ` Seen at ${literal(extra.takenAt)}.`
  const isFleet = hasSeveralProjects(plan)
  const { ref = '', origin } = extra.since ?? {}
  const { introduced, drift, released = [], gaps = [] } = origin ?? { introduced: plan.changes, drift: [] }
  const loud = introduced.filter(({ impact, refused }) => isDisruptive(impact) || refused !== undefined)
  const quiet = introduced.filter(({ impact, refused }) => !isDisruptive(impact) && refused === undefined)
  return `${[
    `${headline(plan)}${seen}`,
    ...(plan.leftOut === undefined ? [] : [leftOutPart(plan)]),
    ...gaps.map((gap) => `> ${literal(gap)}`),
    ...(origin !== undefined && isUnchanged(plan, origin)
      ? [`The manifests introduce no changes since ${literal(ref)}.`]
      : []),
    ...(loud.length > 0 ? ['### Interrupts', table(loud, isFleet)] : []),
    ...(quiet.length > 0 ? ['### Interrupts no one', table(quiet, isFleet)] : []),
    ...(released.length > 0 ? releasedPart(released, ref, hasSeveralProjects(plan, released)) : []),
    ...(drift.length > 0 ? [folded(`Drift that was already there: ${drift.length}`, table(drift, isFleet))] : []),
    ...(plan.steps.length > 0 ? [folded(`Order of ${counted(plan.steps.length, 'step')}`, stepList(plan))] : []),
    ...(plan.unmanaged.length > 0 && !isEmptyPlan(plan)
      ? [folded(`Not managed: ${group(plan.unmanaged.length)}`, unmanagedList(plan))]
      : []),
    ...(plan.warnings.length > 0 ? [plan.warnings.map((warning) => diagnosticLine(warning)).join('\n')] : []),
  ].join('\n\n')}\n`
}

const headline = (plan: Plan): string =>
  isEmptyPlan(plan)
    ? `**${emptyVerdict(plan)}**`
    : `**${planLine(plan.summary)}** ${sentence(interruptions(plan.summary))}`

const leftOutPart = (plan: Plan): string =>
  [
    `### Left out: ${projectsLeftOut(plan)} could not be planned`,
    ...(plan.leftOut ?? []).map(({ project, diagnostics }) =>
      [`Project ${literal(project)}:`, '', ...diagnostics.map((one) => diagnosticLine(one))].join('\n'),
    ),
  ].join('\n\n')

const diagnosticLine = ({ code, message, hint, source }: Diagnostic): string => {
  const where = source === undefined ? '' : ` (${literal(place(source))})`
  return `- **${code}** ${literal(message)}${hint === undefined ? '' : ` ${literal(hint)}`}${where}`
}

const releasedPart = (released: readonly ReleasedCompute[], ref: string, isFleet: boolean): readonly string[] => {
  const head = [...(isFleet ? ['project'] : []), 'branch', 'compute', 'was declared at']
  const rows = released.map(({ project, branch, compute, source }) => [
    ...(isFleet ? [literal(project)] : []),
    literal(branch.name),
    `${literal(computeTitle(compute))}${compute.id === undefined ? '' : ` ${literal(compute.id)}`}`,
    literal(place(source)),
  ])
  return [
    `### No longer managed since ${literal(ref)}: ${counted(released.length, 'compute')}`,
    [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    RELEASED_HINT,
  ]
}

const table = (changes: readonly Change[], isFleet: boolean): string =>
  [
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

const whatChanges = (change: Change): string => {
  const attributes = change.attributes.map(
    ({ path, beforeText: before, afterText: after }) =>
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

const unmanagedList = (plan: Plan): string => {
  const isFleet = hasSeveralProjects(plan)
  return plan.unmanaged
    .map(({ project, branch, compute }) => {
      const where = `${literal(branch.name)}${isFleet ? ` in ${literal(project)}` : ''}`
      return `- ${literal(computeTitle(compute))} on ${where}${compute.id === undefined ? '' : ` ${literal(compute.id)}`}`
    })
    .join('\n')
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

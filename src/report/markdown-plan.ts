/** A plan as Markdown: the verdict first, then what interrupts, then the rest. */
import {
  type Change,
  type Diagnostic,
  isEmptyPlan,
  type Origin,
  type Plan,
  REASONS,
  type ReleasedCompute,
} from '../model/index.ts'
import { isUnchanged } from './origin.ts'
import { plainText } from './plain-text.ts'
import { counted, group } from './style.ts'
import {
  computeTitle,
  emptyVerdict,
  hasSeveralProjects,
  impactWords,
  interruptions,
  isDisruptive,
  isOfFleet,
  place,
  planLine,
  projectsLeftOut,
  RELEASED_HINT,
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
  const seen = extra.takenAt === undefined ? '' : ` Seen at ${escapeMarkdown(extra.takenAt)}.`
  const isFleet = hasSeveralProjects(plan)
  const { ref = '', origin } = extra.since ?? {}
  const { introduced, drift, released = [], gaps = [] } = origin ?? { introduced: plan.changes, drift: [] }
  const loud = introduced.filter(({ impact, refused }) => isDisruptive(impact) || refused !== undefined)
  const quiet = introduced.filter(({ impact, refused }) => !isDisruptive(impact) && refused === undefined)
  return `${[
    `${headline(plan)}${seen}`,
    ...(plan.leftOut === undefined ? [] : [leftOutPart(plan)]),
    ...gaps.map((gap) => `> ${escapeMarkdown(gap)}`),
    ...(origin !== undefined && isUnchanged(plan, origin)
      ? [`The manifests introduce no changes since ${escapeMarkdown(ref)}.`]
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
      [`Project ${escapeMarkdown(project)}:`, '', ...diagnostics.map((one) => diagnosticLine(one))].join('\n'),
    ),
  ].join('\n\n')

const diagnosticLine = ({ code, message, hint, source }: Diagnostic): string => {
  const where = source === undefined ? '' : ` (${escapeMarkdown(place(source))})`
  return `- **${code}** ${escapeMarkdown(message)}${hint === undefined ? '' : ` ${escapeMarkdown(hint)}`}${where}`
}

const releasedPart = (released: readonly ReleasedCompute[], ref: string, isFleet: boolean): readonly string[] => {
  const head = [...(isFleet ? ['project'] : []), 'branch', 'compute', 'was declared at']
  const rows = released.map(({ project, branch, compute, source }) => [
    ...(isFleet ? [escapeMarkdown(project)] : []),
    escapeMarkdown(branch.name),
    `${escapeMarkdown(computeTitle(compute))} ${escapeMarkdown(compute.id ?? '')}`,
    escapeMarkdown(place(source)),
  ])
  return [
    `### No longer managed since ${escapeMarkdown(ref)}: ${counted(released.length, 'compute')}`,
    [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    RELEASED_HINT,
  ]
}

/** Text of unknown origin: no Markdown, no HTML, no mention and no table cell can be made of it. */
export const escapeMarkdown = (text: string): string =>
  plainText(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_{}[\]()#+!|~$^-]/g, '\\$&')
    .replace(/[@:/]/g, (char) => `&#${char.charCodeAt(0)};`)

const table = (changes: readonly Change[], isFleet: boolean): string =>
  [
    `| |${isFleet ? ' project |' : ''} branch | compute | change | impact |`,
    `|---|${isFleet ? '---|' : ''}---|---|---|---|`,
    ...changes.map((change) => {
      const cells = [
        `\`${SYMBOLS[change.kind]}\``,
        ...(isFleet ? [escapeMarkdown(change.project)] : []),
        escapeMarkdown(change.branch.name),
        `${escapeMarkdown(computeTitle(change.compute))}${change.compute.id === undefined ? '' : ` ${escapeMarkdown(change.compute.id)}`}`,
        whatChanges(change),
        `${isDisruptive(change.impact) ? '**' : ''}${escapeMarkdown(impactWords(change))}${isDisruptive(change.impact) ? '**' : ''}${
          change.windows === undefined ? '' : `<br>${escapeMarkdown(windowWords(change))}`
        }${change.refused === undefined ? '' : `<br>refused: ${escapeMarkdown(change.refused)}`}`,
      ]
      return `| ${cells.join(' | ')} |`
    }),
  ].join('\n')

const whatChanges = (change: Change): string => {
  const attributes = change.attributes.map(
    ({ path, before, after }) =>
      `${escapeMarkdown(path)}: ${before === undefined ? '' : `${escapeMarkdown(before)} → `}${escapeMarkdown(after)}`,
  )
  const moved = change.from === undefined ? [] : [`from ${escapeMarkdown(change.from.name)}`]
  const [reason] = change.reasons
  const words = [...moved, ...attributes]
  return words.length > 0 ? words.join('<br>') : reason === undefined ? '' : escapeMarkdown(REASONS[reason])
}

const stepList = (plan: Plan): string => {
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const isFleet = isOfFleet(plan.steps)
  return plan.steps
    .map(
      (step, index) =>
        `${index + 1}. ${escapeMarkdown(stepTitle(step, changes, isFleet))}${isDisruptive(step.impact) ? ` — **${escapeMarkdown(impactWords(step))}**` : ''}`,
    )
    .join('\n')
}

const unmanagedList = (plan: Plan): string => {
  const isFleet = hasSeveralProjects(plan)
  return plan.unmanaged
    .map(({ project, branch, compute }) => {
      const where = `${escapeMarkdown(branch.name)}${isFleet ? ` in ${escapeMarkdown(project)}` : ''}`
      return `- ${escapeMarkdown(computeTitle(compute))} on ${where} ${escapeMarkdown(compute.id ?? '')}`
    })
    .join('\n')
}

const folded = (title: string, body: string): string => `<details><summary>${title}</summary>\n\n${body}\n\n</details>`

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** A plan for the reviewer of a pull request: what it does first, who caused it, and only then the details. */
import { type Change, isEmptyPlan, type Origin, type Plan } from '../../model/index.ts'
import {
  computeTitle,
  counted,
  group,
  hasSeveralProjects,
  impactWords,
  isDisruptive,
  isUnchanged,
  skippedLines,
  stepTitles,
  verdict,
  waveWords,
  withNamesOf,
  worstFirst,
} from '../words/index.ts'
import { changeTable, yamlDiff } from './changes.ts'
import { leftOutPart, leftOutWords, releasedPart, releasedWords } from './coverage.ts'
import { stepGraph } from './graph.ts'
import { COMMENT_LIMIT, fitTo, type Limit, NO_LIMIT } from './limit.ts'
import { reviewDetails, reviewPart } from './review.ts'
import { folded, heading, literal } from './text.ts'
import type { Introducer, PlanView } from './view.ts'

/** What is shown; what is dropped first, when not all fits, comes first. */
interface Detail {
  readonly graph: boolean
  readonly unmanaged: boolean
  readonly steps: boolean
  readonly driftRows: boolean
  readonly diff: boolean
  readonly quietRows: boolean
  readonly released: boolean
  /** Why projects are left out. */
  readonly problems: boolean
  /** Rows of changes that interrupt somebody. */
  readonly loudRows: number
}

const WHOLE: Detail = {
  graph: true,
  unmanaged: true,
  steps: true,
  driftRows: true,
  diff: true,
  quietRows: true,
  released: true,
  problems: true,
  loudRows: Number.POSITIVE_INFINITY,
}
const DROPPED: readonly (keyof Detail)[] = [
  'graph',
  'unmanaged',
  'steps',
  'driftRows',
  'diff',
  'quietRows',
  'released',
  'problems',
]

/**
 * @param limit beyond it detail is dropped in order of importance, never by cutting a line. Deletes
 *   and restarts are counted whatever happens, and the most disruptive changes are listed.
 */
export const planComment = (view: PlanView, limit: Limit = COMMENT_LIMIT): string => {
  const without = (parts: readonly (keyof Detail)[]): Detail => ({
    ...WHOLE,
    ...Object.fromEntries(parts.map((part) => [part, false])),
  })
  // Several forms have it, and it takes longer than all the rest.
  let known: string | undefined
  const diff = (): string => {
    known ??= yamlDiff(view.origin.introduced, hasSeveralProjects(view.plan))
    return known
  }
  const forms = [...DROPPED.keys(), DROPPED.length].map(
    (count) => () => render(view, without(DROPPED.slice(0, count)), diff),
  )
  const fewer = (loudRows: number): string => render(view, { ...without(DROPPED), loudRows }, diff)
  return fitTo(limit, forms, view.plan.changes.length, fewer)
}

/** A plan for whoever asks on the command line: the same, whatever its length. */
export const markdownPlan = (plan: Plan, { takenAt, since }: MarkdownContext = {}): string =>
  planComment(
    {
      plan,
      origin: since?.origin ?? { introduced: plan.changes, drift: [], settled: [], released: [] },
      ...(since === undefined ? {} : { introducedBy: { since: since.ref } }),
      ...(takenAt === undefined ? {} : { takenAt }),
      notes: [],
    },
    NO_LIMIT,
  )

export interface MarkdownContext {
  /** ISO 8601. */
  readonly takenAt?: string
  /** Since which commit, and what was so before. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
}

const render = (view: PlanView, detail: Detail, diff: () => string): string => {
  const { plan, origin } = view
  const isShort = Object.entries(detail).some(([key, value]) => value !== WHOLE[key as keyof Detail])
  const waves = waveWords(plan)
  const parts = [
    ...(view.marker === undefined ? [] : [view.marker]),
    headline(view),
    ...view.notes.map((note) => `> ${note}`),
    ...(origin.gaps ?? []).map((gap) => `> ${literal(gap)}`),
    ...leftOutPart(view, detail.problems),
    ...(typeof view.introducedBy === 'object' && isUnchanged(plan, origin)
      ? [`The manifests introduce no changes since ${literal(view.introducedBy.since)}.`]
      : []),
    ...(waves.length === 0 ? [] : [`Waves: ${waves.map(literal).join(' → ')}`]),
    ...(origin.introduced.length === 0 ? reviewPart(view) : introduced(origin.introduced, view, detail, diff)),
    ...releasedPart(view, detail.released),
    ...drift(view, detail),
    ...(origin.settled.length === 0 ? [] : [`Settles the drift of ${counted(origin.settled.length, 'compute')}.`]),
    ...(detail.steps && plan.steps.length > 0 ? [order(view, detail)] : []),
    ...(detail.steps ? reviewDetails(plan) : []),
    ...(detail.unmanaged ? skippedPart(plan) : []),
    ...(detail.unmanaged && plan.unmanaged.length > 0 ? [unmanaged(view)] : []),
    ...plan.warnings
      .map(withNamesOf(plan))
      .map(
        ({ code, message, hint }) =>
          `- **${code}** ${literal(message)}${hint === undefined ? '' : ` ${literal(hint)}`}`,
      ),
    ...(isShort ? [`Shortened to fit. The whole plan is in ${view.whole ?? 'its JSON'}.`] : []),
    ...footer(view),
  ]
  return `${parts.join('\n\n')}\n`
}

const footer = ({ commit, takenAt, introducedBy }: PlanView): readonly string[] => {
  const known = [
    ...(commit === undefined ? [] : [`commit ${literal(commit)}`]),
    ...(takenAt === undefined ? [] : [`snapshot of ${literal(takenAt)}`]),
  ].join(', ')
  const sentences = [
    ...(known === '' ? [] : [`${known.charAt(0).toUpperCase()}${known.slice(1)}.`]),
    ...(typeof introducedBy === 'string' ? ['Nothing is changed before the merge.'] : []),
  ]
  return sentences.length === 0 ? [] : [`<sub>${sentences.join(' ')}</sub>`]
}

/** Everything that the merge does, drift included: a restart is a restart, whoever caused it. */
const headline = (view: PlanView): string => {
  const { plan, origin, missing = [] } = view
  if (missing.length > 0) return incomplete(view, missing)
  const others = [releasedWords(origin.released), leftOutWords(plan)].filter((words) => words !== undefined)
  if (!isEmptyPlan(plan)) {
    const share = origin.drift.length === 0 ? '' : `\n\n${shareOf(view)}`
    return heading(view, `${[verdict(plan.changes), ...others].join(' ')}${share}`)
  }
  if (others.length > 0) return heading(view, others.join(' '))
  return heading(view, 'no changes\n\nThe live project is as the manifests say.')
}

const shareOf = ({ origin: { introduced, drift }, introducedBy = 'this pull request' }: PlanView): string => {
  const subject = capitalised(introducerOf(introducedBy))
  const act = actOf(introducedBy)
  if (introduced.length === 0) {
    return typeof introducedBy === 'string'
      ? `${subject} changes no compute itself: all of this is existing drift, which ${act} settles.`
      : `All of this is existing drift, which ${act} settles.`
  }
  return `${subject} introduces ${counted(introduced.length, 'change')}. ${capitalised(act)} also settles existing drift of ${counted(drift.length, 'compute')}.`
}

const introducerOf = (introducer: Introducer): string =>
  typeof introducer === 'string' ? introducer : `the work since ${literal(introducer.since)}`

/** What brings the plan about. */
const actOf = (introducer: Introducer | undefined): string =>
  typeof introducer === 'object' ? '`espalier apply`' : 'the merge'

const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

const incomplete = (view: PlanView, missing: readonly string[]): string => {
  const shards = `${missing.length === 1 ? 'shard' : 'shards'} ${missing.map(literal).join(', ')}`
  const rest = isEmptyPlan(view.plan)
    ? 'The other shards have no changes.'
    : `The other shards: ${verdict(view.plan.changes)}`
  return `${heading(view, `incomplete, without ${shards}`)}\n\n> [!CAUTION]\n> There is no plan of ${shards}: the effect of the merge there is unknown.\n\n${rest}`
}

const isLoud = (change: Change): boolean => isDisruptive(change.impact) || change.refused !== undefined

const introduced = (
  changes: readonly Change[],
  view: PlanView,
  detail: Detail,
  diff: () => string,
): readonly string[] => {
  if (changes.length === 0) return []
  const loud = worstFirst(changes.filter(isLoud))
  const quiet = changes.filter((change) => !isLoud(change))
  const shown = loud.slice(0, detail.loudRows)
  const rest = loud.length - shown.length
  return [
    titleOf(view),
    ...alarm(loud, hasSeveralProjects(view.plan)),
    ...reviewPart(view),
    ...(shown.length > 0 ? [changeTable(shown, view, hasSeveralProjects(view.plan))] : []),
    ...(rest > 0 ? [`And ${group(rest)} more that interrupt somebody: ${verdict(loud.slice(shown.length))}`] : []),
    ...(quiet.length > 0 ? quietPart(quiet, view, detail) : []),
    ...(detail.diff ? [folded('Before and after, as in a manifest', diff())] : []),
  ]
}

const titleOf = ({ introducedBy }: PlanView): string => {
  if (introducedBy === undefined) return '**What differs from the manifests**'
  return typeof introducedBy === 'string'
    ? `**Introduced by ${introducedBy}**`
    : `**Introduced since ${literal(introducedBy.since)}**`
}

const quietPart = (quiet: readonly Change[], view: PlanView, detail: Detail): readonly string[] =>
  detail.quietRows
    ? ['Interrupts no one:', changeTable(quiet, view, hasSeveralProjects(view.plan))]
    : [`${counted(quiet.length, 'more change')}: ${quiet.length === 1 ? 'it interrupts' : 'they interrupt'} no one.`]

/** The worst few by name, where the eye falls first. */
const alarm = (all: readonly Change[], isFleet: boolean): readonly string[] => {
  const loud = all.filter(({ impact }) => isDisruptive(impact))
  if (loud.length === 0) return []
  const deletes = loud.some(({ kind, impact }) => kind === 'delete' || impact === 'delete' || impact === 'replace')
  const named = loud
    .slice(0, 5)
    .map(
      (change) =>
        `> - ${literal(computeTitle(change.compute))} on ${literal(change.branch.name)}${isFleet ? ` in ${literal(change.project)}` : ''}: ${impactWords(change)}${change.refused === undefined ? '' : ' (refused)'}`,
    )
  const more = loud.length > named.length ? [`> - and ${group(loud.length - named.length)} more`] : []
  return [[`> [!${deletes ? 'CAUTION' : 'WARNING'}]`, ...named, ...more].join('\n')]
}

const drift = (view: PlanView, detail: Detail): readonly string[] => {
  const changes = view.origin.drift
  if (changes.length === 0) return []
  const loud = worstFirst(changes.filter(isLoud))
  const title = `Existing drift: ${counted(changes.length, 'compute')}`
  const isFleet = hasSeveralProjects(view.plan)
  const what = `Not introduced by ${introducerOf(view.introducedBy ?? 'this pull request')}: the live project differs from what the base's manifests ask for. ${capitalised(actOf(view.introducedBy))} settles it too: ${verdict(changes)}`
  return [
    ...(loud.some(({ impact }) => isDisruptive(impact)) ? ['**Existing drift**', ...alarm(loud, isFleet)] : []),
    detail.driftRows
      ? folded(title, `${what}\n\n${changeTable(worstFirst(changes), view, isFleet)}`)
      : `**${title}.** ${what}`,
  ]
}

const order = ({ plan }: PlanView, detail: Detail): string => {
  const titleOf = stepTitles(plan)
  const list = plan.steps
    .map(
      (step, index) =>
        `${index + 1}. ${literal(titleOf(step))}${isDisruptive(step.impact) ? `: **${impactWords(step)}**` : ''}`,
    )
    .join('\n')
  const graph = detail.graph ? stepGraph(plan) : undefined
  return folded(`Order of ${counted(plan.steps.length, 'step')}`, graph === undefined ? list : `${graph}\n\n${list}`)
}

const skippedPart = (plan: Plan): readonly string[] => {
  const lines = skippedLines(plan)
  return lines.length === 0
    ? []
    : [folded(`Skipped: ${counted(lines.length, 'change')}`, lines.map((line) => `- ${literal(line)}`).join('\n'))]
}

const unmanaged = ({ plan }: PlanView): string =>
  folded(
    `Unmanaged: ${counted(plan.unmanaged.length, 'compute')}`,
    plan.unmanaged
      .map(({ project, branch, compute }) => {
        const where = `${literal(branch.name)}${hasSeveralProjects(plan) ? ` in ${literal(project)}` : ''}`
        return `- ${literal(computeTitle(compute))} on ${where} ${literal(compute.id ?? '')}`
      })
      .join('\n'),
  )

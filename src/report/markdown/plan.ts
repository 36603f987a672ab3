/** A plan for the reviewer of a pull request: what it does first, who caused it, and only then the details. */
import { type Change, isEmptyPlan } from '../../model/index.ts'
import {
  computeTitle,
  counted,
  group,
  hasSeveralProjects,
  impactWords,
  isDisruptive,
  isOfFleet,
  stepTitle,
  verdict,
} from '../words/index.ts'
import { changeTable, worstFirst, yamlDiff } from './changes.ts'
import { leftOutPart, leftOutWords, releasedPart, releasedWords } from './coverage.ts'
import { stepGraph } from './graph.ts'
import { COMMENT_LIMIT, fits, type Limit } from './limit.ts'
import { reviewDetails, reviewPart } from './review.ts'
import { folded, heading, literal } from './text.ts'
import type { PlanView } from './view.ts'

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
  let detail = WHOLE
  for (const next of [undefined, ...DROPPED]) {
    if (next !== undefined) detail = { ...detail, [next]: false }
    const text = render(view, detail)
    if (fits(text, limit)) return text
  }
  let [low, high] = [0, view.plan.changes.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(render(view, { ...detail, loudRows: middle }), limit)) low = middle
    else high = middle - 1
  }
  return render(view, { ...detail, loudRows: low })
}

const render = (view: PlanView, detail: Detail): string => {
  const { plan, origin } = view
  const isShort = Object.entries(detail).some(([key, value]) => value !== WHOLE[key as keyof Detail])
  const parts = [
    view.marker,
    headline(view),
    ...view.notes.map((note) => `> ${note}`),
    ...(origin.gaps ?? []).map((gap) => `> ${literal(gap)}`),
    ...leftOutPart(view, detail.problems),
    ...(origin.introduced.length === 0 ? reviewPart(plan) : introduced(origin.introduced, view, detail)),
    ...releasedPart(view, detail.released),
    ...drift(view, detail),
    ...(origin.settled.length === 0 ? [] : [`Settles the drift of ${counted(origin.settled.length, 'compute')}.`]),
    ...(detail.steps && plan.steps.length > 0 ? [order(view, detail)] : []),
    ...(detail.steps ? reviewDetails(plan) : []),
    ...(detail.unmanaged && plan.unmanaged.length > 0 ? [unmanaged(view)] : []),
    ...plan.warnings.map(
      ({ code, message, hint }) => `- **${code}** ${literal(message)}${hint === undefined ? '' : ` ${literal(hint)}`}`,
    ),
    ...(isShort ? [`Shortened to fit. The whole plan is in ${view.whole}.`] : []),
    ...footer(view),
  ]
  return `${parts.join('\n\n')}\n`
}

const footer = ({ commit, takenAt, introducedBy }: PlanView): readonly string[] => {
  const known = [
    ...(commit === undefined ? [] : [`commit ${literal(commit)}`]),
    ...(takenAt === undefined ? [] : [`live project seen at ${literal(takenAt)}`]),
  ].join(', ')
  const sentences = [
    ...(known === '' ? [] : [`${known.charAt(0).toUpperCase()}${known.slice(1)}.`]),
    ...(introducedBy !== undefined ? ['Nothing is changed before the merge.'] : []),
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
  const subject = `${introducedBy.charAt(0).toUpperCase()}${introducedBy.slice(1)}`
  return introduced.length === 0
    ? `${subject} changes no compute itself: all of this is existing drift, which the merge settles.`
    : `${subject} introduces ${counted(introduced.length, 'change')}. The merge also settles existing drift of ${counted(drift.length, 'compute')}.`
}

const incomplete = (view: PlanView, missing: readonly string[]): string => {
  const shards = `${missing.length === 1 ? 'shard' : 'shards'} ${missing.map(literal).join(', ')}`
  const rest = isEmptyPlan(view.plan)
    ? 'The other shards have no changes.'
    : `The other shards: ${verdict(view.plan.changes)}`
  return `${heading(view, `incomplete, without ${shards}`)}\n\n> [!CAUTION]\n> There is no plan of ${shards}: what the merge does there is not known.\n\n${rest}`
}

const isLoud = (change: Change): boolean => isDisruptive(change.impact) || change.refused !== undefined

const introduced = (changes: readonly Change[], view: PlanView, detail: Detail): readonly string[] => {
  if (changes.length === 0) return []
  const loud = worstFirst(changes.filter(isLoud))
  const quiet = changes.filter((change) => !isLoud(change))
  const shown = loud.slice(0, detail.loudRows)
  const rest = loud.length - shown.length
  return [
    view.introducedBy === undefined ? '**What differs from the manifests**' : `**Introduced by ${view.introducedBy}**`,
    ...(loud.length > 0 ? [alarm(loud, hasSeveralProjects(view.plan))] : []),
    ...reviewPart(view.plan),
    ...(shown.length > 0 ? [changeTable(shown, view, hasSeveralProjects(view.plan))] : []),
    ...(rest > 0 ? [`And ${group(rest)} more that interrupt somebody: ${verdict(loud.slice(shown.length))}`] : []),
    ...(quiet.length > 0 ? quietPart(quiet, view, detail) : []),
    ...(detail.diff
      ? [folded('Before and after, as in a manifest', yamlDiff(changes, hasSeveralProjects(view.plan)))]
      : []),
  ]
}

const quietPart = (quiet: readonly Change[], view: PlanView, detail: Detail): readonly string[] =>
  detail.quietRows
    ? ['Interrupts no one:', changeTable(quiet, view, hasSeveralProjects(view.plan))]
    : [`${counted(quiet.length, 'more change')}: ${quiet.length === 1 ? 'it interrupts' : 'they interrupt'} no one.`]

/** The worst few by name, where the eye falls first. */
const alarm = (loud: readonly Change[], isFleet: boolean): string => {
  const deletes = loud.some(({ kind, impact }) => kind === 'delete' || impact === 'delete' || impact === 'replace')
  const named = loud
    .slice(0, 5)
    .map(
      (change) =>
        `> - ${literal(computeTitle(change.compute))} on ${literal(change.branch.name)}${isFleet ? ` in ${literal(change.project)}` : ''}: ${impactWords(change)}`,
    )
  const more = loud.length > named.length ? [`> - and ${group(loud.length - named.length)} more`] : []
  return [`> [!${deletes ? 'CAUTION' : 'WARNING'}]`, ...named, ...more].join('\n')
}

const drift = (view: PlanView, detail: Detail): readonly string[] => {
  const changes = view.origin.drift
  if (changes.length === 0) return []
  const loud = worstFirst(changes.filter(isLoud))
  const title = `Drift that was already there: ${counted(changes.length, 'compute')}`
  const isFleet = hasSeveralProjects(view.plan)
  const what = `Not introduced by ${view.introducedBy ?? 'this pull request'}: the live project differs from what the base's manifests ask for. The merge settles it too: ${verdict(changes)}`
  return [
    ...(loud.length > 0 ? ['**Existing drift**', alarm(loud, isFleet)] : []),
    detail.driftRows
      ? folded(title, `${what}\n\n${changeTable(worstFirst(changes), view, isFleet)}`)
      : `**${title}.** ${what}`,
  ]
}

const order = ({ plan }: PlanView, detail: Detail): string => {
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  const isFleet = isOfFleet(plan.steps)
  const list = plan.steps
    .map(
      (step, index) =>
        `${index + 1}. ${literal(stepTitle(step, changes, isFleet))}${isDisruptive(step.impact) ? `: **${impactWords(step)}**` : ''}`,
    )
    .join('\n')
  const graph = detail.graph ? stepGraph(plan) : undefined
  return folded(`Order of ${counted(plan.steps.length, 'step')}`, graph === undefined ? list : `${graph}\n\n${list}`)
}

const unmanaged = ({ plan }: PlanView): string =>
  folded(
    `Not managed: ${group(plan.unmanaged.length)}`,
    plan.unmanaged
      .map(({ project, branch, compute }) => {
        const where = `${literal(branch.name)}${hasSeveralProjects(plan) ? ` in ${literal(project)}` : ''}`
        return `- ${literal(computeTitle(compute))} on ${where} ${literal(compute.id ?? '')}`
      })
      .join('\n'),
  )
